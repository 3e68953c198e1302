// SPDX-License-Identifier: Apache-2.0
// The one search for plans, on one machine and over several nodes: candidates are simulated,
// improved on and compared.
#pragma once

#include "plan/generate/families.hpp"
#include "plan/nodes/scheme.hpp"
#include "sim/makespan.hpp"
#include "tune/variant.hpp"

#include <corymb/planner.hpp>

#include <compare>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace corymb::tune {

/// The time of a candidate that has no plan, or none that can win.
inline constexpr double never = std::numeric_limits<double>::infinity();

/// A way to carry out an operation: a family of algorithms on one machine, or a scheme over several
/// nodes.
struct Candidate {
    const Family* family = nullptr; ///< Null: the scheme counts.
    Variant variant{};              ///< How the payload travels in the family's plan.
    nodes::Scheme scheme{};

    auto operator<=>(const Candidate&) const = default;
};

/// The name of its plan.
[[nodiscard]] std::string name_of(const Candidate& candidate);

/// The model's answer about a plan.
struct Times {
    double time = never; ///< Decides. Includes the turns of ranks that take turns on CPUs.
    /// As if each rank had a CPU. The search goes on where it is less: numbers of turns go up and
    /// down, so that it would stop too early.
    double makespan = never;

    auto operator<=>(const Times&) const = default;
};

/// A candidate that has a plan.
struct Tried : Times {
    Candidate candidate;
    /// Decides among candidates of about equal times, the least first.
    std::pair<double, double> cost{};
};

/// How, and among what, the best plan is looked for.
struct Effort {
    /// Among few families that are fair on most machines, for a call that cannot wait.
    bool plain = false;
    /// A plan through cells is taken if it takes at most so many times as long as the best one.
    double slowdown_through_cells = 1;
    /// Asked before a plan is simulated, as a generator has made it and not proven yet, whether the
    /// caller can use it. Empty: whether it keeps parts, if the request says so.
    std::function<bool(const Plan& plan)> serves{};
    std::stop_token stop{};
};

/// The best plan, and what it was compared with.
struct Found {
    Plan plan; ///< Not proven. Its `algorithm` is the name of the candidate.
    Candidate candidate;
    double predicted = 0;
    std::vector<Tried> tried; ///< In the order of trying.
    std::optional<NoiseCost> noise_cost{};
};

/// Times the candidates that `request.algorithm` names, or for "best" all that can win, and returns
/// the plan of the best. `request` must be `completed`. Deterministic. Throws Errc::unknown_name,
/// Errc::invalid_argument (no candidate has a plan), Errc::invalid_plan (a plan that cannot be
/// simulated, which is a fault of the library). Nothing when it was asked to stop, or when no plain
/// family has a plan.
[[nodiscard]] std::optional<Found> find_plan(const Machine& machine, const PlanRequest& request,
                                             const Effort& effort = {});
/// As on one machine; always among schemes. If the request wants plans that keep parts, a node
/// cannot pass on parts of other nodes, unless all ranks know all lengths: among many ranks only
/// exchanges that never do so are tried.
[[nodiscard]] std::optional<Found> find_plan(const Cluster& cluster, const PlanRequest& request,
                                             const Effort& effort = {});

/// Whether the scheme has a plan for the request among nodes that may be others than the model's.
[[nodiscard]] bool is_for(const PlanRequest& request, const nodes::Layout& layout,
                          const nodes::Scheme& scheme);

class Search;

/// The candidates for a request, and what a model says about them. One machine and several nodes
/// differ in nothing else.
class Candidates {
public:
    Candidates() = default;
    Candidates(const Candidates&) = delete;
    Candidates& operator=(const Candidates&) = delete;
    virtual ~Candidates() = default;

    /// Nothing if there is no such plan, or if it surely takes far longer than `best`.
    [[nodiscard]] virtual std::optional<Plan> plan_of(const Candidate& candidate,
                                                      double best) const = 0;
    /// The times of a plan; `never` if it takes far longer than `best`.
    [[nodiscard]] virtual Times times_of(const Plan& plan, double best) const = 0;
    /// Replays under the request's noise.
    [[nodiscard]] virtual NoisyReplay replay_of(const Plan& plan) const = 0;
    /// Candidates that differ in one thing.
    [[nodiscard]] virtual std::vector<Candidate> neighbours(const Candidate& candidate) const = 0;
    /// Tries what `request.algorithm` names.
    virtual void try_named(Search& search) const = 0;
    /// Tries all that can win.
    virtual void try_best(Search& search) const = 0;

    /// Times within this factor of the best are about equal. Then the cost decides.
    [[nodiscard]] virtual double alike() const { return 1; }
    [[nodiscard]] virtual std::pair<double, double> cost_of(const Candidate& /*candidate*/,
                                                            const Plan& /*plan*/) const {
        return {};
    }
    /// The cost has decided: notes the numbers of that rule.
    virtual void note_cost() const {}
};

/// Keeps what the model has said, and the best plan.
class Search {
public:
    Search(const Candidates& candidates, const PlanRequest& request, const Effort& effort)
        : candidates_(candidates), request_(request), effort_(effort) {}

    /// The search that the request asks for; see find_plan.
    [[nodiscard]] std::optional<Found> run() &&;

    /// Makes the candidate's plan and simulates it, once. The makespan; `never` if it has no plan
    /// that serves.
    double try_one(const Candidate& candidate);
    void try_each(const std::vector<Candidate>& list);
    /// Goes on from the candidate to its neighbours for as long as that helps.
    void improve(Candidate candidate);

    /// In the order of trying.
    [[nodiscard]] const std::vector<Tried>& tried() const noexcept { return tried_; }
    [[nodiscard]] std::vector<Tried> by_makespan() const;
    /// The first of the fastest that were tried. Call only when one was.
    [[nodiscard]] const Tried& fastest() const { return tried_[fastest_]; }

private:
    [[nodiscard]] bool serves(const Plan& plan) const;
    [[noreturn]] void refuse() const;
    [[nodiscard]] const Tried& preferred() const;
    [[nodiscard]] Plan plan_of(const Tried& tried);
    [[nodiscard]] double best() const { return tried_.empty() ? never : fastest().time; }

    const Candidates& candidates_;
    const PlanRequest& request_;
    const Effort& effort_;
    std::map<Candidate, double> known_; ///< Makespans.
    std::vector<Tried> tried_;
    std::size_t fastest_ = 0;
    Plan kept_; ///< The preferred plan, if a family made it, which may have searched for long.
};

} // namespace corymb::tune
