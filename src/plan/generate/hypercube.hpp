// SPDX-License-Identifier: Apache-2.0
// Rounds in which ranks exchange pairwise along the dimensions of a hypercube, for any number of
// ranks: those beyond the largest power of two first give their contribution to a partner and get
// the result from it at the end.
#pragma once

#include "plan/generate/numbering.hpp"

#include <bit>
#include <cstdint>
#include <vector>

namespace corymb::generate {

/// Positions 0 to core - 1 take part in the rounds; position core + i is the surplus partner of i.
struct HypercubeShape {
    Rank size = 0, core = 0;
    std::vector<Rank> masks; ///< The round with mask m pairs p with p xor m.

    HypercubeShape(Rank ranks, bool far_first);
    [[nodiscard]] Rank surplus() const { return size - core; }
};

struct Hypercube {
    HypercubeShape shape;
    Numbering numbering;
};

/// Near or far rounds first, and the numbering, whichever the costs of messages favour. With
/// `ordered`, partial results stay contiguous in rank order.
[[nodiscard]] Hypercube best_hypercube(const GenerateInput& input);

} // namespace corymb::generate
