// SPDX-License-Identifier: Apache-2.0
// The default plans of a team over several nodes: chosen by simulation on its network.
#include "cluster/default_plans.hpp"
#include "cluster/vector_plan.hpp"
#include "machine/model/networks.hpp"
#include "plan/nodes/scheme.hpp"

#include <corymb/cluster.hpp>
#include <corymb/cluster_planner.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace corymb::cluster {

namespace {

/// Where ranks do not know each other's lengths, plans are those that are best for parts of this
/// one: there messages of small parts are worth putting together, and large ones lose little by it.
constexpr std::uint64_t typical_part_bytes = 2048;

/// The nodes as the model has them; ranks dealt out block by block or in turns, whichever is more
/// like theirs.
Cluster cluster_of(const nodes::Layout& layout, const Networks& networks) {
    Cluster cluster;
    cluster.name = "this job";
    cluster.source = "made up within a node; network as given";
    std::size_t most = 1;
    for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
        const auto ranks = static_cast<int>(layout.nodes[node].size());
        most = std::max(most, layout.nodes[node].size());
        const int network = networks.of_node.empty() ? 0 : networks.of_node[node];
        cluster.runs.push_back({0, 1, ranks, network});
    }
    NodeShape shape;
    shape.cores = static_cast<int>(most);
    cluster.kinds.push_back(NodeKind::of_shape(shape));
    cluster.order = layout.is_block() ? RankOrder::block : RankOrder::cyclic;
    cluster.networks = networks.classes;
    return cluster;
}

/// The best of what was simulated that there is for ranks which are placed in another way.
Plan best_for(const ClusterChoice& choice, const PlanNeed& need, const nodes::Layout& layout,
              bool can_pull) {
    std::vector<std::pair<double, std::string>> ranked;
    for (const auto& [name, time] : choice.portfolio) {
        ranked.emplace_back(time, name);
    }
    std::ranges::sort(ranked);
    for (const auto& [time, name] : ranked) {
        const auto scheme = nodes::scheme_named(name);
        const bool pulls = !scheme || scheme->inside == nodes::Inside::shared;
        if ((pulls && !can_pull) || !scheme ||
            !nodes::applies(need.op, layout, *scheme, need.bytes)) {
            continue;
        }
        Plan plan = nodes::plan_for(need.op, layout, *scheme, need.bytes, need.root);
        try {
            check_plan(plan);
            if (need.keeps_parts) {
                check_vector_plan(plan, layout.node_of_rank);
            }
            return plan;
        } catch (const Error& error) {
            if (error.code() != Errc::invalid_plan) {
                throw;
            }
        }
    }
    throw Error(Errc::unsupported, "no scheme does this placement of ranks");
}

} // namespace

PlanSource default_plans(const ClusterTeamOptions& options, std::function<bool()> pulls) {
    return [nodes = options.node_of_rank, networks = options.networks,
            pulls = std::move(pulls)](const PlanNeed& need) {
        const bool can_pull = pulls();
        const bool in_order = need.op == Collective::scan || need.op == Collective::exscan;
        if (need.ordered && !in_order) {
            throw Error(Errc::unsupported, "plans for several nodes combine in no fixed order, "
                                           "which this operator needs");
        }
        const bool is_any = need.bytes == any_part_bytes;
        ClusterRequest request;
        request.op = need.op;
        request.bytes = is_any ? typical_part_bytes : need.bytes;
        request.root = is_rooted(need.op) ? need.root : 0;
        request.exhaustive = !can_pull || need.keeps_parts; // Not all plans may do.
        const Cluster cluster = cluster_of(nodes::Layout(nodes), networks);
        const nodes::Layout layout(nodes, message_ns_of_nodes(cluster, request.bytes));
        ClusterChoice choice = make_cluster_plan(cluster, request);
        const std::vector<NodePlace> places = cluster.places();
        const bool is_ours =
            std::ranges::equal(places, nodes, std::ranges::equal_to{}, &NodePlace::node);
        return is_ours && can_pull && !need.keeps_parts ? std::move(choice.plan)
                                                        : best_for(choice, need, layout, can_pull);
    };
}

} // namespace corymb::cluster
