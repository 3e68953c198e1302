// SPDX-License-Identifier: Apache-2.0
// Simulated annealing over trees (Kirkpatrick, Gelatt, Vecchi, Science 1983).
#pragma once

#include "plan/cost_view.hpp"
#include "plan/search/tree.hpp"
#include "plan/tuning.hpp"

#include <cstdint>

namespace corymb {

struct AnnealOptions {
    std::uint64_t seed = 1;
    std::uint64_t moves = 100'000;
    bool free_root = false;             ///< The search may also change the root.
    double heat = tuning::heat;         ///< First temperature as a fraction of the makespan.
    double heat_end = tuning::heat_end; ///< Last temperature, likewise.
};

/// The best tree seen, never worse than `start` with its children in the best order. Depends on the
/// costs, the start and the options alone, on every platform. Children come out ordered.
/// Time O(moves), 1,200 (20 ranks) to 2,100 (256 ranks) instructions each on the machines of
/// docs/explain/plan-search.md; memory for the costs and about 60 bytes a rank.
Tree anneal(const Tree& start, const TreeCosts& costs, const AnnealOptions& options);

} // namespace corymb
