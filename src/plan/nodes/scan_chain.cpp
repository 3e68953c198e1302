// SPDX-License-Identifier: Apache-2.0
// Scans along a chain of groups: ranks of a node that follow each other, or each rank for itself.
// Within a group ranks first combine their data by doubling. The combination before the group then
// arrives at its first rank, which tells the others, and goes on from its last one. In pieces: each
// is on its way through the groups while the next ones follow. Combines in the order of the ranks.
#include "plan/nodes/script.hpp"

#include <algorithm>
#include <utility>

namespace corymb::nodes {

namespace {

class Chain {
public:
    Chain(Collective op, std::vector<std::vector<Rank>> groups, const Layout& layout,
          std::uint32_t pieces)
        : is_exclusive_(op == Collective::exscan), pieces_(pieces), groups_(std::move(groups)),
          script_(layout), parts_(static_cast<std::size_t>(layout.size())), taken_(parts_.size()),
          holds_(parts_.size()), heard_(groups_.size()) {}

    Script script() && {
        for (piece_ = 0; piece_ < pieces_; ++piece_) {
            std::ranges::fill(taken_, std::size_t{0});
            combine_groups();
            is_exclusive_ ? exclusive() : inclusive();
        }
        return std::move(script_);
    }

private:
    [[nodiscard]] Blocks input() const { return {Buffer::input, piece_, 1}; }
    [[nodiscard]] Blocks result() const { return {Buffer::output, piece_, 1}; }
    [[nodiscard]] Blocks& holds(Rank rank) { return holds_[static_cast<std::size_t>(rank)]; }
    static bool is_alone(const std::vector<Rank>& group) noexcept { return group.size() == 1; }

    /// A place for this piece, at one offset in each part of scratch.
    Blocks place(Rank rank) {
        auto& parts = parts_[static_cast<std::size_t>(rank)];
        std::size_t& taken = taken_[static_cast<std::size_t>(rank)];
        if (taken == parts.size()) {
            parts.push_back(script_.scratch(rank, pieces_));
        }
        return slice(parts[taken++], piece_);
    }

    /// Combines within groups: afterwards each member holds the combination of all of the group up
    /// to itself. In an inclusive scan the first member is left out; it tells the others the
    /// combination that includes its own.
    void combine_groups() {
        const std::size_t first = is_exclusive_ ? 0 : 1;
        std::size_t most = 0;
        script_.begin_round();
        for (const auto& group : groups_) {
            most = std::max(most, group.size());
            for (std::size_t i = first; i < group.size(); ++i) {
                // Input and output may share memory, which is written before all ranks have taken
                // the input. Only the next group takes from the last rank.
                const bool is_taken = i + 1 < group.size() || is_alone(group);
                holds(group[i]) = is_taken ? place(group[i]) : input();
                if (is_taken) {
                    script_.move(group[i], group[i], input(), holds(group[i]));
                }
            }
        }
        for (std::size_t distance = 1; first + distance < most; distance *= 2) {
            script_.begin_round();
            const std::vector<Blocks> before = holds_;
            for (const auto& group : groups_) {
                for (std::size_t i = first + distance; i < group.size(); ++i) {
                    const Rank from = group[i - distance];
                    const Blocks own = holds(group[i]);
                    holds(group[i]) = place(group[i]);
                    script_.fold(from, group[i], before[static_cast<std::size_t>(from)],
                                 holds(group[i]), own);
                }
            }
        }
    }

    /// Combines the data that arrives at the first rank of a group with its own: its result, which
    /// covers all ranks before it.
    void inclusive() {
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const auto& group = groups_[g];
            const Rank first = group.front();
            script_.begin_round();
            if (g == 0) {
                script_.move(first, first, input(), result());
            } else {
                script_.fold(groups_[g - 1].back(), first, result(), result(), input());
            }
            script_.begin_round();
            for (std::size_t i = group.size() - 1; i > 0; --i) { // The last one goes on with it.
                script_.fold(first, group[i], result(), result(), holds(group[i]));
            }
        }
    }

    /// The data that arrives at the first rank of a group is its result. Ranks combine only data
    /// that arrives, so a rank that is alone cannot combine the arrival with its own. The next
    /// group does, to which that rank has sent its own data before.
    void exclusive() {
        script_.begin_round();
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const auto& group = groups_[g];
            for (std::size_t i = 1; i < group.size(); ++i) {
                script_.move(group[i - 1], group[i], holds(group[i - 1]), result());
            }
            if (g > 0 && g + 1 < groups_.size() && is_alone(group)) {
                const Rank next = groups_[g + 1].front();
                heard_[g + 1] = place(next);
                script_.move(group.front(), next, holds(group.front()), heard_[g + 1]);
            }
        }
        for (std::size_t g = 1; g < groups_.size(); ++g) {
            const auto& before = groups_[g - 1];
            const Rank first = groups_[g].front();
            script_.begin_round();
            if (g > 1 && is_alone(before)) {
                script_.fold(before.front(), first, result(), result(), heard_[g]);
            } else {
                script_.move(before.back(), first, holds(before.back()), result());
            }
            tell_others(g);
        }
    }

    /// For an exclusive scan: tells the last rank first, so that it can go on.
    void tell_others(std::size_t g) {
        const auto& group = groups_[g];
        const Rank last = group.back();
        if (g + 1 < groups_.size() && !is_alone(group)) {
            const Blocks all = place(last);
            script_.begin_round();
            script_.fold(group.front(), last, result(), all, std::exchange(holds(last), all));
        }
        script_.begin_round();
        for (std::size_t i = 1; i < group.size(); ++i) {
            script_.fold(group.front(), group[i], result(), result(), result());
        }
    }

    bool is_exclusive_;
    std::uint32_t pieces_;
    std::uint32_t piece_ = 0;
    std::vector<std::vector<Rank>> groups_;
    Script script_;
    std::vector<std::vector<Blocks>> parts_; // by rank: parts of scratch
    std::vector<std::size_t> taken_;         // by rank: so many of them for this piece
    std::vector<Blocks> holds_;              // by rank: its combination within its group
    // by group: the combination of the group before it, if that group sent it
    std::vector<Blocks> heard_;
};

} // namespace

Script scan_chain(Collective op, std::vector<std::vector<Rank>> groups, const Layout& layout,
                  std::uint32_t pieces) {
    return Chain(op, std::move(groups), layout, pieces).script();
}

} // namespace corymb::nodes
