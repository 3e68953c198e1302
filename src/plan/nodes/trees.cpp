// SPDX-License-Identifier: Apache-2.0
// Operations whose data goes up or down: by leaders, or every rank for itself; binomial trees,
// chains or dissemination between them. Leader l of each node is for the l-th slice of all data. By
// runs: in the order of the ranks. In pieces: a rank is done with one piece before it turns to the
// next, which travels meanwhile.
#include "plan/generate/rounds.hpp"
#include "plan/nodes/scheme.hpp"
#include "plan/nodes/writer_for.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace corymb::nodes {

namespace {

/// Runs in the order of the ranks. The first of each leads, but of the root's run the root; the
/// others stand as the leader combines them.
std::vector<std::vector<Rank>> runs_of(const Layout& layout, Rank root) {
    std::vector<std::vector<Rank>> runs = layout.runs().nodes;
    for (auto& run : runs) {
        const std::vector<Rank> ranks = run;
        const auto found = std::ranges::find(ranks, root);
        const auto place =
            found == ranks.end() ? 0 : static_cast<std::size_t>(found - ranks.begin());
        run[0] = ranks[place];
        for (std::size_t turn = 1; turn < ranks.size(); ++turn) {
            run[turn] = ranks[next_in_order(place, turn, ranks.size())];
        }
    }
    return runs;
}

/// The leader of a node for a part of a slice. In the root's node the root leads the first part.
Rank leader_of(const Layout& layout, const Scheme& scheme, std::size_t node, std::size_t slice,
               Rank root) {
    std::vector<Rank> leaders;
    for (const auto& group : layout.groups(node, scheme.leaders)) {
        leaders.push_back(group.front());
    }
    if (layout.node_of_rank[static_cast<std::size_t>(root)] == static_cast<int>(node)) {
        const auto found = std::ranges::find(leaders, root);
        if (found != leaders.end()) {
            std::iter_swap(leaders.begin(), found);
        }
        leaders.front() = root;
    }
    return leaders[slice % leaders.size()];
}

/// Groups that a leader each acts for, the root's first; the others as they are numbered, or whole
/// nodes as suits their speed. The leader of each, for this slice, comes first.
using Groups = std::vector<std::vector<Rank>>;
Groups groups_of(const Layout& layout, const Scheme& scheme, Rank root, std::size_t slice = 0) {
    Groups groups;
    if (scheme.roles == Roles::flat) {
        for (const auto& node : layout.nodes) {
            for (const Rank rank : node) {
                groups.push_back({rank});
            }
        }
        std::ranges::rotate(groups, std::ranges::find(groups, std::vector{root}));
        return groups;
    }
    if (scheme.roles == Roles::runs) {
        return runs_of(layout, root);
    }
    const auto home = static_cast<std::size_t>(layout.node_of_rank[static_cast<std::size_t>(root)]);
    for (const std::size_t node : layout.order_from(home, scheme.exchange)) {
        groups.push_back(layout.nodes[node]);
        const Rank leader = leader_of(layout, scheme, node, slice, root);
        std::iter_swap(groups.back().begin(), std::ranges::find(groups.back(), leader));
    }
    return groups;
}

/// The groups of each slice.
std::vector<Groups> groups_of_slices(const Layout& layout, const Scheme& scheme, Rank root) {
    std::vector<Groups> all;
    for (int slice = 0; slice < scheme.leaders; ++slice) {
        all.push_back(groups_of(layout, scheme, root, static_cast<std::size_t>(slice)));
    }
    return all;
}

/// Blocks are slices of pieces.
std::uint32_t blocks_of(const Scheme& scheme) {
    return scheme.pieces * static_cast<std::uint32_t>(scheme.leaders);
}

/// The hops of a broadcast: down a binomial tree over the groups, or from each group to the next.
Rounds hops_down(Exchange exchange, std::size_t groups) {
    if (exchange != Exchange::ring) {
        return binomial_rounds(groups);
    }
    Rounds rounds;
    for (std::size_t g = 0; g + 1 < groups; ++g) {
        rounds.push_back({{g, g + 1}});
    }
    return rounds;
}

/// The hops of a reduction in rank order: in pairs of ever longer rows, or from both ends on. Group
/// `home` ends with all.
Rounds hops_in_order(Exchange exchange, std::size_t groups, std::size_t home) {
    Rounds rounds;
    if (exchange == Exchange::ring) {
        for (std::size_t g = groups - 1; g > home; --g) {
            rounds.push_back({{g, g - 1}});
        }
        for (std::size_t g = 0; g < home; ++g) {
            rounds.push_back({{g, g + 1}});
        }
        return rounds;
    }
    const auto holder = [home](std::size_t first, std::size_t count) {
        return home >= first && home < first + count ? home : first;
    };
    for (std::size_t distance = 1; distance < groups; distance *= 2) {
        std::vector<Hop>& round = rounds.emplace_back();
        for (std::size_t g = 0; g + distance < groups; g += 2 * distance) {
            const std::size_t left = holder(g, distance);
            const std::size_t right = holder(g + distance, distance);
            round.push_back(right == home ? Hop{left, right} : Hop{right, left});
        }
    }
    return rounds;
}

/// A block of a reduction.
class Sum {
public:
    Sum(PlanWriter& writer, Rank root, std::uint32_t block)
        : writer_(writer), root_(root), block_(block),
          has_sum_(static_cast<std::size_t>(writer.size()), false) {}

