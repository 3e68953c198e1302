// SPDX-License-Identifier: Apache-2.0
// Replay on several nodes. Within a node as on one machine; between nodes, messages share the links
// of the two nodes.
#include "plan/matching.hpp"
#include "plan/shape.hpp"
#include "sim/charges.hpp"
#include "sim/makespan.hpp"
#include "sim/shared_copies.hpp"
#include "sim/timed_replay.hpp"

#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corymb {

namespace {

constexpr double without_limit = std::numeric_limits<double>::infinity();

std::size_t at(int number) {
    return static_cast<std::size_t>(number);
}

/// Charges of each rank's machine.
class Nodes {
public:
    Nodes(const Cluster& cluster, std::uint64_t bytes) : kind_(at(cluster.size())) {
        const std::vector<NodePlace> places = cluster.places();
        const std::vector<int> kind_of_node = cluster.kind_of_node();
        for (std::size_t rank = 0; rank < places.size(); ++rank) {
            node_.push_back(places[rank].node);
            kind_[rank] = kind_of_node[at(places[rank].node)];
        }
        seats_.resize(cluster.kinds.size());
        for (std::size_t kind = 0; kind < cluster.kinds.size(); ++kind) {
            for (std::size_t rank = 0; rank < places.size(); ++rank) {
                seats_[kind].push_back(at(kind_[rank]) == kind ? places[rank].pu : 0);
            }
            charges_.emplace_back(cluster.kinds[kind].machine, seats_[kind], bytes);
        }
    }
    [[nodiscard]] const sim::Charges& of(Rank rank) const noexcept {
        return charges_[at(kind_[at(rank)])];
    }
    [[nodiscard]] int node(Rank rank) const noexcept { return node_[at(rank)]; }

private:
    std::vector<int> node_, kind_;
    std::vector<std::vector<int>> seats_; // by kind: PU of each rank
    std::vector<sim::Charges> charges_;
};

/// A plan on the nodes of a cluster, for any number of replays.
class OnNodes {
public:
    OnNodes(const Plan& plan, const Cluster& cluster, std::uint64_t bytes)
        : cluster_((check(plan, cluster, bytes), cluster)), bytes_(bytes), matching_(plan),
          nodes_(cluster, bytes), share_(std::ranges::any_of(cluster.kinds, shares)) {
        for (const int number : cluster.network_of_node()) {
            networks_.push_back(cluster.networks[at(number)]);
        }
    }

    /// Nothing, once that takes longer than `limit_ns`.
    template <class Runs>
    [[nodiscard]] std::optional<Timeline> replay(const Runs& runs, bool with_activities,
                                                 double limit_ns) const {
        sim::SharedCopies copies = shared_copies();
        return sim::TimedReplay(matching_, nodes_, networks_, bytes_, with_activities, runs,
                                copies.matter() ? &copies : nullptr)
            .run(limit_ns);
    }
    [[nodiscard]] sim::Interruptions interruptions(const Noise& noise, std::uint64_t number) const {
        return {noise, matching_.plan().size(), number, 1};
    }

private:
    static bool shares(const NodeKind& kind) { return !kind.machine.shared.empty(); }

    [[nodiscard]] sim::SharedCopies shared_copies() const {
        sim::SharedCopies copies(bytes_, share_ ? matching_.step_count() : 0);
        if (share_) {
            const std::vector<int> kind_of_node = cluster_.kind_of_node();
            for (const NodePlace& place : cluster_.places()) {
                const int kind = kind_of_node[at(place.node)];
                copies.add_rank(cluster_.kinds[at(kind)].machine, place.node, place.pu);
            }
        }
        return copies;
    }

    static void check(const Plan& plan, const Cluster& cluster, std::uint64_t bytes) {
        cluster.check();
        if (plan.size() != cluster.size()) {
            throw Error(Errc::invalid_argument,
                        "the cluster has " + std::to_string(cluster.size()) +
                            " ranks, but the plan " + std::to_string(plan.size()));
        }
        plan::check_shape(plan);
        if (plan.op != Collective::barrier && bytes > plan.bytes_max) {
            throw Error(Errc::invalid_argument, "the payload has " + std::to_string(bytes) +
                                                    " bytes, but the plan is for " +
                                                    std::to_string(plan.bytes_max) + " at most");
        }
    }

    const Cluster& cluster_;
    std::uint64_t bytes_;
    plan::Matching matching_;
    Nodes nodes_;
    std::vector<Network> networks_; // by node
    bool share_;
};

} // namespace

Timeline simulate(const Plan& plan, const Cluster& cluster, std::uint64_t bytes,
                  bool with_activities, const Noise& noise) {
    noise.check();
    const OnNodes ranks(plan, cluster, bytes);
    Timeline timeline =
        noise.present()
            ? *ranks.replay(ranks.interruptions(noise, 0), with_activities, without_limit)
            : *ranks.replay(sim::undisturbed, with_activities, without_limit);
    timeline.simulated_on = cluster.name;
    return timeline;
}

double makespan_within(const Plan& plan, const Cluster& cluster, std::uint64_t bytes,
                       double limit_ns) {
    const auto timeline = OnNodes(plan, cluster, bytes).replay(sim::undisturbed, false, limit_ns);
    return timeline && timeline->makespan <= limit_ns ? timeline->makespan : without_limit;
}

NoisyReplay noisy_replay(const Plan& plan, const Cluster& cluster, std::uint64_t bytes,
                         const Noise& noise) {
    sim::check_present(noise);
    const auto ranks = std::make_shared<const OnNodes>(plan, cluster, bytes);
    return [ranks, &noise](std::uint64_t number) {
        return ranks->replay(ranks->interruptions(noise, number), false, without_limit)->makespan;
    };
}

} // namespace corymb
