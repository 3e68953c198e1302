// SPDX-License-Identifier: Apache-2.0
// The numbers of the planner's rules, each beside the value that switches its rule off.
// docs/ablation.md has what each is worth.
#pragma once

#include "base/tuned.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace corymb::tune {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

// Blocks of a payload on one machine.

/// Most blocks that a payload is cut in. More blocks are more messages.
CORYMB_TUNED std::uint32_t blocks_most = tuned<std::uint32_t>("tune/blocks/most", 64, 512);
/// Least bytes of a block. Shorter blocks cost more in messages than they gain by overlap.
CORYMB_TUNED std::uint64_t block_bytes_least =
    tuned<std::uint64_t>("tune/blocks/bytes_least", 1024, 64);
/// Number of blocks that a search for the best number begins with: between 2 and `blocks_most`.
CORYMB_TUNED std::uint32_t blocks_first = tuned<std::uint32_t>("tune/blocks/first", 16, 2);
/// A family that takes so many times as long as the best is tried in no further number of blocks.
CORYMB_TUNED double slowdown_in_blocks = tuned("tune/blocks/slowdown", 1.5, unlimited);

// Schemes on several nodes.

/// A scheme whose bound is so many times the best time so far is not simulated, unless every scheme
/// is wanted. With a thousand ranks exchanges of all with all take seconds each to simulate.
CORYMB_TUNED double hopeless = tuned("tune/schemes/hopeless", 1.5, unlimited);
/// Schemes within this factor of the best count as equally good, and the least work decides: no
/// model is more exact.
CORYMB_TUNED double nearly = tuned("tune/schemes/nearly", 1.03, 1.0);
/// Above so many ranks a plan in which all have a part for all takes long to be made. Among 64
/// nodes of 12 ranks in turns, planning of five operations then takes half the CPU time and finds
/// the same plans (make_plan with this number and without, Xeon, 2026-11-29).
CORYMB_TUNED int parts_all_tried = tuned("tune/schemes/parts_all_tried", 256, 1 << 20);

} // namespace corymb::tune
