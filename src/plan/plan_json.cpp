// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_json.hpp"

#include "base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iterator>
#include <string_view>

namespace corymb {

namespace {

using Text = fmt::memory_buffer;

void append_blocks(Text& out, std::string_view key, const Blocks& blocks) {
    if (blocks != Blocks{}) {
        fmt::format_to(std::back_inserter(out),
                       R"(, "{}": {{"buffer": "{}", "first": {}, "count": {}}})", key,
                       to_string(blocks.buffer), blocks.first, blocks.count);
    }
}

void append_step(Text& out, const Step& step) {
    auto end = std::back_inserter(out);
    fmt::format_to(end, R"({{"step": "{}")", to_string(step.kind));
    if (step.peer != -1) {
        fmt::format_to(end, R"(, "peer": {})", step.peer);
    }
    if (step.via != Mechanism::none) {
        fmt::format_to(end, R"(, "via": "{}")", to_string(step.via));
    }
    append_blocks(out, "from", step.from);
    append_blocks(out, "to", step.to);
    if (step.ordinal != 0) {
        fmt::format_to(end, R"(, "ordinal": {})", step.ordinal);
    }
    if (step.offset != 0) {
        fmt::format_to(end, R"(, "offset": {})", step.offset);
    }
    if (step.incoming_first) {
        fmt::format_to(end, R"(, "incoming_first": true)");
    }
    out.push_back('}');
}

void append_steps(Text& out, const Plan& plan) {
    auto end = std::back_inserter(out);
    fmt::format_to(end, "  \"steps\": [");
    for (std::size_t rank = 0; rank < plan.steps.size(); ++rank) {
        fmt::format_to(end, "{}\n    [", rank == 0 ? "" : ",");
        const auto& steps = plan.steps[rank];
        for (std::size_t index = 0; index < steps.size(); ++index) {
            fmt::format_to(end, "{}\n      ", index == 0 ? "" : ",");
            append_step(out, steps[index]);
        }
        fmt::format_to(end, "{}]", steps.empty() ? "" : "\n    ");
    }
    fmt::format_to(end, "\n  ]\n}}\n");
}

} // namespace

namespace plan {

nlohmann::ordered_json head_json(const Plan& plan) {
    nlohmann::ordered_json head;
    head["schema"] = "corymb-plan/1";
    head["op"] = to_string(plan.op);
    head["root"] = plan.root;
    head["ranks"] = plan.steps.size();
    head["algorithm"] = plan.algorithm;
    head["block_count"] = plan.block_count;
    if (has_parts(plan.op)) {
        head["parts"] = plan.parts();
    }
    head["scratch_blocks"] = plan.scratch_blocks;
    head["bytes_max"] = plan.bytes_max;
    head["cell_slots"] = plan.cell_slots;
    if (plan.copied_cells != 0) {
        head["copied_cells"] = plan.copied_cells;
    }
    return head;
}

std::string document_json(const nlohmann::ordered_json& head, const Plan& plan) {
    std::string text = dump_json(head);
    text.resize(text.find_last_of('}'));
    while (text.ends_with('\n') || text.ends_with(' ')) {
        text.pop_back();
    }
    Text steps;
    append_steps(steps, plan);
    return text + ",\n" + std::string(steps.data(), steps.size());
}

} // namespace plan

std::string to_json(const Plan& plan) {
    return plan::document_json(plan::head_json(plan), plan);
}

} // namespace corymb
