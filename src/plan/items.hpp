// SPDX-License-Identifier: Apache-2.0
// Names of an operation's blocks: a number for each block of data that a rank brings in, or is to
// have at the end. Numbers are congruent modulo block_count to the places that the blocks may stand
// in.
#pragma once

#include "plan/places.hpp"

#include <corymb/plan.hpp>

#include <cstdint>

namespace corymb::plan {

using Item = std::uint64_t;

/// Item in place 0 of the rank's input (of output for a broadcast); the others count up from it.
[[nodiscard]] inline Item first_item(const Plan& plan, Rank rank) noexcept {
    const Item own = Item{plan.block_count} * static_cast<Item>(rank);
    switch (plan.op) {
    case Collective::gather:
    case Collective::allgather: return own;
    case Collective::alltoall: return own * plan.parts();
    default: return 0;
    }
}

/// Item that place `place` of the rank's output is to hold at the end.
[[nodiscard]] inline Item goal_item(const Plan& plan, Rank rank, std::uint32_t place) noexcept {
    const Item own = Item{plan.block_count} * static_cast<Item>(rank);
    switch (plan.op) {
    case Collective::scatter:
    case Collective::reduce_scatter: return own + place;
    case Collective::alltoall: {
        // Part `rank` of the input of the rank that the part of this place is from.
        const Item source = place / plan.block_count;
        return source * plan.parts() * plan.block_count + own + place % plan.block_count;
    }
    default: return place;
    }
}

/// Ranks whose contributions the result of `rank` combines: 0 to end - 1.
[[nodiscard]] inline Rank goal_end(const Plan& plan, Rank rank) noexcept {
    return plan.op == Collective::scan     ? rank + 1
           : plan.op == Collective::exscan ? rank
                                           : plan.size();
}

} // namespace corymb::plan
