// SPDX-License-Identifier: Apache-2.0
// Trees that follow the machine's levels.
#pragma once

#include "plan/cost_view.hpp"
#include "plan/search/levels.hpp"
#include "plan/search/tree.hpp"

#include <cstdint>
#include <span>

namespace corymb {

/// Shape of the tree over the leaders of one level.
enum class LevelShape : std::uint8_t {
    flat,     ///< The leader serves all others.
    binomial, ///< Binomial over the leaders.
    optimal,  ///< Optimal for the mean costs between the leaders: everybody informed keeps sending
              ///< (Karp, Sahay, Santos, Schauser, SPAA 1993).
};

/// A tree with one leader for each group of a level. A leader serves the leaders of its level, then
/// the groups inside its own. The leader of a group is its lowest rank, or the root. O(n) but for
/// the means, which take O(m^2) for m <= 64 leaders and a sample above.
Tree hierarchical_tree(const TreeCosts& costs, std::span<const Partition> levels, Rank root,
                       LevelShape shape);

} // namespace corymb
