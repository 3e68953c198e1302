// SPDX-License-Identifier: Apache-2.0
// Maps positions 0 to n - 1, for which an algorithm is written, to ranks.
#pragma once

#include "plan/generate/families.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace corymb {

/// numbering[position] = rank.
using Numbering = std::vector<Rank>;

/// Numberings that follow the machine's levels: blocks of neighbours, interleaved groups and what
/// lies between (every order of the level coordinates). The identity comes first.
std::vector<Numbering> level_numberings(const GenerateInput& input);

/// The best of `level_numberings`, then improved by exchanging two positions as long as that does
/// not make it worse, `trials` times. Deterministic for a seed.
Numbering best_numbering(const GenerateInput& input, std::uint64_t trials,
                         const std::function<double(const Numbering&)>& cost);

} // namespace corymb
