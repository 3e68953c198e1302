// SPDX-License-Identifier: Apache-2.0
// From a request and a model of a machine or a cluster to the best plan of the portfolio.
#pragma once

#include <corymb/cluster.hpp>
#include <corymb/machine.hpp>
#include <corymb/noise.hpp>
#include <corymb/plan.hpp>
#include <corymb/plan_need.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corymb {

/// The time that a plan is chosen for.
enum class Objective : std::uint8_t {
    median, ///< The time without noise: rare interruptions leave the median alone.
    p99,    ///< The 99th percentile under PlanRequest::noise.
};
/// "median" or "p99".
CORYMB_EXPORT const char* to_string(Objective objective) noexcept;
/// Throws Errc::unknown_name.
CORYMB_EXPORT Objective objective_from_string(std::string_view name);

/// The request for a plan. Equal requests on equal models give equal plans on every machine.
struct PlanRequest : PlanNeed {
    /// placement[rank] = PU index. Empty: one rank on each of the first `size` PUs, in order. A
    /// cluster has places of its own.
    std::vector<int> placement{};
    /// For parts of any length (`bytes` is `any_part_bytes`): candidates are timed with parts of so
    /// many bytes. 0: 64 KiB, which is longer than a slot of `cells`, so that no plan relies on
    /// room for its messages.
    std::uint64_t example_bytes = 0;
    /// "best", a name out of `algorithm_names` or a candidate such as "annealed/pull-8". For a
    /// cluster "best" or a scheme such as "lanes/4/ring/shared/early" (docs/explain/nodes.md).
    std::string algorithm = "best";
    /// Simulate every candidate, also the families that are only compared with. On a cluster:
    /// every scheme with every number of leaders, instead of searching among them.
    bool exhaustive = false;
    std::uint64_t seed = 1; ///< Seed of the annealed search.
    /// Moves of the annealed search; 0: by size, less than a second of them up to 512 ranks.
    std::uint64_t moves = 0;
    bool pull = true; ///< Ranks (of a node) can copy out of each other's buffers.
    bool push = true; ///< Ranks can write into each other's buffers.
    /// More ranks than usable CPUs: of all plans the one with the least work and turns. Not on a
    /// cluster.
    bool oversubscribed = false;
    int cpus = 1; ///< How many CPUs the ranks take turns on; only when oversubscribed.
    /// On a cluster: prove the plan, of at most 65,536 ranks. Without the proof there may be
    /// 1,048,576 ranks, and a plan for tens of thousands is made in seconds; its generators are
    /// proven for fewer. Plans on one machine are always proven.
    bool proven = true;
    /// Candidates come from the same search either way. For `p99` those are replayed under `noise`
    /// that take less time without it than the best 99th percentile so far.
    Objective objective = Objective::median;
    /// What interrupts the ranks. Needed for `p99`; beside `median` the choice's times under it are
    /// told.
    Noise noise{};
    /// Replays of each plan under `noise`, all with the same interruptions: 100 to 1,000,000. In
    /// 1,000 of them ten take longer than the 99th percentile.
    std::uint32_t replays = 1000;
};

/// A number that no model gives. Its rule excluded or changed something when a plan was looked for.
struct DecidingNumber {
    std::string name; ///< As in docs/results/ablation.md, which says what it is worth.
    double value = 0; ///< In the unit that the name says; else a count or a factor.
    /// How it was found: "reasoned", "simulated on the gallery" or "measured".
    std::string origin;
};

/// A plan's times in the model's unit, of which two are percentiles of replays under noise.
struct NoisyTimes {
    std::string algorithm;
    double quiet = 0; ///< Without noise.
    double median = 0;
    double p99 = 0;

    bool operator==(const NoisyTimes&) const = default;
};

/// The cost of a choice under noise.
struct NoiseCost {
    NoisyTimes chosen;
    NoisyTimes fastest; ///< The plan for Objective::median; maybe the chosen one.
};

/// The chosen plan. `predicted` is in the model's unit (ns on a cluster) and simulated, not
/// measured.
struct PlanChoice {
    Plan plan;
    /// The request, with everything filled in that it left to the planner, but the root: that is
    /// the plan's. On a cluster without a placement.
    PlanRequest request;
    /// For a payload of `request.example_bytes`. For ranks that take turns on CPUs it includes the
    /// turns, as do the times of the portfolio.
    double predicted = 0;
    /// Every candidate that was simulated, and its prediction, in the order of trying. A payload
    /// above one line has candidates for several mechanisms and numbers of blocks, as in
    /// "annealed/pull-8". On a cluster, unless the request is exhaustive, without schemes that
    /// surely take half as long again as another.
    std::vector<std::pair<std::string, double>> portfolio;
    /// With PlanRequest::noise only.
    std::optional<NoiseCost> noise_cost;
    /// The numbers that decided, each once. All else follows from the model.
    std::vector<DecidingNumber> decided;
};

/// Plans, simulates and proves the portfolio and returns the fastest (or the named) plan; every
/// plan returned has passed `check_plan`. Deterministic. Throws Errc::unknown_name (algorithm;
/// lists what exists), Errc::invalid_argument (root or placement out of range, duplicates, no PU,
/// an objective without noise). Thread-safe. About a second for 256 ranks on one core; for p99
/// also `replays` simulations of each candidate that may win.
CORYMB_EXPORT PlanChoice make_plan(const Machine& machine, const PlanRequest& request);

/// The plan for all ranks of a cluster: simulates schemes and returns the fastest (or the named)
/// one, proven unless that is not wanted. Deterministic; thread-safe. Throws Errc::invalid_argument
/// (no plan for this operation or root, a payload that is too large, the scheme does not do this, a
/// request for a placement, for turns on CPUs or for reproducible sums), Errc::unknown_name (no
/// such scheme), Errc::invalid_model.
CORYMB_EXPORT PlanChoice make_plan(const Cluster& cluster, const PlanRequest& request);

/// A time that no plan of point-to-point messages for a request beats in the model.
struct LowerBound {
    double value = 0; ///< In the model's unit.
    /// "exact", "path", "growth", "two-class", ...; "none" beside 0, as for plans that publish,
    /// which the bounds do not cover.
    std::string kind = "none";
};

/// The lower bound for the request of a choice on one machine. Takes about as long as a search.
/// Thread-safe.
CORYMB_EXPORT LowerBound lower_bound(const PlanChoice& choice, const Machine& machine);

/// Names of the algorithms that exist for an operation, in portfolio order.
CORYMB_EXPORT std::vector<std::string> algorithm_names(Collective op);

/// Names of the schemes for a request on a cluster, with every number of leaders.
CORYMB_EXPORT std::vector<std::string> scheme_names(const Cluster& cluster,
                                                    const PlanRequest& request);

/// The number of leaders a node that the closed form of docs/explain/nodes.md recommends for an
/// exchange by lanes, `ring` or recursive doubling, among nodes of `ranks` ranks: 1 to `ranks`.
CORYMB_EXPORT int leaders_by_formula(const Network& network, int nodes, int ranks,
                                     std::uint64_t bytes, bool ring);

/// The JSON that `corymb plan --json` writes: the plan's own form plus machine, placement,
/// prediction, lower bound and portfolio ("corymb-plan/1").
CORYMB_EXPORT std::string to_json(const PlanChoice& choice, const Machine& machine);

/// The plan's own JSON form plus cluster, prediction and portfolio.
CORYMB_EXPORT std::string to_json(const PlanChoice& choice, const Cluster& cluster);

} // namespace corymb
