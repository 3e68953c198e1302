// SPDX-License-Identifier: Apache-2.0
// From a request and a cluster to the best plan for ranks on several nodes.
#pragma once

#include <corymb/cluster.hpp>
#include <corymb/plan.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace corymb {

/// The request for a plan for all ranks of a cluster.
struct ClusterRequest {
    Collective op = Collective::allgather;
    std::uint64_t bytes = 8; ///< Bytes of one part (see Plan); ignored for a barrier.
    Rank root = 0;           ///< For broadcast and reduce.
    /// "best", or a scheme such as "lanes/4/ring/shared/early" (docs/cluster.md).
    std::string algorithm = "best";
    /// Simulate every scheme with every number of leaders instead of searching among them.
    bool exhaustive = false;
    /// Prove the plan, of at most 65,536 ranks. Without the proof there may be 1,048,576 ranks, and
    /// a plan for tens of thousands is made in seconds; its generators are proven for fewer.
    bool proven = true;
    bool ordered = false; ///< Combine in rank order (non-commutative operators).
};

/// The chosen plan; times are ns in the model and simulated, not measured.
struct ClusterChoice {
    Plan plan;
    std::uint64_t bytes = 0;
    double predicted = 0;
    /// Every scheme that was simulated, in the order of trying; unless the request is exhaustive,
    /// none that surely takes three times as long as another.
    std::vector<std::pair<std::string, double>> portfolio;
};

/// Simulates schemes on the cluster and returns the fastest (or the named) plan, proven unless that
/// is not wanted. Deterministic; thread-safe. Throws Errc::invalid_argument (no plan for this
/// operation or root, a payload that is too large, the scheme does not do this), Errc::unknown_name
/// (no such scheme), Errc::invalid_model.
CORYMB_EXPORT ClusterChoice make_cluster_plan(const Cluster& cluster,
                                              const ClusterRequest& request);

/// Names of the schemes for an operation on a cluster, every number of leaders.
CORYMB_EXPORT std::vector<std::string> scheme_names(const Cluster& cluster,
                                                    const ClusterRequest& request);

/// The number of leaders a node that the closed form of docs/cluster.md recommends for an exchange
/// by lanes, `ring` or recursive doubling, among nodes of `ranks` ranks: 1 to `ranks`.
CORYMB_EXPORT int leaders_by_formula(const Network& network, int nodes, int ranks,
                                     std::uint64_t bytes, bool ring);

/// The plan's own JSON form plus cluster, prediction
/// and portfolio.
CORYMB_EXPORT std::string to_json(const ClusterChoice& choice, const Cluster& cluster);

} // namespace corymb
