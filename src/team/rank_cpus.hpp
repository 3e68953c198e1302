// SPDX-License-Identifier: Apache-2.0
// Which CPU stands for a rank whose process a launcher has bound.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace corymb::team {

/// The CPUs that the process of a rank may use.
struct RankCpus {
    int first = -1; ///< The lowest.
    int count = 0;
};

/// One of each rank's: its only one, or the first of several that nobody else may use, such as the
/// threads of a core or a part of a package. Nothing where that does not hold for all. `together`
/// is how many CPUs there are that some rank may use.
[[nodiscard]] inline std::vector<int> cpu_of_each(std::span<const RankCpus> ranks,
                                                  std::size_t together) {
    std::size_t sum = 0;
    bool all_have_one = true;
    std::vector<int> cpus;
    for (const RankCpus& rank : ranks) {
        sum += static_cast<std::size_t>(std::max(rank.count, 0));
        all_have_one = all_have_one && rank.count == 1;
        cpus.push_back(rank.first);
    }
    // As many in all as in each: nobody shares any.
    const bool are_apart = ranks.size() > 1 && sum == together;
    return all_have_one || are_apart ? cpus : std::vector<int>{};
}

} // namespace corymb::team
