// SPDX-License-Identifier: Apache-2.0
// The numbers by which the way of acknowledgements is chosen, each beside the value that switches
// its rule off.
#pragma once

#include "base/tuned.hpp"

#include <cstdint>

namespace corymb::multicast::tuning {

/// Annealing moves for the tree of acknowledgements of a group that a program waits for: some
/// milliseconds. Over the gallery and 8 to 256 ranks calls then take 1.007 times as long as up
/// trees of 2,000,000 moves. Too small: calls are slower. Too large: groups are made slowly.
CORYMB_TUNED Tuned<std::uint64_t> gather_moves{"multicast/choice/gather_moves", 20'000, 2'000'000,
                                               Origin::simulated};

} // namespace corymb::multicast::tuning
