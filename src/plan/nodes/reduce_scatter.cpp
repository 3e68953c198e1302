// SPDX-License-Identifier: Apache-2.0
// Reduce-scatter with k leaders a node: leader l combines its node's data for the l-th share of
// every node's ranks. Leaders of equal index combine these sums over the nodes, each at once,
// around a ring, by recursive halving (Thakur, Rabenseifner, Gropp, 2005), or up a binomial tree
// and down again, and hand them out. By runs: each at once or by the tree, in the order of the
// ranks.
#include "plan/generate/rounds.hpp"
#include "plan/nodes/script.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace corymb::nodes {

namespace {

class ReduceScatter {
public:
    ReduceScatter(const Layout& layout, const Scheme& scheme)
        : scheme_(scheme), actors_(actors(layout, scheme)), script_(layout) {}

    Script script() && {
        for (std::size_t node = 0; node < size(); ++node) {
            groups_.push_back(actors_.groups(node, scheme_.leaders));
        }
        const auto lanes = static_cast<std::size_t>(scheme_.leaders);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            auto& starts = starts_.emplace_back(1, std::size_t{0});
            for (std::size_t node = 0; node < size(); ++node) {
                starts.push_back(starts.back() + receivers(node, lane).size());
            }
            auto& sums = sums_.emplace_back();
            for (std::size_t node = 0; node < size(); ++node) {
                sums.push_back(script_.scratch(leader(node, lane), starts.back()));
            }
        }
        combine_in_nodes();
        switch (scheme_.exchange) {
        case Exchange::ring: combine_along(ring_rounds(size(), -1)); break;
        case Exchange::doubling: combine_along(reversed(doubling_rounds(size()))); break;
        case Exchange::binomial: up_and_down(); break;
        default: at_once(); break;
        }
        hand_out();
        return std::move(script_);
    }

private:
    [[nodiscard]] std::size_t size() const { return actors_.nodes.size(); }
    [[nodiscard]] Rank leader(std::size_t node, std::size_t lane) const {
        return groups_[node][lane % groups_[node].size()].front();
    }
    [[nodiscard]] std::span<const Rank> receivers(std::size_t node, std::size_t lane) const {
        const auto& groups = groups_[node];
        return lane < groups.size() ? groups[lane] : std::span<const Rank>();
    }
    /// Parts of a lane for the nodes before this one.
    [[nodiscard]] std::size_t before(std::size_t lane, std::size_t node) const {
        return starts_[lane][node];
    }
    /// The place where the leader of `node` has the sum for the nodes from `first` to before `end`.
    [[nodiscard]] Blocks sum(std::size_t node, std::size_t lane, std::size_t first,
                             std::size_t end) const {
        const std::size_t place = before(lane, first);
        return slice(sums_[lane][node], place, before(lane, end) - place);
    }

    void combine_in_nodes() {
        std::size_t most = 1;
        for (const auto& ranks : actors_.nodes) {
            most = std::max(most, ranks.size());
        }
        script_.begin_round();
        for (std::size_t turn = 0; turn < most; ++turn) {
            for (std::size_t lane = 0; lane < sums_.size(); ++lane) {
                for (std::size_t node = 0; node < size(); ++node) {
                    take_turn(node, lane, turn);
                }
            }
            script_.begin_round();
        }
    }

    /// The leader combines the parts of its `turn`-th neighbour; the first time with its own.
    void take_turn(std::size_t node, std::size_t lane, std::size_t turn) {
        const auto& ranks = actors_.nodes[node];
        const Rank to = leader(node, lane);
        const auto place = static_cast<std::size_t>(std::ranges::find(ranks, to) - ranks.begin());
        if (turn >= ranks.size() || (turn == 0 && ranks.size() > 1)) {
            return;
        }
        const Rank from = ranks[next_to_combine(scheme_.roles, place, turn, ranks.size())];
        std::size_t next = 0;
        for (std::size_t other = 0; other < size(); ++other) {
            for (const Rank receiver : receivers(other, lane)) {
                const Blocks target = slice(sums_[lane][node], next++);
                const Blocks input = part(Buffer::input, receiver);
                if (turn == 0) {
                    script_.move(to, to, input, target);
                } else {
                    script_.fold(from, to, input, target, turn == 1 ? input : target);
                }
            }
        }
    }

