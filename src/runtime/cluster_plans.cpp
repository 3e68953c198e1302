// SPDX-License-Identifier: Apache-2.0
// The default plans of a team over several nodes: chosen by simulation on its network.
#include "cluster/default_plans.hpp"
#include "cluster/vector_plan.hpp"
#include "machine/model/networks.hpp"
#include "plan/nodes/scheme.hpp"
#include "plan/places.hpp"
#include "runtime/tuning.hpp"
#include "tune/cluster_layout.hpp"
#include "tune/cluster_work.hpp"
#include "tune/request.hpp"
#include "tune/search.hpp"

#include <corymb/cluster.hpp>
#include <corymb/planner.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb::cluster {

namespace {

/// The nodes as the model has them; ranks dealt out block by block or in turns, whichever is more
/// like theirs.
Cluster cluster_of(const nodes::Layout& layout, const Networks& networks, const Insides& insides) {
    Cluster cluster;
    cluster.name = "this job";
    cluster.source = "nodes and network as given";
    cluster.kinds = insides.kinds;
    const int made_up = static_cast<int>(cluster.kinds.size());
    int most = 0; // Ranks of a node that nothing is known of.
    for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
        const auto ranks = static_cast<int>(layout.nodes[node].size());
        const int network = networks.of_node.empty() ? 0 : networks.of_node[node];
        int kind = insides.of_node.empty() ? -1 : insides.of_node[node];
        if (kind < 0) {
            kind = made_up;
            most = std::max(most, ranks);
        }
        cluster.runs.push_back({kind, 1, ranks, network, {}});
    }
    if (most > 0) {
        NodeShape shape;
        shape.cores = most;
        cluster.kinds.push_back(NodeKind::of_shape(shape));
    }
    cluster.order = layout.is_block() ? RankOrder::block : RankOrder::cyclic;
    cluster.networks = networks.classes;
    return cluster;
}

/// The place of each rank: the PU of its index among its node's ranks.
std::vector<NodePlace> places_of(const nodes::Layout& layout) {
    std::vector<NodePlace> places(layout.node_of_rank.size());
    for (const auto& ranks : layout.nodes) {
        for (std::size_t place = 0; place < ranks.size(); ++place) {
            const auto rank = static_cast<std::size_t>(ranks[place]);
            places[rank] = {layout.node_of_rank[rank], static_cast<int>(place)};
        }
    }
    return places;
}

/// The request for a plan, and the nodes that it is for.
struct Task {
    PlanRequest request;
    const nodes::Layout& layout;
    std::uint64_t bytes; ///< The bytes of `request`, or of a typical part.
    Network network;
};

/// Whether checks of a plan pass.
template <class Checks>
bool is_accepted(const Checks& checks) {
    try {
        checks();
        return true;
    } catch (const Error& error) {
        if (error.code() != Errc::invalid_plan) {
            throw;
        }
        return false;
    }
}

/// The proven plan of a scheme, if there is one for this task.
std::optional<Plan> plan_by(const nodes::Scheme& scheme, const Task& task) {
    const PlanRequest& need = task.request;
    const nodes::Layout& layout = task.layout;
    if (!tune::is_for(need, layout, scheme)) {
        return std::nullopt;
    }
    Plan plan = nodes::plan_for(need.op, layout, scheme, need.bytes, need.root);
    if (need.one_block && plan.block_count > 1) {
        return std::nullopt;
    }
    check_plan(plan, need.ordered);
    const auto keeps_parts_apart = [&] {
        check_vector_plan(plan, layout.node_of_rank);
    };
    return !need.keeps_parts || is_accepted(keeps_parts_apart) ? std::optional(std::move(plan))
                                                               : std::nullopt;
}

using Ranked = std::vector<tune::Tried>;

/// The simulated schemes, the fastest first.
Ranked ranked(const tune::Found& found) {
    Ranked all = found.tried;
    std::ranges::stable_sort(all, {}, &tune::Tried::time);
    return all;
}

/// The best of it that there is for ranks which are placed in another way, or for any length.
std::optional<Plan> best_for(const tune::Found& found, const Task& task) {
    for (const tune::Tried& tried : ranked(found)) {
        if (auto plan = plan_by(tried.candidate.scheme, task)) {
            return plan;
        }
    }
    return std::nullopt;
}

using Kind = std::tuple<nodes::Roles, int, nodes::Exchange, nodes::Inside>;

Kind kind_of(const nodes::Scheme& scheme) {
    return {scheme.roles, scheme.leaders, scheme.exchange, scheme.inside};
}

/// A plan that may be timed.
struct Contender {
    double work_ns;
    Plan plan;
};

/// The scheme with the least work among the schemes of a kind that simulation holds for about as
/// fast as the first of them.
std::optional<Contender> simplest(const Ranked& all, Ranked::const_iterator first,
                                  const Task& task) {
    std::optional<Contender> best;
    for (auto other = first;
         other != all.end() && other->time <= runtime::tuning::about * first->time; ++other) {
        const nodes::Scheme& scheme = other->candidate.scheme;
        if (kind_of(scheme) != kind_of(first->candidate.scheme)) {
            continue;
        }
        if (auto plan = plan_by(scheme, task)) {
            const double work = work_ns(*plan, task.layout.node_of_rank, task.bytes, task.network);
            if (!best || work < best->work_ns) {
                best = {work, *std::move(plan)};
            }
        }
    }
    return best;
}

