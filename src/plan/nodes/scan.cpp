// SPDX-License-Identifier: Apache-2.0
// Scans by doubling (Hillis, Steele, CACM 1986), first among ranks of a node that follow each
// other, then among the last of each such group, who then have all that comes before the next
// group. Combines in the order of the ranks.
#include "plan/nodes/script.hpp"

#include <algorithm>
#include <utility>

namespace corymb::nodes {

namespace {

class Scan {
public:
    Scan(Collective op, const Layout& layout, const Scheme& scheme)
        : is_exclusive_(op == Collective::exscan), script_(layout),
          holds_(static_cast<std::size_t>(layout.size())) {
        for (Rank rank = 0; rank < layout.size(); ++rank) {
            const auto node = layout.node_of_rank[static_cast<std::size_t>(rank)];
            const bool goes_on = scheme.roles != Roles::flat && rank > 0 &&
                                 layout.node_of_rank[static_cast<std::size_t>(rank) - 1] == node;
            if (!goes_on) {
                groups_.emplace_back();
            }
            groups_.back().push_back(rank);
        }
    }

    Script script() && {
        script_.begin_round();
        for (Rank rank = 0; rank < static_cast<Rank>(holds_.size()); ++rank) {
            // The memory of the input may be that of the output, which is written before all have
            // what they take of it.
            holds(rank) = script_.scratch(rank, 1);
            script_.move(rank, rank, {Buffer::input, 0, 1}, holds(rank));
        }
        std::vector<Rank> last;
        for (const auto& group : groups_) {
            last.push_back(group.back());
        }
        combine(groups_);
        const std::vector<Blocks> within = holds_; // Of the group only.
        combine({last});
        is_exclusive_ ? finish_exclusive(within) : finish_inclusive();
        return std::move(script_);
    }

private:
    [[nodiscard]] Blocks& holds(Rank rank) { return holds_[static_cast<std::size_t>(rank)]; }

    /// Afterwards everybody of a row holds the combination of all up to itself. What was sent is
    /// kept.
    void combine(const std::vector<std::vector<Rank>>& rows) {
        std::size_t most = 0;
        for (const auto& row : rows) {
            most = std::max(most, row.size());
        }
        for (std::size_t distance = 1; distance < most; distance *= 2) {
            script_.begin_round();
            const std::vector<Blocks> before = holds_;
            for (const auto& row : rows) {
                for (std::size_t i = distance; i < row.size(); ++i) {
                    const Blocks own = holds(row[i]);
                    holds(row[i]) = script_.scratch(row[i], 1);
                    script_.fold(row[i - distance], row[i],
                                 before[static_cast<std::size_t>(row[i - distance])], holds(row[i]),
                                 own);
                }
            }
        }
    }

    /// The first of a group gets all before the group, tells the others, and is told in turn by the
    /// last, who is done already: a rank combines what arrives only.
    void finish_inclusive() {
        const Blocks result{Buffer::output, 0, 1};
        std::vector<Blocks> all_before(groups_.size());
        script_.begin_round();
        for (std::size_t g = 1; g < groups_.size(); ++g) {
            if (groups_[g].size() > 1) {
                const Rank first = groups_[g].front();
                all_before[g] = script_.scratch(first, 1);
                script_.move(groups_[g - 1].back(), first, holds(groups_[g - 1].back()),
                             all_before[g]);
            }
        }
        script_.begin_round();
        std::vector<Blocks> at_last(groups_.size());
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const auto& group = groups_[g];
            const Rank last = group.back();
            script_.move(last, last, holds(last), result);
            for (std::size_t i = 0; i + 1 < group.size(); ++i) {
                if (g == 0) {
                    script_.move(group[i], group[i], holds(group[i]), result);
                } else if (i > 0) {
                    script_.fold(group.front(), group[i], all_before[g], result, holds(group[i]));
                }
            }
            if (g > 0 && group.size() > 1) {
                at_last[g] = script_.scratch(last, 1);
                script_.move(group.front(), last, all_before[g], at_last[g]);
            }
        }
        script_.begin_round();
        for (std::size_t g = 1; g < groups_.size(); ++g) {
            const Rank first = groups_[g].front();
            if (groups_[g].size() > 1) {
                script_.fold(groups_[g].back(), first, at_last[g], result, holds(first), true);
            }
        }
    }

    /// The first of a group has its result when it gets all before the group; the others combine
    /// that with what the group has before them.
    void finish_exclusive(const std::vector<Blocks>& within) {
        const Blocks result{Buffer::output, 0, 1};
        script_.begin_round();
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const auto& group = groups_[g];
            if (g > 0) {
                const Rank before = groups_[g - 1].back();
                script_.move(before, group.front(), holds(before), result);
            }
            for (std::size_t i = 1; i < group.size(); ++i) {
                script_.move(group[i - 1], group[i], within[static_cast<std::size_t>(group[i - 1])],
                             result);
            }
        }
        script_.begin_round();
        for (std::size_t g = 1; g < groups_.size(); ++g) {
            for (std::size_t i = 1; i < groups_[g].size(); ++i) {
                script_.fold(groups_[g].front(), groups_[g][i], result, result, result);
            }
        }
    }

    bool is_exclusive_;
    Script script_;
    std::vector<std::vector<Rank>> groups_;
    std::vector<Blocks> holds_; // by rank: its combination so far
};

} // namespace

Plan scan(Collective op, const Layout& layout, const Scheme& scheme, std::uint64_t bytes) {
    NodeWriter writer(op, layout, scheme, bytes, 1);
    Scan(op, layout, scheme).script().play(writer);
    return std::move(writer).finished();
}

} // namespace corymb::nodes