    /// Adds the sums that `from` has for some nodes to those of `to`.
    void pass(std::size_t from, std::size_t to, std::size_t lane, std::size_t first,
              std::size_t end) {
        const Blocks target = sum(to, lane, first, end);
        script_.fold(leader(from, lane), leader(to, lane), sum(from, lane, first, end), target,
                     target);
    }

    template <class Action>
    void everywhere(const Action& action) {
        script_.begin_round();
        for (std::size_t lane = 0; lane < sums_.size(); ++lane) {
            for (std::size_t node = 0; node < size(); ++node) {
                action(node, lane);
            }
        }
    }

    void at_once() {
        script_.begin_round();
        for (std::size_t shift = 1; shift < size(); ++shift) {
            for (std::size_t lane = 0; lane < sums_.size(); ++lane) {
                for (std::size_t to = 0; to < size(); ++to) {
                    pass(source(to, shift), to, lane, to, to + 1);
                }
            }
        }
    }

    [[nodiscard]] std::size_t source(std::size_t to, std::size_t shift) const {
        return scheme_.roles == Roles::runs ? next_in_order(to, shift, size())
                                            : (to + size() - shift) % size();
    }

    /// Acts for the hops of each round in every lane.
    template <class Action>
    void along(const Rounds& rounds, const Action& action) {
        for (const std::vector<Hop>& round : rounds) {
            script_.begin_round();
            for (std::size_t lane = 0; lane < sums_.size(); ++lane) {
                for (const Hop& hop : round) {
                    action(hop, lane);
                }
            }
        }
    }

    /// The rounds of a reduce-scatter.
    void combine_along(const Rounds& rounds) {
        along(rounds, [&](const Hop& hop, std::size_t lane) {
            pass(hop.from, hop.to, lane, hop.first, hop.first + hop.count);
        });
    }

    /// All parts to the first leader and back, by neighbours: few messages, long ones.
    void up_and_down() {
        const Rounds down = binomial_rounds(size());
        along(reversed(down),
              [&](const Hop& hop, std::size_t lane) { pass(hop.from, hop.to, lane, 0, size()); });
        along(down, [&](const Hop& hop, std::size_t lane) {
            const std::size_t end = hop.first + hop.count;
            script_.move(leader(hop.from, lane), leader(hop.to, lane),
                         sum(hop.from, lane, hop.first, end), sum(hop.to, lane, hop.first, end));
        });
    }

    void hand_out() {
        everywhere([&](std::size_t node, std::size_t lane) {
            std::size_t place = 0;
            for (const Rank receiver : receivers(node, lane)) {
                script_.move(leader(node, lane), receiver,
                             slice(sum(node, lane, node, node + 1), place++),
                             {Buffer::output, 0, 1});
            }
        });
    }

    Scheme scheme_;
    Layout actors_;
    Script script_;
    std::vector<std::vector<std::vector<Rank>>> groups_; // by node and lane
    std::vector<std::vector<std::size_t>> starts_;       // by lane and node: parts before it
    std::vector<std::vector<Blocks>> sums_;              // by lane and node, at the leader
};

} // namespace

Plan reduce_scatter(const Layout& layout, const Scheme& scheme, std::uint64_t bytes) {
    PlanWriter writer = writer_for(Collective::reduce_scatter, layout, scheme, bytes, 1);
    ReduceScatter(layout, scheme).script().play(writer);
    return std::move(writer).finished();
}

} // namespace corymb::nodes
