// SPDX-License-Identifier: Apache-2.0
// Scans by doubling (Hillis, Steele, CACM 1986), first among ranks of a node that follow each
// other. The last rank of each such group then has the group's combination and sends it to the
// first of the next group; doubling among the first ranks tells each of them the combination before
// its group. If a group other than the first has one rank, an inclusive scan doubles among the last
// ranks of the groups instead. Combines in the order of the ranks.
#include "plan/nodes/script.hpp"

#include <algorithm>
#include <utility>

namespace corymb::nodes {

namespace {

constexpr Blocks result{Buffer::output, 0, 1};

class Scan {
public:
    Scan(Collective op, std::vector<std::vector<Rank>> groups, const Layout& layout)
        : is_exclusive_(op == Collective::exscan), script_(layout), groups_(std::move(groups)),
          holds_(static_cast<std::size_t>(layout.size())), before_(groups_.size()) {}

    Script script() && {
        script_.begin_round();
        for (Rank rank = 0; rank < static_cast<Rank>(holds_.size()); ++rank) {
            // Input and output may share memory, which is written before all ranks have taken the
            // input.
            holds(rank) = script_.scratch(rank, 1);
            script_.move(rank, rank, {Buffer::input, 0, 1}, holds(rank));
        }
        combine(groups_, false);
        if (is_exclusive_) {
            shift();
            finish_exclusive();
        } else if (std::ranges::any_of(groups_.begin() + 1, groups_.end(), is_alone)) {
            combine_last();
            finish_inclusive();
        } else {
            shift();
            finish_inclusive();
        }
        return std::move(script_);
    }

private:
    static bool is_alone(const std::vector<Rank>& group) noexcept { return group.size() == 1; }
    [[nodiscard]] Blocks& holds(Rank rank) { return holds_[static_cast<std::size_t>(rank)]; }

    /// Combines each row: afterwards every rank of it holds the combination of all ranks up to
    /// itself. With `to_result` the combination is the rank's result, except for the first. Data
    /// that was sent is kept.
    void combine(const std::vector<std::vector<Rank>>& rows, bool to_result) {
        std::size_t most = 0;
        for (const auto& row : rows) {
            most = std::max(most, row.size());
        }
        for (std::size_t distance = 1; distance < most; distance *= 2) {
            script_.begin_round();
            const std::vector<Blocks> before = holds_;
            for (const auto& row : rows) {
                for (std::size_t i = distance; i < row.size(); ++i) {
                    const bool is_done = to_result && i < 2 * distance;
                    const Blocks own = holds(row[i]);
                    holds(row[i]) = is_done ? result : script_.scratch(row[i], 1);
                    script_.fold(row[i - distance], row[i],
                                 before[static_cast<std::size_t>(row[i - distance])], holds(row[i]),
                                 own);
                }
            }
        }
    }

    /// For groups of one rank: the last rank of each group has the combination up to itself and
    /// tells the first of the next group, if that is another rank than the last one.
    void combine_last() {
        std::vector<Rank> last;
        for (const auto& group : groups_) {
            last.push_back(group.back());
        }
        combine({last}, true);
        script_.begin_round();
        for (std::size_t g = 1; g < groups_.size(); ++g) {
            if (!is_alone(groups_[g])) {
                tell_next(g - 1, script_.scratch(groups_[g].front(), 1));
            }
        }
    }

    /// The first rank of each group gets the combination of the group before it, then of all before
    /// its group; in an exclusive scan that is its result.
    void shift() {
        const std::vector<Blocks> within = holds_;
        std::vector<Rank> first;
        script_.begin_round();
        for (std::size_t g = 1; g < groups_.size(); ++g) {
            first.push_back(groups_[g].front());
            const bool is_done = is_exclusive_ && g == 1;
            tell_next(g - 1, is_done ? result : script_.scratch(first.back(), 1));
        }
        for (std::size_t g = 1; g < groups_.size(); ++g) {
            holds(groups_[g].front()) = before_[g];
        }
        combine({first}, is_exclusive_);
        for (std::size_t g = 1; g < groups_.size(); ++g) {
            before_[g] = std::exchange(holds(groups_[g].front()),
                                       within[static_cast<std::size_t>(groups_[g].front())]);
        }
    }

    void tell_next(std::size_t group, Blocks target) {
        const Rank last = groups_[group].back();
        before_[group + 1] = target;
        script_.move(last, groups_[group + 1].front(), holds(last), target);
    }

    /// The first rank of a group tells the others the combination before the group, and gets its
    /// own from the last one: a rank combines only data that arrives.
    void finish_inclusive() {
        script_.begin_round();
        std::vector<Blocks> at_last(groups_.size());
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const auto& group = groups_[g];
            for (const Rank rank : group) {
                if (g == 0) {
                    script_.move(rank, rank, holds(rank), result);
                } else if (rank != group.front() && holds(rank).buffer != Buffer::output) {
                    script_.fold(group.front(), rank, before_[g], result, holds(rank));
                }
            }
            if (g > 0 && !is_alone(group)) {
                at_last[g] = script_.scratch(group.back(), 1);
                script_.move(group.front(), group.back(), before_[g], at_last[g]);
            }
        }
        script_.begin_round();
        for (std::size_t g = 1; g < groups_.size(); ++g) {
            const Rank first = groups_[g].front();
            if (!is_alone(groups_[g])) {
                script_.fold(groups_[g].back(), first, at_last[g], result, holds(first), true);
            }
        }
    }

    /// The other ranks of a group combine the first rank's data with the group's data before them.
    void finish_exclusive() {
        script_.begin_round();
        for (const auto& group : groups_) {
            for (std::size_t i = 1; i < group.size(); ++i) {
                script_.move(group[i - 1], group[i], holds(group[i - 1]), result);
            }
        }
        script_.begin_round();
        for (std::size_t g = 1; g < groups_.size(); ++g) {
            for (std::size_t i = 1; i < groups_[g].size(); ++i) {
                script_.fold(groups_[g].front(), groups_[g][i], before_[g], result, result);
            }
        }
    }

    bool is_exclusive_;
    Script script_;
    std::vector<std::vector<Rank>> groups_;
    std::vector<Blocks> holds_;  // by rank: its combination so far, within its group
    std::vector<Blocks> before_; // by group, at its first rank: the combination before the group
};

} // namespace

Plan scan(Collective op, const Layout& layout, const Scheme& scheme, std::uint64_t bytes) {
    PlanWriter writer = writer_for(op, layout, scheme, bytes, scheme.pieces);
    std::vector<std::vector<Rank>> groups = layout.runs().nodes;
    if (scheme.roles == Roles::flat) {
        groups.clear();
        for (Rank rank = 0; rank < layout.size(); ++rank) {
            groups.push_back({rank});
        }
    }
    const Script script = scheme.exchange == Exchange::ring
                              ? scan_chain(op, std::move(groups), layout, scheme.pieces)
                              : Scan(op, std::move(groups), layout).script();
    script.play(writer);
    return std::move(writer).finished();
}

} // namespace corymb::nodes
