// SPDX-License-Identifier: Apache-2.0
// Buffers that peers read or write in place: with `pull` the owner must not overwrite or leave them
// too early; with `network` it must not overwrite them; with `push` it must not use or leave them.
#pragma once

#include "plan/happens_before.hpp"
#include "plan/matching.hpp"

#include <span>
#include <vector>

namespace corymb::plan {

/// The order that keeps ranks from overwriting or leaving blocks that a peer still pulls, and from
/// using or leaving blocks that a peer still writes: one query for each read of each loan and each
/// put, and one for each read of a block that a peer writes afterwards. O(steps).
[[nodiscard]] std::vector<OrderQuery> reuse_queries(const Matching& matching);

/// Refuses a plan whose rank overwrites blocks, or comes to its end, while a peer that pulls them
/// may still be reading; or overwrites what the network may still be sending; or uses what a peer
/// may still be writing. input and output belong to the caller after the end, scratch to the next
/// operation. `order` lists every step after all steps that it depends on.
void check_reuse(const Matching& matching, std::span<const StepNumber> order);

} // namespace corymb::plan
