// SPDX-License-Identifier: Apache-2.0
#include "tune/cluster_layout.hpp"

#include "machine/model/nearness.hpp"
#include "machine/model/networks.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace corymb {

namespace {

std::size_t at(int number) {
    return static_cast<std::size_t>(number);
}

/// Ranks of a node, and the PUs that they are on.
struct Members {
    std::vector<std::size_t> ranks;
    std::vector<int> pus;
};

std::vector<Members> members_of(int nodes, std::span<const NodePlace> places) {
    std::vector<Members> members(at(nodes));
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
        Members& node = members[at(places[rank].node)];
        node.ranks.push_back(rank);
        node.pus.push_back(places[rank].pu);
    }
    return members;
}

/// Nothing where ranks lie as they are numbered.
nodes::Seats seats_of(const Cluster& cluster, std::span<const NodePlace> places) {
    const auto all_cost_the_same = [](const NodeKind& kind) {
        return kind.machine.classes.size() == 1;
    };
    if (std::ranges::all_of(cluster.kinds, all_cost_the_same)) {
        return {};
    }
    nodes::Seats seats{std::vector<int>(places.size()), std::vector<double>(places.size())};
    std::map<std::pair<int, std::vector<int>>, Nearness> known;
    bool is_as_numbered = true;
    const std::vector<int> kind_of_node = cluster.kind_of_node();
    const std::vector<Members> nodes = members_of(cluster.node_count(), places);
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        const auto& [ranks, pus] = nodes[node];
        const auto [place, is_new] = known.try_emplace({kind_of_node[node], pus});
        Nearness& nearness = place->second;
        if (is_new && !pus.empty()) {
            nearness = nearness_of(cluster.kinds[at(kind_of_node[node])].machine, pus);
        }
        is_as_numbered = is_as_numbered && std::ranges::is_sorted(nearness.order);
        for (std::size_t seat = 0; seat < ranks.size(); ++seat) {
            seats.place[ranks[at(nearness.order[seat])]] = static_cast<int>(seat);
            seats.distance[ranks[seat]] = nearness.distance[seat];
        }
    }
    return is_as_numbered ? nodes::Seats{} : seats;
}

} // namespace

nodes::Layout layout_of(const Cluster& cluster, std::span<const NodePlace> places,
                        std::uint64_t bytes) {
    std::vector<int> node_of_rank;
    std::ranges::transform(places, std::back_inserter(node_of_rank), &NodePlace::node);
    nodes::Layout layout(node_of_rank, message_ns_of_nodes(cluster, bytes),
                         seats_of(cluster, places));
    layout.readers_begin_apart = std::ranges::any_of(cluster.kinds, [](const NodeKind& kind) {
        return std::ranges::any_of(kind.machine.shared, [](const SharedResource& shared) {
            return shared.use != SharedUse::word;
        });
    });
    if (layout.seated) {
        nodes::Layout seated = *layout.seated;
        seated.readers_begin_apart = layout.readers_begin_apart;
        layout.seated = std::make_shared<const nodes::Layout>(std::move(seated));
    }
    return layout;
}

} // namespace corymb
