// SPDX-License-Identifier: Apache-2.0
// Operations whose data goes up or down: one leader a node, or every rank for itself; binomial
// trees, chains or dissemination between them. By runs, in the order of the ranks. In pieces, a
// rank is done with one before it turns to the next, which travels meanwhile.
#include "plan/nodes/node_writer.hpp"
#include "plan/nodes/scheme.hpp"

#include <algorithm>
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

/// Groups that a leader each acts for, the root's first, led by the root; the others as they are
/// numbered, or whole nodes as suits their speed.
std::vector<std::vector<Rank>> groups_of(const Layout& layout, const Scheme& scheme, Rank root) {
    std::vector<std::vector<Rank>> groups;
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
    }
    std::iter_swap(groups.front().begin(), std::ranges::find(groups.front(), root));
    return groups;
}

std::size_t tree_top(std::size_t count) {
    std::size_t distance = 1;
    while (distance < count) {
        distance *= 2;
    }
    return distance / 2;
}

} // namespace

namespace {

/// Who gets the data from whom, in rounds of messages at once: down a binomial tree over the
/// groups, or from each to the next.
using Hop = std::pair<std::size_t, std::size_t>;
std::vector<std::vector<Hop>> hops_down(Exchange exchange, std::size_t groups) {
    std::vector<std::vector<Hop>> rounds;
    if (exchange == Exchange::ring) {
        for (std::size_t g = 0; g + 1 < groups; ++g) {
            rounds.push_back({{g, g + 1}});
        }
        return rounds;
    }
    for (std::size_t distance = tree_top(groups); distance > 0; distance /= 2) {
        std::vector<Hop>& round = rounds.emplace_back();
        for (std::size_t g = 0; g + distance < groups; g += 2 * distance) {
            round.emplace_back(g, g + distance);
        }
    }
    return rounds;
}

/// The other way: who takes from whom. The first group ends with all.
std::vector<std::vector<Hop>> hops_up(Exchange exchange, std::size_t groups) {
    auto rounds = hops_down(exchange, groups);
    std::ranges::reverse(rounds);
    return rounds;
}

/// The same where what is combined has to be in a row: in pairs of ever longer rows, or from both
/// ends on. Group `home` ends with all.
std::vector<std::vector<Hop>> hops_in_order(Exchange exchange, std::size_t groups,
                                            std::size_t home) {
    std::vector<std::vector<Hop>> rounds;
    if (exchange == Exchange::ring) {
        for (std::size_t g = groups - 1; g > home; --g) {
            rounds.push_back({{g - 1, g}});
        }
        for (std::size_t g = 0; g < home; ++g) {
            rounds.push_back({{g + 1, g}});
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
            round.push_back(right == home ? Hop{right, left} : Hop{left, right});
        }
    }
    return rounds;
}

/// One piece of a reduction, or all of it.
class Sum {
public:
    Sum(NodeWriter& writer, Rank root, std::uint32_t piece)
        : writer_(writer), root_(root), piece_(piece),
          has_sum_(static_cast<std::size_t>(writer.size()), false) {}

    /// Each pair is (from, to); the receiver combines.
    void round(const std::vector<std::pair<Rank, Rank>>& pairs) {
        std::vector<Arrival> messages;
        for (const auto& [from, to] : pairs) {
            messages.push_back({from, to, operand(from), sum(to), operand(to)});
        }
        writer_.round(messages);
        for (const auto& [from, to] : pairs) {
            has_sum_[static_cast<std::size_t>(to)] = true;
        }
    }

private:
    [[nodiscard]] Blocks sum(Rank rank) const {
        return {rank == root_ ? Buffer::output : Buffer::scratch, piece_, 1};
    }
    [[nodiscard]] Blocks operand(Rank rank) const {
        return has_sum_[static_cast<std::size_t>(rank)] ? sum(rank)
                                                        : Blocks{Buffer::input, piece_, 1};
    }

    NodeWriter& writer_;
    Rank root_;
    std::uint32_t piece_;
    std::vector<bool> has_sum_;
};

} // namespace

Plan broadcast(const Layout& layout, const Scheme& scheme, std::uint64_t bytes, Rank root) {
    NodeWriter writer(Collective::broadcast, layout, scheme, bytes, scheme.pieces, root);
    const auto groups = groups_of(layout, scheme, root);
    const auto hops = hops_down(scheme.exchange, groups.size());
    for (std::uint32_t piece = 0; piece < scheme.pieces; ++piece) {
        const Blocks data{Buffer::output, piece, 1};
        for (const auto& round : hops) {
            std::vector<Arrival> messages;
            for (const auto& [from, to] : round) {
                messages.push_back({groups[from].front(), groups[to].front(), data, data, {}});
            }
            writer.round(messages);
        }
        std::vector<Gift> gifts;
        for (const auto& group : groups) {
            gifts.push_back({group.front(), group, data});
        }
        writer.give(gifts);
    }
    return std::move(writer).finished();
}

Plan reduce(const Layout& layout, const Scheme& scheme, std::uint64_t bytes, Rank root) {
    NodeWriter writer(Collective::reduce, layout, scheme, bytes, scheme.pieces, root);
    const auto groups = groups_of(layout, scheme, root);
    const auto home =
        std::ranges::find(groups, root, [](const auto& group) { return group.front(); });
    const auto hops = scheme.roles == Roles::runs
                          ? hops_in_order(scheme.exchange, groups.size(),
                                          static_cast<std::size_t>(home - groups.begin()))
                          : hops_up(scheme.exchange, groups.size());
    writer.need_scratch(layout.size() > 1 ? scheme.pieces : 0);
    const std::size_t largest =
        std::ranges::max(groups, std::ranges::less{}, [](const std::vector<Rank>& group) {
            return group.size();
        }).size();
    for (std::uint32_t piece = 0; piece < scheme.pieces; ++piece) {
        Sum sum(writer, root, piece);
        for (std::size_t member = 1; member < largest; ++member) {
            std::vector<std::pair<Rank, Rank>> pairs;
            for (const auto& group : groups) {
                if (member < group.size()) {
                    pairs.emplace_back(group[member], group.front());
                }
            }
            sum.round(pairs);
        }
        for (const auto& round : hops) {
            std::vector<std::pair<Rank, Rank>> pairs;
            for (const auto& [to, from] : round) {
                pairs.emplace_back(groups[from].front(), groups[to].front());
            }
            sum.round(pairs);
        }
        if (layout.size() == 1) {
            writer.copy(root, {Buffer::input, piece, 1}, {Buffer::output, piece, 1});
        }
    }
    return std::move(writer).finished();
}

Plan barrier(const Layout& layout, const Scheme& scheme) {
    NodeWriter writer(Collective::barrier, layout, scheme, 0, 0);
    const auto groups = groups_of(layout, scheme, 0);
    for (const auto& group : groups) {
        for (std::size_t member = 1; member < group.size(); ++member) {
            writer.signal(group[member], group.front());
        }
    }
    const std::size_t size = groups.size();
    for (std::size_t distance = 1; distance < size; distance *= 2) {
        for (std::size_t g = 0; g < size; ++g) {
            writer.signal_only(groups[g].front(), groups[(g + distance) % size].front());
        }
        for (std::size_t g = 0; g < size; ++g) {
            writer.wait_only(groups[g].front(), groups[(g + size - distance) % size].front());
        }
    }
    std::vector<Gift> gifts;
    for (const auto& group : groups) {
        gifts.push_back({group.front(), group, {}});
    }
    writer.give(gifts);
    return std::move(writer).finished();
}

} // namespace corymb::nodes
