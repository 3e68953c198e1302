// SPDX-License-Identifier: Apache-2.0
#include "team/rank_cpus.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

namespace corymb::team {

namespace {

/// A matching of ranks and CPUs that grows by augmenting paths (H. W. Kuhn, 1955).
class Matching {
public:
    explicit Matching(std::span<const std::vector<int>> ranks)
        : ranks_(ranks), cpu_of_(ranks.size(), -1) {}

    /// Gives `rank` a CPU, if need be one that another can leave for yet another. False: there is
    /// none, and not one for each.
    bool place(std::size_t rank) {
        std::map<int, std::size_t> asked_by;
        std::vector<std::size_t> asking{rank};
        for (std::size_t next = 0; next < asking.size(); ++next) {
            for (const int cpu : ranks_[asking[next]]) {
                if (!asked_by.emplace(cpu, asking[next]).second) {
                    continue;
                }
                const auto taken = rank_on_.find(cpu);
                if (taken == rank_on_.end()) {
                    hand_on(cpu, rank, asked_by);
                    return true;
                }
                asking.push_back(taken->second);
            }
        }
        return false;
    }
    [[nodiscard]] std::vector<int> cpus() && { return std::move(cpu_of_); }

private:
    /// Gives `cpu` to the rank that asked for it, and that rank's old CPU to the rank that asked
    /// for that one, up to `last`.
    void hand_on(int cpu, std::size_t last, const std::map<int, std::size_t>& asked_by) {
        for (;;) {
            const std::size_t taker = asked_by.at(cpu);
            const int left = cpu_of_[taker];
            rank_on_[cpu] = taker;
            cpu_of_[taker] = cpu;
            if (taker == last) {
                return;
            }
            cpu = left;
        }
    }

    std::span<const std::vector<int>> ranks_;
    std::vector<int> cpu_of_;
    std::map<int, std::size_t> rank_on_; ///< By CPU.
};

/// The CPUs of ranks that have one CPU each; some CPUs may be equal.
std::vector<int> only_ones(std::span<const std::vector<int>> ranks) {
    std::vector<int> cpus;
    for (const std::vector<int>& own : ranks) {
        cpus.push_back(own.front());
    }
    return cpus;
}

} // namespace

std::vector<int> cpu_of_each(std::span<const std::vector<int>> ranks) {
    const auto all_are = [ranks](auto is) {
        return std::ranges::all_of(ranks, is);
    };
    if (ranks.empty() || !all_are([](const auto& own) { return !own.empty(); })) {
        return {};
    }
    if (all_are([](const auto& own) { return own.size() == 1; })) {
        return only_ones(ranks);
    }
    if (all_are([ranks](const auto& own) { return own == ranks.front(); })) {
        return {};
    }
    // The rank with the fewest CPUs chooses first. Then no rank has to leave a CPU for a rank whose
    // CPUs are a part of its own.
    std::vector<std::size_t> order(ranks.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [ranks](std::size_t rank) { return ranks[rank].size(); });
    Matching matching(ranks);
    const bool all_have_one =
        std::ranges::all_of(order, [&matching](std::size_t rank) { return matching.place(rank); });
    return all_have_one ? std::move(matching).cpus() : std::vector<int>{};
}

} // namespace corymb::team
