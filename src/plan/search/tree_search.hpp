// SPDX-License-Identifier: Apache-2.0
// From costs to the best tree that the search can find.
#pragma once

#include "plan/cost_view.hpp"
#include "plan/search/tree.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace corymb {

struct SearchOptions {
    std::uint64_t seed = 1;
    std::uint64_t moves = 100'000;
    /// Further trees to start from, e.g. by level; those with another root are used if it is free.
    std::span<const Tree> starts{};
};

/// A searched tree for one flow: greedy starts, several short annealing runs, then a long one from
/// the best of them. Root -1 lets the search choose. Never worse than any start. Deterministic.
Tree search_tree(const TreeCosts& costs, Rank root, const SearchOptions& options);

/// A tree for each flow with a common root, the sum of both makespans small: barrier, allreduce.
/// Both searches share the moves.
struct SearchedPair {
    Tree up, down;
};
SearchedPair search_pair(const CostView& costs, Rank root, const SearchOptions& options);

/// Ranks in order of increasing total busy time for a message to (or from) everybody else, the
/// likely roots first; ties by rank. Smelt's rule for the root is the first of them going down.
std::vector<Rank> root_candidates(const TreeCosts& costs);

} // namespace corymb
