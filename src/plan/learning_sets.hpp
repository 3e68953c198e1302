// SPDX-License-Identifier: Apache-2.0
// Ranks apart: sets of ranks that cannot learn of each other.
#pragma once

#include "plan/matching.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace corymb::plan {

/// Numbers the sets of ranks that can learn of each other by messages which do not take the network
/// (Tarjan, Depth-First Search and Linear Graph Algorithms, 1972). Two ranks of different sets may
/// tell each other something in one direction only. A plan with offers is one set. O(steps).
class LearningSets {
public:
    explicit LearningSets(const Matching& matching);

    /// The number of a rank's set, from 0 to the number of ranks.
    [[nodiscard]] Rank of(Rank rank) const { return set_[at(rank)]; }

private:
    static std::size_t at(Rank rank) noexcept { return static_cast<std::size_t>(rank); }
    void collect_peers(const Matching& matching);
    void search_from(Rank start);
    void enter(Rank rank);
    void leave();

    std::vector<Rank> set_;                // by rank; 0: not numbered yet
    std::vector<std::vector<Rank>> peers_; // by rank: where its messages go
    std::vector<Rank> found_, lowest_;     // by rank
    std::vector<Rank> open_;               // found, but not numbered
    std::vector<std::pair<Rank, std::size_t>> path_;
    Rank count_ = 0;
    Rank sets_ = 0;
};

} // namespace corymb::plan
