// SPDX-License-Identifier: Apache-2.0
#include "team/rank_cpus.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>

namespace corymb::team {

namespace {

/// A matching of ranks and CPUs that grows by augmenting paths (H. W. Kuhn, 1955).
class Matching {
public:
    explicit Matching(std::span<const std::vector<int>> ranks)
        : ranks_(ranks), cpu_of_(ranks.size(), -1) {}

    /// Gives `rank` a CPU, if need be one that another can leave for yet another. False if there is
    /// none, and then for all who may use the same.
    bool place(std::size_t rank) {
        if (full_.contains(ranks_[rank])) {
            return false;
        }
        asked_.clear();
        if (!find(rank)) {
            full_.insert(ranks_[rank]);
            return false;
        }
        return true;
    }

    /// Everybody's; who got none shares one with as few as can be.
    std::vector<int> with_shared() && {
        std::map<int, int> ranks_on;
        for (const int cpu : cpu_of_) {
            ++ranks_on[cpu];
        }
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            if (cpu_of_[rank] < 0) {
                cpu_of_[rank] = *std::ranges::min_element(
                    ranks_[rank], {}, [&ranks_on](int cpu) { return ranks_on[cpu]; });
                ++ranks_on[cpu_of_[rank]];
            }
        }
        return std::move(cpu_of_);
    }

private:
    bool find(std::size_t rank) {
        const std::vector<int>& own = ranks_[rank];
        const auto free =
            std::ranges::find_if(own, [this](int cpu) { return !rank_on_.contains(cpu); });
        const auto found = free != own.end() ? free : std::ranges::find_if(own, [this](int cpu) {
            return asked_.insert(cpu).second && find(rank_on_.at(cpu));
        });
        if (found == own.end()) {
            return false;
        }
        rank_on_[*found] = rank;
        cpu_of_[rank] = *found;
        return true;
    }

    std::span<const std::vector<int>> ranks_;
    std::vector<int> cpu_of_;
    std::map<int, std::size_t> rank_on_; ///< By CPU.
    std::set<int> asked_;
    std::set<std::vector<int>> full_;
};

} // namespace

std::vector<int> cpu_of_each(std::span<const std::vector<int>> ranks) {
    const auto is_as_first = [ranks](const std::vector<int>& cpus) {
        return cpus == ranks.front();
    };
    const auto is_unknown = [](const std::vector<int>& cpus) {
        return cpus.empty();
    };
    if (ranks.empty() || std::ranges::any_of(ranks, is_unknown) ||
        (ranks.front().size() > 1 && std::ranges::all_of(ranks, is_as_first))) {
        return {};
    }
    // Who has the fewest chooses first, and then nobody need leave one within which others are.
    std::vector<std::size_t> order(ranks.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [ranks](std::size_t rank) { return ranks[rank].size(); });
    Matching matching(ranks);
    for (const std::size_t rank : order) {
        matching.place(rank);
    }
    return std::move(matching).with_shared();
}

} // namespace corymb::team
