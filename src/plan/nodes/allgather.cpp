// SPDX-License-Identifier: Apache-2.0
// Allgather with several leaders a node (Kandalla, Subramoni, Santhanaraman, Koop, Panda, CAC
// 2009). There the leaders of all nodes exchange as one group, so that with recursive doubling
// every node gets everything k times; leaders of equal index as lanes of their own (Traeff, 2019)
// bring each byte into a node once.
#include "plan/nodes/scheme.hpp"
#include "plan/nodes/track.hpp"
#include "plan/nodes/writer_for.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace corymb::nodes {

namespace {

/// The roles of an allgather: the exchanging leaders, and the ranks that each leader informs.
struct Cast {
    std::vector<Track> tracks;
    /// By track and position: the ranks that get what the position's leader gets.
    std::vector<std::vector<std::vector<Rank>>> members;
};

Cast flat(const Layout& layout) {
    Track track;
    std::vector<std::vector<Rank>> members;
    for (const auto& node : layout.nodes) {
        for (const Rank rank : node) {
            track.add({rank, {rank}});
            members.push_back({rank});
        }
    }
    return {{std::move(track)}, {std::move(members)}};
}

Cast lanes(const Layout& layout, int leaders) {
    Cast cast;
    for (int lane = 0; lane < leaders; ++lane) {
        Track track;
        for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
            const auto groups = layout.groups(node, leaders);
            const auto own = static_cast<std::size_t>(lane);
            // A node with fewer leaders has none to bring anything into this lane, but one to take.
            track.add({groups[own % groups.size()].front(),
                       own < groups.size() ? groups[own] : std::vector<Rank>{}});
        }
        cast.tracks.push_back(std::move(track));
        cast.members.push_back(layout.nodes);
    }
    return cast;
}

Cast node_major(const Layout& layout, int leaders) {
    Track track;
    std::vector<std::vector<Rank>> members;
    for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
        for (const auto& group : layout.groups(node, leaders)) {
            track.add({group.front(), group});
            members.push_back(group);
        }
    }
    return {{std::move(track)}, {std::move(members)}};
}

Cast whole_nodes(const Layout& layout) {
    Track track;
    for (const auto& node : layout.nodes) {
        track.add({node.front(), node});
    }
    return {{std::move(track)}, {layout.nodes}};
}

class Allgather {
public:
    Allgather(const Layout& layout, const Scheme& scheme, std::uint64_t bytes)
        : layout_(layout), scheme_(scheme),
          writer_(writer_for(Collective::allgather, layout, scheme, bytes, 1)) {
        switch (scheme.roles) {
        case Roles::flat: cast_ = flat(layout); break;
        case Roles::lanes:
        case Roles::runs: cast_ = lanes(layout, scheme.leaders); break;
        case Roles::node_major: cast_ = node_major(layout, scheme.leaders); break;
        case Roles::slices:
        case Roles::objects: cast_ = whole_nodes(layout); break;
        }
        std::uint32_t base = 0;
        for (Track& track : cast_.tracks) {
            base += track.settle(scheme.exchange, base);
        }
        writer_.need_scratch(base);
    }

    Plan plan() && {
        gather();
        switch (scheme_.roles) {
        case Roles::slices: slices(); break;
        case Roles::objects: objects(); break;
        default: exchange(); break;
        }
        give_rest();
        unpack();
        return std::move(writer_).finished();
    }

private:
    /// Everybody's part to the leader of its group.
    void gather() {
        std::vector<Transfer> messages;
        for (std::size_t t = 0; t < cast_.tracks.size(); ++t) {
            const Track& track = cast_.tracks[t];
            for (std::size_t p = 0; p < track.size(); ++p) {
                std::uint32_t offset = 0;
                for (const Rank rank : track[p].parts) {
                    gather_one(messages, track, p, rank, offset++);
                }
                hand_on(t, p, track[p].leader, track.range(p, p, 1));
            }
        }
        writer_.round(messages);
        gather_groups();
        give_early();
    }

    /// `offset`: place within the position's range.
    void gather_one(std::vector<Transfer>& messages, const Track& track, std::size_t p, Rank rank,
                    std::uint32_t offset) {
        Blocks target = track.range(p, p, 1);
        target.first += offset;
        target.count = 1;
        const Blocks own{Buffer::input, 0, 1};
        const Rank leader = gathers(track, p, rank);
        if (rank == leader) {
            writer_.copy(rank, own, target);
        } else {
            messages.push_back({rank, leader, own, target, {}});
        }
    }

    /// Slices and objects have several leaders a node that each gather a group.
    [[nodiscard]] Rank gathers(const Track& track, std::size_t p, Rank rank) const {
        if (!is_common()) {
            return track[p].leader;
        }
        for (const auto& group : layout_.groups(p, scheme_.leaders)) {
            if (std::ranges::find(group, rank) != group.end()) {
                return group.front();
            }
        }
        return track[p].leader;
    }

    /// If leaders need all parts, makes the groups' parts known to the whole node.
    void gather_groups() {
        if (!is_common()) {
            return;
        }
        fresh_.clear();
        const Track& track = cast_.tracks.front();
        for (std::size_t node = 0; node < track.size(); ++node) {
            std::uint32_t offset = track.range(node, node, 1).first;
            for (const auto& group : layout_.groups(node, scheme_.leaders)) {
                const auto count = static_cast<std::uint32_t>(group.size());
                const Blocks blocks{track.range(node, node, 1).buffer, offset, count};
                fresh_.push_back({group.front(), cast_.members.front()[node], blocks});
                offset += count;
            }
        }
    }

    [[nodiscard]] bool is_common() const {
        return scheme_.roles == Roles::slices || scheme_.roles == Roles::objects;
    }

