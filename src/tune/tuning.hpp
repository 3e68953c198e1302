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
/// So many of the families that are best in one block are tried in more.
CORYMB_TUNED std::size_t families_in_blocks = tuned<std::size_t>("tune/blocks/families", 6, 1000);
/// A family that takes so many times as long as the best is tried in no further number of blocks.
CORYMB_TUNED double slowdown_in_blocks = tuned("tune/blocks/slowdown", 1.5, unlimited);

// Schemes on several nodes.

/// A scheme whose bound is so many times the best time so far is not simulated, unless every scheme
/// is wanted. With a thousand ranks exchanges of all with all take seconds each to simulate.
CORYMB_TUNED double hopeless = tuned("tune/schemes/hopeless", 3.0, unlimited);
/// `hopeless` above `parts_all_tried` ranks: neighbours of a scheme that is left out are not tried
/// either.
CORYMB_TUNED double hopeless_among_many = tuned("tune/schemes/hopeless_among_many", 1.5, 3.0);
/// Schemes within this factor of the best count as equally good, and the least work decides: no
/// model is more exact.
CORYMB_TUNED double nearly = tuned("tune/schemes/nearly", 1.03, 1.0);
/// Above so many ranks a plan in which all have a part for all takes long to be made.
CORYMB_TUNED int parts_all_tried = tuned("tune/schemes/parts_all_tried", 256, 1 << 20);
/// Above so many ranks `near` schemes are not tried for exchanges of parts among ranks that are not
/// numbered node by node. Such plans are so long that trying them takes longer than all else.
CORYMB_TUNED int near_parts_most = tuned("tune/schemes/near_parts_most", 128, 1 << 20);
/// ns of the engine for a copy of a few bytes, which no simulation charges. Parts of ranks that are
/// not numbered in a row are copied one by one. Measured on a Xeon at 2.8 GHz: 5.8 ns.
CORYMB_TUNED double copy_ns = tuned("tune/schemes/copy_ns", 6.0, 0.0);
/// So many of the first tries are improved on, one choice at a time.
CORYMB_TUNED std::size_t schemes_improved =
    tuned<std::size_t>("tune/schemes/schemes_improved", 4, 1000);
/// First tries of what goes up or down have at most so many blocks in all.
CORYMB_TUNED std::uint32_t first_blocks_most =
    tuned<std::uint32_t>("tune/schemes/first_blocks_most", 32, 1U << 20U);

} // namespace corymb::tune
