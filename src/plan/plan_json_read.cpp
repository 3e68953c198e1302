// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"
#include "plan/limits.hpp"
#include "plan/names.hpp"

#include <corymb/error.hpp>
#include <corymb/plan.hpp>

#include <limits>
#include <string>

namespace corymb {

namespace {

constexpr auto uint32_max = std::int64_t{std::numeric_limits<std::uint32_t>::max()};

std::uint32_t count_of(const JsonView& value, std::int64_t most = uint32_max) {
    return static_cast<std::uint32_t>(value.integer(0, most));
}

Blocks blocks_of(const JsonView& value) {
    value.allow_only({"buffer", "first", "count"});
    Blocks blocks;
    blocks.buffer = plan::buffer_from_string(value.at("buffer").text());
    blocks.first = count_of(value.at("first"));
    blocks.count = count_of(value.at("count"));
    return blocks;
}

Step step_of(const JsonView& value) {
    value.allow_only({"step", "peer", "via", "from", "to", "ordinal", "offset", "incoming_first"});
    Step step;
    step.kind = plan::step_kind_from_string(value.at("step").text());
    if (const auto peer = value.find("peer")) {
        step.peer = static_cast<Rank>(peer->integer(-1, std::numeric_limits<Rank>::max()));
    }
    if (const auto via = value.find("via")) {
        step.via = plan::mechanism_from_string(via->text());
    }
    if (const auto from = value.find("from")) {
        step.from = blocks_of(*from);
    }
    if (const auto to = value.find("to")) {
        step.to = blocks_of(*to);
    }
    if (const auto ordinal = value.find("ordinal")) {
        step.ordinal = count_of(*ordinal);
    }
    if (const auto offset = value.find("offset")) {
        step.offset = count_of(*offset);
    }
    if (const auto incoming_first = value.find("incoming_first")) {
        step.incoming_first = incoming_first->boolean();
    }
    return step;
}

std::vector<Step> steps_of(const JsonView& value, Rank rank, std::size_t& total) {
    const std::size_t count = value.size();
    total += count;
    if (total > plan::step_count_max) {
        value.fail("the plan has more than " + std::to_string(plan::step_count_max) + " steps");
    }
    std::vector<Step> steps;
    steps.reserve(count);
    for (std::size_t index = 0; index < count; ++index) {
        try {
            steps.push_back(step_of(value[index]));
        } catch (const Error& error) {
            throw Error(Errc::invalid_plan,
                        "rank " + std::to_string(rank) + ", step " + std::to_string(index) + ": " +
                            error.what(),
                        {rank});
        }
    }
    return steps;
}

} // namespace

Plan plan_from_json(std::string_view text) {
    const JsonDocument document(text, Errc::invalid_plan, {.bytes = plan::file_bytes_max});
    const JsonView root = document.root();
    if (const auto schema = root.at("schema"); schema.text() != "corymb-plan/1") {
        schema.fail("this library reads \"corymb-plan/1\" only");
    }
    Plan plan;
    const auto op = root.at("op");
    try {
        plan.op = collective_from_string(op.text());
    } catch (const Error& error) {
        throw Error(Errc::invalid_plan, "op: " + std::string(error.what()));
    }
    plan.root = static_cast<Rank>(root.at("root").integer(0, plan::rank_count_max));
    plan.block_count = count_of(root.at("block_count"), plan::block_count_max);
    plan.scratch_blocks = count_of(root.at("scratch_blocks"), plan::block_count_max);
    plan.bytes_max = static_cast<std::uint64_t>(
        root.at("bytes_max").integer(0, static_cast<std::int64_t>(plan::payload_bytes_max)));
    if (const auto slots = root.find("cell_slots")) {
        plan.cell_slots =
            static_cast<std::uint32_t>(slots->integer(cell_slots_least, cell_slots_most));
    }
    if (const auto copied = root.find("copied_cells")) {
        plan.copied_cells = count_of(*copied, cell_slots_most);
    }
    if (const auto algorithm = root.find("algorithm")) {
        plan.algorithm = algorithm->text();
    }
    const JsonView steps = root.at("steps");
    const std::size_t size = steps.size();
    if (size < 1 || size > plan::rank_count_max) {
        steps.fail("must hold one list per rank, for 1 to " + std::to_string(plan::rank_count_max) +
                   " ranks");
    }
    if (const auto ranks = root.find("ranks");
        ranks && ranks->integer() != static_cast<std::int64_t>(size)) {
        ranks->fail("steps holds " + std::to_string(size) + " lists");
    }
    const std::size_t parts_expected = has_parts(plan.op) ? size : 1;
    if (const auto parts = root.find("parts");
        parts && parts->integer() != static_cast<std::int64_t>(parts_expected)) {
        parts->fail("this operation has " + std::to_string(parts_expected) + " of them");
    }
    plan.steps.reserve(size);
    std::size_t total = 0;
    for (std::size_t rank = 0; rank < size; ++rank) {
        plan.steps.push_back(steps_of(steps[rank], static_cast<Rank>(rank), total));
    }
    return plan;
}

} // namespace corymb
