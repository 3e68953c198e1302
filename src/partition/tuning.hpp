// SPDX-License-Identifier: Apache-2.0
// The numbers by which graphs are read and built, each beside the value that switches its rule
// off.
#pragma once

#include "base/tuned.hpp"

#include <cstdint>

namespace corymb::partition::tuning {

/// Rounds in which rows are exchanged while a graph is built. Reasoning: messages of a round need
/// memory for two copies of its arcs, so sixteen rounds need an eighth of the graph. Too small:
/// much memory. Too large: small messages.
CORYMB_TUNED Tuned<int> build_rounds{"partition/build_rounds", 16, 1, Origin::reasoned};
/// Bytes of a file that a rank reads at once. Reasoning: a system call costs little beside reading
/// so much. Too small: many calls. Too large: memory.
CORYMB_TUNED Tuned<std::uint32_t> read_bytes{"partition/read_bytes", 1u << 18, 1u << 12,
                                             Origin::reasoned};

} // namespace corymb::partition::tuning
