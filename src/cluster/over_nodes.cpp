// SPDX-License-Identifier: Apache-2.0
#include <corymb/carrier.hpp>

#include "cluster/cluster_member.hpp"
#include "cluster/places.hpp"
#include "team/member.hpp"

#include <corymb/detail/untyped.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace corymb {

namespace {

[[noreturn]] void refuse(const std::string& text) {
    throw Error(Errc::invalid_argument, text);
}

void check_insides(const Insides& insides, const std::vector<int>& nodes, std::size_t node_count) {
    bool is_right = insides.of_node.empty() || insides.of_node.size() == node_count;
    for (std::size_t node = 0; is_right && node < insides.of_node.size(); ++node) {
        const int kind = insides.of_node[node];
        is_right = kind >= -1 && kind < static_cast<int>(insides.kinds.size()) &&
                   (kind == -1 || insides.kinds[static_cast<std::size_t>(kind)].machine.size() ==
                                      std::ranges::count(nodes, static_cast<int>(node)));
    }
    if (!is_right) {
        refuse("ClusterOptions::insides must say of each node which kind it is, with a PU for "
               "each of its ranks, or of none");
    }
}

void check(const Team& local, const ClusterOptions& options) {
    const std::vector<int>& nodes = options.node_of_rank;
    cluster::check_places(nodes, options.rank);
    const auto node_count = static_cast<std::size_t>(std::ranges::max(nodes)) + 1;
    const std::vector<int>& networks = options.networks.of_node;
    const auto classes = static_cast<int>(options.networks.classes.size());
    if (classes == 0 || (!networks.empty() && networks.size() != node_count) ||
        std::ranges::any_of(networks,
                            [=](int number) { return number < 0 || number >= classes; })) {
        refuse("ClusterOptions::networks must have a class, and say of each node which it is "
               "of, or of none");
    }
    check_insides(options.insides, nodes, node_count);
    const auto own = nodes.begin() + options.rank;
    if (local.size() != std::ranges::count(nodes, *own) ||
        local.rank() != std::count(nodes.begin(), own, *own)) {
        refuse("the local team must be that of the ranks on node " + std::to_string(*own) +
               ", in increasing order");
    }
}

} // namespace

Carrier::~Carrier() = default;

int Carrier::lanes() const noexcept {
    return 0;
}

int Carrier::own_lanes() const noexcept {
    return 0;
}

bool Carrier::has_notices() const noexcept {
    return false;
}

int Carrier::wait_descriptor() const noexcept {
    return -1;
}

const std::string* Carrier::loss_of(Rank /*rank*/) noexcept {
    return nullptr;
}

Team over_nodes(Team&& local, Carrier& carrier, const ClusterOptions& options) {
    const detail::InCall member(detail::Untyped::member(local));
    member->require_one_node("over_nodes", "its ranks are on several nodes already");
    check(local, options);
    if (member->shared->options.reproducible) {
        throw Error(Errc::unsupported, "TeamOptions::reproducible: the order in which ranks on "
                                       "several nodes combine depends on the nodes; make the "
                                       "local teams without it");
    }
    if (member->shared->options.objective == "p99") {
        throw Error(Errc::unsupported,
                    "TeamOptions::objective: default plans over several nodes are searched for the "
                    "median; make the local teams without it, or give them plans of your own");
    }
    auto wide = std::make_unique<cluster::ClusterMember>(*member.operator->(), carrier, options);
    member->span(std::move(wide), options.rank, static_cast<int>(options.node_of_rank.size()));
    return std::move(local);
}

Carried carried(const Team& team) {
    const detail::InCall member(detail::Untyped::member(team));
    return member->wide != nullptr ? member->wide->carried() : Carried{};
}

} // namespace corymb
