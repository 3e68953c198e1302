// SPDX-License-Identifier: Apache-2.0
#include "cluster/node_part.hpp"

#include "plan/limits.hpp"
#include "plan/plan_bytes.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace corymb::cluster {

namespace {

/// Changes with whatever the bytes mean; first of them, so that they never begin with '!'.
constexpr std::uint64_t version = 1;

Plan without_steps(const Plan& plan) {
    Plan same;
    same.op = plan.op;
    same.root = plan.root;
    same.block_count = plan.block_count;
    same.scratch_blocks = plan.scratch_blocks;
    same.bytes_max = plan.bytes_max;
    same.cell_slots = plan.cell_slots;
    same.copied_cells = plan.copied_cells;
    same.algorithm = plan.algorithm;
    return same;
}

std::string as_bytes(const Plan& whole, const std::vector<Rank>& members,
                     const plan::PartNames* names) {
    Plan part = without_steps(whole);
    for (const Rank member : members) {
        part.steps.push_back(whole.steps[static_cast<std::size_t>(member)]);
    }
    const std::string steps = plan::to_bytes(part);
    std::string bytes;
    plan::put_number(bytes, version);
    plan::put_number(bytes, steps.size());
    bytes += steps;
    for (const Rank member : members) {
        const auto scratch =
            names == nullptr ? std::vector<plan::PartName>{} : names->in_scratch(member);
        plan::put_number(bytes, scratch.size());
        for (const plan::PartName part_name : scratch) {
            plan::put_number(bytes, part_name + 1); // `no_part` becomes 0.
        }
    }
    return bytes;
}

[[noreturn]] void refuse() {
    throw Error(Errc::invalid_plan, "what came is no part of a plan for this node; do all "
                                    "processes use the same version of corymb?");
}

} // namespace

std::vector<std::string> parts_as_bytes(const Plan& plan, const std::vector<int>& node_of_rank,
                                        bool keeps_parts) {
    std::optional<plan::PartNames> names;
    if (keeps_parts) {
        names.emplace(plan);
    }
    std::vector<std::vector<Rank>> members(
        static_cast<std::size_t>(1 + *std::ranges::max_element(node_of_rank)));
    for (Rank rank = 0; rank < plan.size(); ++rank) {
        members[static_cast<std::size_t>(node_of_rank[static_cast<std::size_t>(rank)])].push_back(
            rank);
    }
    std::vector<std::string> parts;
    parts.reserve(members.size());
    for (const std::vector<Rank>& of_node : members) {
        parts.push_back(as_bytes(plan, of_node, names ? &*names : nullptr));
    }
    return parts;
}

NodePart part_from_bytes(std::string_view bytes, std::size_t ranks) {
    if (plan::take_number(bytes, version) != version) {
        refuse();
    }
    const std::uint64_t length = plan::take_number(bytes, bytes.size());
    NodePart part{plan::plan_from_bytes(plan::take_bytes(bytes, length)), {}};
    for (std::size_t member = 0; member < part.plan.steps.size(); ++member) {
        auto& scratch = part.scratch.emplace_back();
        const std::uint64_t count = plan::take_number(bytes, bytes.size());
        for (std::uint64_t place = 0; place < count; ++place) {
            constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
            scratch.push_back(plan::take_number(bytes, any) - 1);
        }
    }
    if (part.plan.steps.size() != ranks || !bytes.empty()) {
        refuse();
    }
    return part;
}

} // namespace corymb::cluster
