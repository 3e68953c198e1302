// SPDX-License-Identifier: Apache-2.0
#include "plan/renumber.hpp"

#include "plan/places.hpp"

#include <cstddef>
#include <cstdint>

namespace corymb::plan {

namespace {

/// Moves the places of a buffer that holds a part for every rank. False: parts that were neighbours
/// are none any more.
bool move_parts(Blocks& blocks, std::uint32_t block_count, std::span<const Rank> rank_of) {
    if (blocks.count == 0) {
        return true;
    }
    const std::uint32_t first = blocks.first / block_count;
    const std::uint32_t last = (blocks.first + blocks.count - 1) / block_count;
    const auto moved = static_cast<std::uint32_t>(rank_of[first]);
    for (std::uint32_t part = first + 1; part <= last; ++part) {
        if (static_cast<std::uint32_t>(rank_of[part]) != moved + (part - first)) {
            return false;
        }
    }
    blocks.first = moved * block_count + blocks.first % block_count;
    return true;
}

} // namespace

std::optional<Plan> renumbered(const Plan& plan, std::span<const Rank> rank_of) {
    Plan made = plan;
    made.root = rank_of[static_cast<std::size_t>(plan.root)];
    for (Rank rank = 0; rank < plan.size(); ++rank) {
        const auto has_all_parts = [&](const Blocks& blocks) {
            return plan.parts() > 1 && blocks.buffer != Buffer::scratch &&
                   parts_of(plan, rank, blocks.buffer) > 1;
        };
        const auto to = static_cast<std::size_t>(rank_of[static_cast<std::size_t>(rank)]);
        made.steps[to] = plan.steps[static_cast<std::size_t>(rank)];
        for (Step& step : made.steps[to]) {
            if (step.peer >= 0) {
                step.peer = rank_of[static_cast<std::size_t>(step.peer)];
            }
            for (Blocks* blocks : {&step.to, &step.from}) {
                if (has_all_parts(*blocks) && !move_parts(*blocks, plan.block_count, rank_of)) {
                    return std::nullopt;
                }
            }
        }
    }
    return made;
}

} // namespace corymb::plan