    void hand_on(std::size_t track, std::size_t position, Rank leader, Blocks blocks) {
        fresh_.push_back({leader, cast_.members[track][position], blocks});
    }

    void exchange() {
        std::vector<Rounds> rounds; // by track
        std::size_t most = 0;
        for (const Track& track : cast_.tracks) {
            rounds.push_back(track.rounds(scheme_.exchange));
            most = std::max(most, rounds.back().size());
        }
        for (std::size_t r = 0; r < most; ++r) {
            std::vector<Transfer> messages;
            for (std::size_t t = 0; t < cast_.tracks.size(); ++t) {
                const Track& track = cast_.tracks[t];
                if (r >= rounds[t].size()) {
                    continue;
                }
                for (const Hop& hop : rounds[t][r]) {
                    const Blocks target = track.range(hop.to, hop.first, hop.count);
                    messages.push_back({track[hop.from].leader,
                                        track[hop.to].leader,
                                        track.range(hop.from, hop.first, hop.count),
                                        target,
                                        {}});
                    hand_on(t, hop.to, track[hop.to].leader, target);
                }
            }
            writer_.round(messages);
            give_early();
        }
    }

    /// Doubling over nodes: the data that two nodes exchange is cut in slices, one for each leader.
    void slices() {
        const Track& track = cast_.tracks.front();
        for (const std::vector<Hop>& round : track.rounds(Exchange::doubling)) {
            std::vector<Transfer> messages;
            for (const Hop& hop : round) {
                const Blocks all = track.range(hop.to, hop.first, hop.count);
                const auto from = layout_.groups(hop.from, scheme_.leaders);
                const auto to = layout_.groups(hop.to, scheme_.leaders);
                const std::uint64_t count = std::min(from.size(), to.size());
                for (std::uint64_t s = 0; s < count; ++s) {
                    const auto begin = static_cast<std::uint32_t>(all.count * s / count);
                    const auto end = static_cast<std::uint32_t>(all.count * (s + 1) / count);
                    const Blocks slice{all.buffer, all.first + begin, end - begin};
                    messages.push_back({from[s].front(), to[s].front(), slice, slice, {}});
                    hand_on(0, hop.to, to[s].front(), slice);
                }
            }
            writer_.round(messages);
            give_early();
        }
    }

    /// Bruck's exchange of radix k + 1: every leader takes from another node.
    void objects() {
        const Track& track = cast_.tracks.front();
        const std::size_t nodes = track.size();
        const auto radix = static_cast<std::size_t>(scheme_.leaders) + 1;
        for (std::size_t distance = 1; distance < nodes; distance *= radix) {
            std::vector<Transfer> messages;
            for (std::size_t node = 0; node < nodes; ++node) {
                const auto to = layout_.groups(node, scheme_.leaders);
                for (std::size_t j = 1; j < radix && j * distance < nodes; ++j) {
                    const std::size_t source = (node + j * distance) % nodes;
                    const std::size_t count = std::min(distance, nodes - j * distance);
                    const auto from = layout_.groups(source, scheme_.leaders);
                    const Rank leader = to[(j - 1) % to.size()].front();
                    const Blocks target = track.range(node, source, count);
                    messages.push_back({from[(j - 1) % from.size()].front(),
                                        leader,
                                        track.range(source, source, count),
                                        target,
                                        {}});
                    hand_on(0, node, leader, target);
                }
            }
            writer_.round(messages);
            give_early();
        }
    }

    void give_early() {
        if (scheme_.early) {
            writer_.give(fresh_);
        } else {
            rest_.insert(rest_.end(), fresh_.begin(), fresh_.end());
        }
        fresh_.clear();
    }

    /// Gives the rest at the end, in as few runs as possible: the first run of each leader, then
    /// the second, and so on.
    void give_rest() {
        std::ranges::stable_sort(rest_, std::ranges::less{}, [](const Gift& gift) {
            return std::tuple{gift.from, gift.blocks.buffer, gift.blocks.first};
        });
        std::map<Rank, std::vector<Gift>> by_leader;
        for (const Gift& gift : rest_) {
            if (gift.blocks.count == 0) {
                continue;
            }
            auto& list = by_leader[gift.from];
            const bool goes_on =
                !list.empty() && list.back().blocks.buffer == gift.blocks.buffer &&
                list.back().blocks.first + list.back().blocks.count == gift.blocks.first;
            if (goes_on) {
                list.back().blocks.count += gift.blocks.count;
            } else {
                list.push_back(gift);
            }
        }
        bool any = true;
        for (std::size_t turn = 0; any; ++turn) {
            any = false;
            std::vector<Gift> gifts;
            for (const auto& [leader, list] : by_leader) {
                if (turn < list.size()) {
                    gifts.push_back(list[turn]);
                    any = true;
                }
            }
            writer_.give(gifts);
        }
    }

    /// Out of scratch to the places of the output, run by run.
    void unpack() {
        for (std::size_t t = 0; t < cast_.tracks.size(); ++t) {
            const Track& track = cast_.tracks[t];
            if (!track.in_scratch()) {
                continue;
            }
            for (std::size_t p = 0; p < track.size(); ++p) {
                const auto runs = track.runs(p);
                for (const Rank rank : cast_.members[t][p]) {
                    for (const auto& [from, to] : runs) {
                        writer_.copy(rank, from, to);
                    }
                }
            }
        }
    }

    const Layout& layout_;
    const Scheme& scheme_;
    PlanWriter writer_;
    Cast cast_;
    std::vector<Gift> fresh_, rest_;
};

} // namespace

Plan allgather(const Layout& layout, const Scheme& scheme, std::uint64_t bytes) {
    return Allgather(layout, scheme, bytes).plan();
}

} // namespace corymb::nodes
