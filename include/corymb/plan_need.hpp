// SPDX-License-Identifier: Apache-2.0
// The need for a plan: all that decides which plans are right.
#pragma once

#include <corymb/plan.hpp>

#include <cstdint>

namespace corymb {

/// The need for a plan. A team fills in all fields when it asks its plan source; somebody who asks
/// the planner (PlanRequest) leaves to it what does not matter.
struct PlanNeed {
    Collective op = Collective::barrier;
    int size = 0;   ///< Ranks. 0: as many as the planner's machine or cluster has places.
    Rank root = -1; ///< A team gives 0 if the operation has no root. -1: the planner's choice.
    /// The plan's `bytes_max` must cover this. A team gives the largest payload of a size class (8,
    /// 56, then powers of two), or `any_part_bytes`. Ignored for a barrier.
    std::uint64_t bytes = 8;
    bool ordered = false; ///< Combine in rank order (non-commutative operators).
    /// The parts differ in length: `keeps_parts` must accept the plan. Over several nodes each
    /// place of scratch must hold one part throughout (docs/internals/nodes.md).
    bool keeps_parts = false;
    /// Combine in an order that depends on nothing but the ranks' numbers and how many there are:
    /// one order for any root, placement, payload and model. No effect where nothing is combined. A
    /// reduce_scatter that keeps parts has an order of its own for each part.
    bool reproducible = false;
    /// Over several nodes, asked by a team: 0: the best plan; k: the k-th plan that may be better
    /// in truth, to be timed beside it (docs/explain/nodes.md, "Rehearsals"). A source without
    /// alternatives returns a plan of no ranks, or the plan for 0. `make_plan` has none.
    int alternative = 0;
    /// For a barrier: ranks that take turns on CPUs have waited for data of this root before it,
    /// and probably do again behind it, so `root` should be the first to leave it.
    bool root_first = false;
    /// Slots that the channels of cells have. The plan may count on so many (Plan::cell_slots). 0:
    /// as many as a team of so many ranks has for its blocking operations.
    std::uint32_t cell_slots = 0;
    /// The plan must not cut the payload: its `block_count` is at most 1. For operators that need a
    /// whole vector in each call.
    bool one_block = false;
};

} // namespace corymb
