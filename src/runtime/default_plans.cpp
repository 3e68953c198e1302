// SPDX-License-Identifier: Apache-2.0
// The default plans of a team: made by the planner on this machine's model.
#include "machine/model/nearness.hpp"
#include "runtime/ground.hpp"
#include "team/addresses.hpp"
#include "team/team_shared.hpp"

#include <corymb/machine.hpp>
#include <corymb/planner.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace corymb::team {

namespace {

/// Annealing moves of a plan that a program waits for: some milliseconds, on large machines a tenth
/// of a second, for a plan within a few per cent of what `corymb plan` finds in a second. Among 3
/// to 8 ranks of all machines of the gallery 20,000 moves found the same in 1,399 of 1,400 cases.
std::uint64_t moves_at_run_time(int ranks, bool crowded) {
    constexpr std::uint64_t moves_most = 20'000;
    constexpr std::uint64_t moves_per_pair = 16;
    const auto size = static_cast<std::uint64_t>(ranks);
    // On a uniform machine the generators have the best shapes, and nothing is found by moving.
    return crowded ? 1 : std::min(moves_most, moves_per_pair * size * size);
}

/// Plans for any length are made for this one. It is longer than a slot of `cells`, so that no plan
/// relies on room for its messages.
constexpr std::uint64_t typical_part_bytes = std::uint64_t{64} << 10;

/// The best algorithm whose messages travel as `mechanism` says, if it is not `far_behind` times as
/// slow as the best one of all; else `otherwise`.
std::string best_through(const std::string& mechanism, double far_behind, const PlanChoice& choice,
                         const std::string& otherwise) {
    std::string best = otherwise;
    double least = far_behind * choice.predicted;
    for (const auto& [name, predicted] : choice.portfolio) {
        if (predicted < least && name.find("/" + mechanism + "-") != std::string::npos) {
            best = name;
            least = predicted;
        }
    }
    return best;
}

/// For parts of any length, where each rank has a CPU and is a process. In a call of a rooted
/// operation each rank sends or receives, so that calls which follow each other overlap, unless a
/// sender waits until its part has been copied out of its memory; the model charges single calls.
/// In an exchange plans by pull send what is short through cells (copied_bytes), all of it before
/// they receive, where those by cells take turns of a few cells.
std::string algorithm_for_any_length(const Machine& machine, const PlanRequest& request) {
    constexpr double far_behind = 2;
    const bool may_copy = request.pull && request.placement.size() <= copying_ranks_most;
    if (!is_rooted(request.op) && !may_copy) {
        return request.algorithm;
    }
    return best_through(is_rooted(request.op) ? "cells" : "pull", far_behind,
                        make_plan(machine, request), request.algorithm);
}

/// The same holds for gathers and scatters of equal parts that the kernel would copy. Measured
/// among two ranks whose cores have a cache together, 1 and 2 MiB: 1.2 to 1.8 times as fast through
/// cells, which the model thinks 1.25 times as slow.
Plan with_calls_that_overlap(PlanChoice choice, const Machine& machine, PlanRequest request) {
    constexpr double far_behind = 1.3;
    const bool has_parts = request.op == Collective::gather || request.op == Collective::scatter;
    if (has_parts && choice.plan.algorithm.find("/pull-") != std::string::npos) {
        request.algorithm = best_through("cells", far_behind, choice, choice.plan.algorithm);
        if (request.algorithm != choice.plan.algorithm) {
            choice = make_plan(machine, request);
        }
    }
    return std::move(choice.plan);
}

/// Behind a broadcast or scatter of 8 B or 1 KiB among 3 to 16 processes on two CPUs it takes
/// together with it 0.7 to 1.1 times as long as all-to-all. That itself takes a tenth to a half
/// within its call: the others find the data when their turn comes. Barriers behind barriers take
/// 1.0 to 1.6 times as long.
constexpr const char* barrier_that_a_root_leaves_first = "star";

/// The ground of a team, found when it is first asked for. Thread-safe.
class GroundWhenNeeded {
public:
    GroundWhenNeeded(std::vector<int> cpu_of_rank, Surroundings where)
        : cpu_of_rank_(std::move(cpu_of_rank)), where_(std::move(where)) {}
    const Ground& get() {
        const std::lock_guard lock(mutex_);
        if (!ground_) {
            ground_ = ground_of(cpu_of_rank_, where_);
        }
        return *ground_;
    }
    /// As DefaultPlans::inside.
    std::shared_ptr<const Machine> inside() {
        const Ground& ground = get();
        const std::lock_guard lock(mutex_);
        if (!inside_ && !ground.crowded) {
            inside_ = std::make_shared<const Machine>(part_of(*ground.machine, ground.placement));
        }
        return inside_;
    }
    [[nodiscard]] const Surroundings& team() const noexcept { return where_; }

private:
    std::mutex mutex_;
    std::vector<int> cpu_of_rank_;
    Surroundings where_;
    std::optional<Ground> ground_;
    std::shared_ptr<const Machine> inside_;
};

} // namespace

DefaultPlans default_plans(const TeamOptions& options, const Surroundings& where) {
    auto known = std::make_shared<GroundWhenNeeded>(options.cpus, where);
    if (where.cpus.empty()) {
        known->get(); // As this thread may, and while no rank waits.
    }
    // Of several processes one makes a plan: the others need no model.
    PlanSource source = [known](const PlanNeed& need) {
        const Ground& ground = known->get();
        const Surroundings& team = known->team();
        const bool is_any = need.bytes == any_part_bytes;
        PlanRequest request;
        request.op = need.op;
        request.placement = ground.placement;
        request.root = is_rooted(need.op) || need.root_first ? need.root : -1;
        request.bytes = is_any ? typical_part_bytes : need.bytes;
        request.moves = moves_at_run_time(team.size, ground.crowded);
        request.ordered = need.ordered;
        request.reproducible = need.reproducible;
        request.keeps_parts = need.keeps_parts;
        request.oversubscribed = ground.crowded;
        request.cpus = team.usable;
        request.pull = team.pull;
        request.push = team.push;
        if (is_any && !ground.crowded && ground.machine->kernel_copy.present()) {
            request.algorithm = algorithm_for_any_length(*ground.machine, request);
        }
        if (need.root_first) {
            request.algorithm = barrier_that_a_root_leaves_first;
        }
        PlanChoice choice = make_plan(*ground.machine, request);
        if (is_any) {
            choice.plan.bytes_max = need.bytes; // The team proves it for that, too.
        } else if (!ground.crowded && team.copies.present()) {
            return with_calls_that_overlap(std::move(choice), *ground.machine, request);
        }
        return std::move(choice.plan);
    };
    return {std::move(source), [known = std::move(known)] {
                return known->inside();
            }};
}

} // namespace corymb::team