    /// Each pair is (from, to); the receiver combines.
    void add(std::vector<Transfer>& messages, Rank from, Rank to) {
        messages.push_back({from, to, operand(from), sum(to), operand(to)});
        added_.push_back(to);
    }
    /// Marks the sums of this round as written.
    void done() {
        for (const Rank to : std::exchange(added_, {})) {
            has_sum_[static_cast<std::size_t>(to)] = true;
        }
    }
    /// To the root, if another rank has it.
    void hand_over(std::vector<Transfer>& messages, Rank holder) const {
        if (holder != root_) {
            messages.push_back({holder, root_, operand(holder), sum(root_), {}});
        } else if (writer_.size() == 1) {
            writer_.copy(root_, operand(root_), sum(root_));
        }
    }

private:
    [[nodiscard]] Blocks sum(Rank rank) const {
        return {rank == root_ ? Buffer::output : Buffer::scratch, block_, 1};
    }
    [[nodiscard]] Blocks operand(Rank rank) const {
        return has_sum_[static_cast<std::size_t>(rank)] ? sum(rank)
                                                        : Blocks{Buffer::input, block_, 1};
    }

    PlanWriter& writer_;
    Rank root_;
    std::uint32_t block_;
    std::vector<bool> has_sum_;
    std::vector<Rank> added_;
};

std::size_t largest_of(const Groups& groups) {
    std::size_t largest = 0;
    for (const auto& group : groups) {
        largest = std::max(largest, group.size());
    }
    return largest;
}

/// The blocks of one piece, a sum for each slice, round by round over all of them at once.
class PieceSums {
public:
    PieceSums(PlanWriter& writer, const std::vector<Groups>& slices, Rank root, std::uint32_t piece)
        : writer_(writer), slices_(slices) {
        for (std::size_t slice = 0; slice < slices.size(); ++slice) {
            const auto first = piece * static_cast<std::uint32_t>(slices.size());
            sums_.emplace_back(writer, root, first + static_cast<std::uint32_t>(slice));
        }
    }

    /// The leaders take the data of the member in this place of their group.
    void take_member(std::size_t place) {
        round([&](Sum& sum, const Groups& groups, std::vector<Transfer>& messages) {
            for (const auto& group : groups) {
                if (place < group.size()) {
                    sum.add(messages, group[place], group.front());
                }
            }
        });
    }
    /// For each hop, a leader takes from another.
    void take(const std::vector<Hop>& hops) {
        round([&](Sum& sum, const Groups& groups, std::vector<Transfer>& messages) {
            for (const Hop& hop : hops) {
                sum.add(messages, groups[hop.from].front(), groups[hop.to].front());
            }
        });
    }
    void hand_over(std::size_t home) {
        round([&](Sum& sum, const Groups& groups, std::vector<Transfer>& messages) {
            sum.hand_over(messages, groups[home].front());
        });
    }

private:
    template <class Action>
    void round(const Action& action) {
        std::vector<Transfer> messages;
        for (std::size_t slice = 0; slice < sums_.size(); ++slice) {
            action(sums_[slice], slices_[slice], messages);
        }
        writer_.round(messages);
        std::ranges::for_each(sums_, &Sum::done);
    }

