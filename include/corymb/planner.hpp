// SPDX-License-Identifier: Apache-2.0
// From a request and a machine model to the best plan of the portfolio.
#pragma once

#include <corymb/machine.hpp>
#include <corymb/plan.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace corymb {

/// The request for a plan. Equal requests on equal models give equal plans on every machine.
struct PlanRequest {
    Collective op = Collective::barrier;
    std::vector<int>
        placement;           ///< placement[rank] = PU index; empty: one rank on every PU, in order.
    Rank root = -1;          ///< -1: the planner's choice.
    std::uint64_t bytes = 8; ///< Bytes of one part (see Plan); ignored for a barrier.
    /// The plan is for parts of any length, and `bytes` is an example that candidates are timed
    /// with: the plan's `bytes_max` is `any_part_bytes`.
    bool any_length = false;
    /// The plan may count on channels of cells with so many slots (Plan::cell_slots). 0: as many as
    /// a team of so many ranks has for its blocking operations.
    std::uint32_t cell_slots = 0;
    /// "best", a name out of `algorithm_names`, or a candidate such as "annealed/pull-8".
    std::string algorithm = "best";
    std::uint64_t seed = 1;
    /// Moves of the annealed search; 0: by size, less than a second of them up to 512 ranks.
    std::uint64_t moves = 0;
    bool ordered = false; ///< Combine in rank order (non-commutative operators).
    /// Combine in an order that depends on nothing but the ranks' numbers and how many there are:
    /// the same for any root, placement, payload and model. No effect where nothing is combined.
    /// A reduce_scatter that keeps parts has an order of its own for each part.
    bool reproducible = false;
    /// Take only plans for parts of different lengths (see `keeps_parts`).
    bool keeps_parts = false;
    bool one_block = false; ///< Take only plans that do not cut the payload into blocks.
    bool pull = true;       ///< Ranks can copy out of each other's buffers.
    bool push = true;       ///< Ranks can write into each other's buffers.
    /// More ranks than usable CPUs: of all plans the one with the least work and turns.
    bool oversubscribed = false;
    int cpus = 1; ///< How many CPUs the ranks take turns on; only when oversubscribed.
};

/// The chosen plan. `predicted` and `lower_bound` are in the model's unit and simulated, not
/// measured.
struct PlanChoice {
    Plan plan;
    std::vector<int> placement; ///< The PU index of each rank that was used.
    std::uint64_t bytes = 0;    ///< Payload that the prediction is for; 0 for a barrier.
    double predicted = 0;
    double lower_bound = 0; ///< Proven: no plan of point-to-point messages is faster in this model.
    std::string bound_kind; ///< "exact", "path", "growth", "two-class", ...; "none" beside 0, as
                            ///< for plans that publish, which the bounds do not cover.
    /// Every candidate and its prediction. A payload above one line has candidates for several
    /// mechanisms and numbers of blocks, as in "annealed/pull-8".
    std::vector<std::pair<std::string, double>> portfolio;
    std::uint64_t seed = 0, moves = 0;
};

/// Plans, simulates and proves the portfolio and returns the fastest (or the named) plan; every
/// plan returned has passed `check_plan`. Deterministic. Throws Errc::unknown_name (algorithm;
/// lists what exists), Errc::invalid_argument (root or placement out of range, duplicates, no PU).
/// Thread-safe. About a second for 256 ranks on one core.
CORYMB_EXPORT PlanChoice make_plan(const Machine& machine, const PlanRequest& request);

/// Names of the algorithms that exist for an operation, in portfolio order.
CORYMB_EXPORT std::vector<std::string> algorithm_names(Collective op);

/// The JSON that `corymb plan --json` writes: the plan's own form plus machine, placement,
/// prediction, bound and portfolio ("corymb-plan/1").
CORYMB_EXPORT std::string to_json(const PlanChoice& choice, const Machine& machine);

} // namespace corymb