/// The plans worth timing beside the best one: one of each kind of scheme, unless simulation says
/// that it takes much longer. The order alternates: least work first (the model's errors mostly
/// cost the processors), then the fastest, then the second of both, and so on. The caller leaves
/// out the best plan itself.
std::vector<Plan> contenders(const tune::Found& best, const Task& task) {
    const Ranked all = ranked(best);
    std::set<Kind> kinds;
    std::vector<Contender> found;
    for (auto one = all.begin();
         one != all.end() && one->time <= runtime::tuning::hopeless * best.predicted; ++one) {
        const Kind kind = kind_of(one->candidate.scheme);
        if (!kinds.contains(kind)) {
            if (auto contender = simplest(all, one, task)) {
                kinds.insert(kind);
                found.push_back(*std::move(contender));
            }
        }
    }
    std::vector<std::size_t> by_work(found.size());
    std::iota(by_work.begin(), by_work.end(), std::size_t{0});
    std::ranges::stable_sort(by_work, {}, [&](std::size_t one) { return found[one].work_ns; });
    std::vector<Plan> mixed;
    std::set<std::size_t> taken;
    for (std::size_t place = 0; place < found.size(); ++place) {
        for (const std::size_t next : {by_work[place], place}) {
            if (taken.insert(next).second) {
                mixed.push_back(found[next].plan);
            }
        }
    }
    return mixed;
}

/// The planner of the rank that plans.
class Planner {
public:
    Planner(const ClusterOptions& options, std::function<bool()> pulls)
        : nodes_(options.node_of_rank),
          cluster_(cluster_of(nodes::Layout(nodes_), options.networks, options.insides)),
          places_(places_of(nodes::Layout(nodes_))), pulls_(std::move(pulls)) {}

    Plan operator()(const PlanNeed& need) {
        if (need.alternative > 1) { // Contenders are asked for one after the other.
            const auto place = static_cast<std::size_t>(need.alternative) - 1;
            return place < contenders_.size() ? contenders_[place] : Plan{};
        }
        const bool is_any = need.bytes == any_part_bytes;
        PlanRequest request{need};
        request.pull = pulls_();
        const std::uint64_t bytes =
            is_any ? runtime::tuning::typical_part_bytes.value() : need.bytes;
        const nodes::Layout layout = layout_of(cluster_, places_, bytes);
        const Task task{request, layout, bytes, slowest_network(cluster_)};
        request.size = cluster_.size();
        request.bytes = bytes;
        request.root = is_rooted(need.op) ? need.root : 0;
        // The search may have passed by one that is better in truth, or, where not all plans may
        // do, have begun with few.
        const bool may_miss =
            need.alternative == 1 || need.keeps_parts || need.one_block || !request.pull;
        request.exhaustive = may_miss && nodes_.size() <= runtime::tuning::all_schemes_ranks;
        tune::Found found = find(request);
        if (need.alternative == 1) {
            contenders_ = contenders(found, task);
            return contenders_.empty() ? Plan{} : contenders_.front();
        }
        // If the model's places are not the team's, the plan serves only to find the scheme.
        if (!is_any && cluster_.places() == places_) {
            check_plan(found.plan, need.ordered);
            return std::move(found.plan);
        }
        auto plan = plan_by(found.candidate.scheme, task);
        if (!plan) {
            plan = best_for(found, task);
        }
        if (!plan) {
            request.exhaustive = true;
            plan = best_for(find(request), task);
        }
        if (!plan) {
            throw Error(Errc::unsupported, "no scheme does this placement of ranks");
        }
        return *std::move(plan);
    }

private:
    [[nodiscard]] tune::Found find(const PlanRequest& request) const {
        std::vector<int> where; // Nodes of the ranks in the model.
        std::ranges::transform(cluster_.places(), std::back_inserter(where), &NodePlace::node);
        const auto serves = [&](const Plan& plan) {
            return !request.keeps_parts || is_accepted([&] { check_vector_plan(plan, where); });
        };
        return *tune::find_plan(cluster_, tune::completed(cluster_, request), {.serves = serves});
    }

    std::vector<int> nodes_;
    Cluster cluster_;
    std::vector<NodePlace> places_;
    std::function<bool()> pulls_;
    std::vector<Plan> contenders_; ///< Contenders of the last question.
};

} // namespace

PlanSource default_plans(const ClusterOptions& options, std::function<bool()> pulls) {
    struct Late {
        std::optional<ClusterOptions> options;
        std::function<bool()> pulls;
        std::optional<Planner> planner; ///< Rank 0 alone ever needs one.
    };
    const auto late = std::make_shared<Late>(Late{options, std::move(pulls), {}});
    return [late](const PlanNeed& need) {
        if (!late->planner) {
            late->planner.emplace(*late->options, late->pulls);
            late->options.reset();
        }
        return (*late->planner)(need);
    };
}

} // namespace corymb::cluster
