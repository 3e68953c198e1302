// SPDX-License-Identifier: Apache-2.0
// Average-linkage clustering of PUs by what a message between them costs.
#pragma once

#include <cstddef>
#include <vector>

namespace corymb::model {

/// Two clusters, named by one member each, became one at this mean distance.
struct Merge {
    std::size_t a, b;
    double height;
};

/// The n - 1 merges that join all PUs. `distance` is n x n, row-major and symmetric; NaN is missing
/// and is left out of the means. Clusters without any known distance between them join last, at
/// infinity. Nearest-neighbour chain (Murtagh, The Computer Journal 26(4), 1983): O(n^2).
[[nodiscard]] std::vector<Merge> average_linkage(const std::vector<double>& distance,
                                                 std::size_t size);

/// group[pu] after all merges below `height`; dense from 0 in the order of first members.
[[nodiscard]] std::vector<int> groups_below(const std::vector<Merge>& merges, std::size_t size,
                                            double height);

} // namespace corymb::model