    PlanWriter& writer_;
    const std::vector<Groups>& slices_;
    std::vector<Sum> sums_;
};

} // namespace

Plan broadcast(const Layout& layout, const Scheme& scheme, std::uint64_t bytes, Rank root) {
    PlanWriter writer =
        writer_for(Collective::broadcast, layout, scheme, bytes, blocks_of(scheme), root);
    const auto slices = groups_of_slices(layout, scheme, root);
    const auto hops = hops_down(scheme.exchange, slices.front().size());
    const auto count = static_cast<std::uint32_t>(slices.size());
    for (std::uint32_t piece = 0; piece < scheme.pieces; ++piece) {
        std::vector<Gift> gifts;
        const Gift at_home{root, slices.front().front(), {Buffer::output, piece * count, count}};
        if (count > 1) { // Other leaders than the root send on.
            writer.give(std::span(&at_home, 1));
        } else {
            gifts.push_back(at_home);
        }
        const auto data = [&](std::size_t slice) {
            return Blocks{Buffer::output, piece * count + static_cast<std::uint32_t>(slice), 1};
        };
        for (const auto& round : hops) {
            std::vector<Transfer> messages;
            for (std::size_t slice = 0; slice < count; ++slice) {
                for (const Hop& hop : round) {
                    messages.push_back({slices[slice][hop.from].front(),
                                        slices[slice][hop.to].front(),
                                        data(slice),
                                        data(slice),
                                        {}});
                }
            }
            writer.round(messages);
        }
        for (std::size_t slice = 0; slice < count; ++slice) {
            for (std::size_t g = 1; g < slices[slice].size(); ++g) {
                const auto& group = slices[slice][g];
                gifts.push_back({group.front(), group, data(slice)});
            }
        }
        writer.give(gifts);
    }
    return std::move(writer).finished();
}

Plan reduce(const Layout& layout, const Scheme& scheme, std::uint64_t bytes, Rank root) {
    PlanWriter writer =
        writer_for(Collective::reduce, layout, scheme, bytes, blocks_of(scheme), root);
    const auto slices = groups_of_slices(layout, scheme, root);
    const Groups& groups = slices.front();
    const auto home = static_cast<std::size_t>(
        std::ranges::find(groups, root, [](const auto& group) { return group.front(); }) -
        groups.begin());
    const auto hops = scheme.roles == Roles::runs
                          ? hops_in_order(scheme.exchange, groups.size(), home)
                          : reversed(hops_down(scheme.exchange, groups.size()));
    writer.need_scratch(layout.size() > 1 ? blocks_of(scheme) : 0);
    const std::size_t largest = largest_of(groups);
    for (std::uint32_t piece = 0; piece < scheme.pieces; ++piece) {
        PieceSums sums(writer, slices, root, piece);
        for (std::size_t member = 1; member < largest; ++member) {
            sums.take_member(member);
        }
        for (const auto& round : hops) {
            sums.take(round);
        }
        sums.hand_over(home);
    }
    return std::move(writer).finished();
}

Plan barrier(const Layout& layout, const Scheme& scheme) {
    PlanWriter writer = writer_for(Collective::barrier, layout, scheme, 0, 0);
    const auto groups = groups_of(layout, scheme, 0);
    for (const auto& group : groups) {
        for (std::size_t member = 1; member < group.size(); ++member) {
            writer.notify(group[member], group.front());
        }
    }
    std::vector<Rank> leaders;
    std::ranges::transform(groups, std::back_inserter(leaders),
                           [](const auto& group) { return group.front(); });
    writer.barrier(leaders);
    std::vector<Gift> gifts;
    for (const auto& group : groups) {
        gifts.push_back({group.front(), group, {}});
    }
    writer.give(gifts);
    return std::move(writer).finished();
}

} // namespace corymb::nodes
