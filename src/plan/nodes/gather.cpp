// SPDX-License-Identifier: Apache-2.0
// Gather with k leaders a node: leader l collects the l-th share of its node's ranks. Leaders of
// equal index send their parts to the root's node, up a binomial tree or each at once; the leaders
// there hand them to the root. A scatter is the reversed script.
#include "plan/generate/rounds.hpp"
#include "plan/nodes/script.hpp"

#include <algorithm>
#include <utility>

namespace corymb::nodes {

namespace {

class Gather {
public:
    Gather(const Layout& layout, const Scheme& scheme, Rank root)
        : scheme_(scheme), actors_(actors(layout, scheme)), root_(root), script_(layout) {}

    Script script() && {
        for (int lane = 0; lane < scheme_.leaders; ++lane) {
            lanes_.push_back(lane_of(lane));
        }
        script_.begin_round();
        for (Lane& lane : lanes_) {
            for (std::size_t p = 0; p < lane.size(); ++p) {
                collect(lane, p);
            }
        }
        if (scheme_.exchange == Exchange::direct) {
            send_at_once();
        } else {
            send_up_trees();
        }
        hand_over();
        script_.begin_round();
        for (const auto& [rank, place] : unpacked_) {
            script_.move(root_, root_, place, part(Buffer::output, rank));
        }
        return std::move(script_);
    }

private:
    /// A leader, the ranks that it collects, and the place of its subtree's parts: its own ranks'
    /// parts first. The root's is empty.
    struct Position {
        Rank leader = -1;
        std::vector<Rank> parts;
        Blocks store{};
    };
    using Lane = std::vector<Position>;

    /// The root's node first.
    Lane lane_of(int number) const {
        Lane lane;
        const auto own = static_cast<std::size_t>(number);
        const auto home =
            static_cast<std::size_t>(actors_.node_of_rank[static_cast<std::size_t>(root_)]);
        for (std::size_t i = 0; i < actors_.nodes.size(); ++i) {
            const std::size_t node = (home + i) % actors_.nodes.size();
            const auto groups = actors_.groups(node, scheme_.leaders);
            Position position;
            if (own < groups.size()) {
                position.parts = groups[own];
                position.leader = groups[own].front();
            }
            const bool has_root = std::ranges::find(position.parts, root_) != position.parts.end();
            if (i == 0 && (has_root || position.parts.empty())) {
                position.leader = root_;
            }
            if (position.leader >= 0) {
                lane.push_back(std::move(position));
            }
        }
        return lane;
    }

    /// The last position whose parts `p` sends on, and one more.
    std::size_t end_of(const Lane& lane, std::size_t p) const {
        if (p == 0) {
            return lane.size();
        }
        const std::size_t reach = scheme_.exchange == Exchange::direct ? 1 : p & (~p + 1);
        return std::min(lane.size(), p + reach);
    }
    static std::vector<Rank> parts_of(const Lane& lane, std::size_t first, std::size_t end) {
        std::vector<Rank> parts;
        for (std::size_t p = first; p < end; ++p) {
            parts.insert(parts.end(), lane[p].parts.begin(), lane[p].parts.end());
        }
        return parts;
    }

    void collect(Lane& lane, std::size_t p) {
        Position& position = lane[p];
        const bool is_root = position.leader == root_;
        const auto all = parts_of(lane, p, end_of(lane, p));
        if (!is_root && all == std::vector<Rank>{position.leader}) {
            position.store = {Buffer::input, 0, 1};
            return;
        }
        if (!is_root) {
            position.store = script_.scratch(position.leader, all.size());
        }
        for (std::size_t i = 0; i < position.parts.size(); ++i) {
            const Rank rank = position.parts[i];
            const Blocks target = is_root ? part(Buffer::output, rank) : slice(position.store, i);
            script_.move(rank, position.leader, {Buffer::input, 0, 1}, target);
        }
    }

    /// Parts of `lane` from position `first` to before `end`, which stand in `source`.
    void bring(const Lane& lane, std::size_t first, std::size_t end, std::size_t to) {
        const auto parts = parts_of(lane, first, end);
        const Blocks source = slice(lane[first].store, 0, parts.size());
        const Position& receiver = lane[to];
        if (receiver.leader == root_) {
            bring_to_root(lane[first].leader, source, parts);
            return;
        }
        const std::size_t before = parts_of(lane, to, first).size();
        script_.move(lane[first].leader, receiver.leader, source,
                     slice(receiver.store, before, parts.size()));
    }

    void bring_to_root(Rank from, Blocks source, const std::vector<Rank>& parts) {
        if (parts.empty()) {
            return;
        }
        if (is_run(parts)) {
            script_.move(from, root_, source,
                         slice(part(Buffer::output, parts.front()), 0, parts.size()));
            return;
        }
        const Blocks packed = script_.scratch(root_, parts.size());
        script_.move(from, root_, source, packed);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            unpacked_.emplace_back(parts[i], slice(packed, i));
        }
    }

    void send_at_once() {
        script_.begin_round();
        for (const Lane& lane : lanes_) {
            for (std::size_t p = 1; p < lane.size(); ++p) {
                bring(lane, p, p + 1, 0);
            }
        }
    }

    void send_up_trees() {
        std::vector<Rounds> rounds; // by lane
        std::size_t most = 0;
        for (const Lane& lane : lanes_) {
            rounds.push_back(reversed(binomial_rounds(lane.size())));
            most = std::max(most, rounds.back().size());
        }
        for (std::size_t r = 0; r < most; ++r) {
            script_.begin_round();
            for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
                if (r >= rounds[lane].size()) {
                    continue;
                }
                for (const Hop& hop : rounds[lane][r]) {
                    bring(lanes_[lane], hop.from, hop.first + hop.count, hop.to);
                }
            }
        }
    }

    /// Hands the parts of other leaders in the root's node to the root.
    void hand_over() {
        script_.begin_round();
        for (const Lane& lane : lanes_) {
            if (lane.front().leader != root_) {
                bring_to_root(lane.front().leader, lane.front().store,
                              parts_of(lane, 0, lane.size()));
            }
        }
    }

    Scheme scheme_;
    Layout actors_;
    Rank root_;
    Script script_;
    std::vector<Lane> lanes_;
    std::vector<std::pair<Rank, Blocks>> unpacked_;
};

} // namespace

Plan gather(const Layout& layout, const Scheme& scheme, std::uint64_t bytes, Rank root) {
    PlanWriter writer = writer_for(Collective::gather, layout, scheme, bytes, 1, root);
    Gather(layout, scheme, root).script().play(writer);
    return std::move(writer).finished();
}

Plan scatter(const Layout& layout, const Scheme& scheme, std::uint64_t bytes, Rank root) {
    PlanWriter writer = writer_for(Collective::scatter, layout, scheme, bytes, 1, root);
    Gather(layout, scheme, root).script().reversed().play(writer);
    return std::move(writer).finished();
}

} // namespace corymb::nodes
