// SPDX-License-Identifier: Apache-2.0
// The default plans of a team: made by the planner on this machine's model.
#include "base/sha256.hpp"
#include "machine/model/nearness.hpp"
#include "plan/alike_ranks.hpp"
#include "runtime/ground.hpp"
#include "runtime/plan_cache.hpp"
#include "runtime/tuning.hpp"
#include "team/faster_way.hpp"
#include "team/team_shared.hpp"
#include "tune/request.hpp"
#include "tune/search.hpp"

#include <corymb/discover.hpp>
#include <corymb/error.hpp>
#include <corymb/machine.hpp>
#include <corymb/noise.hpp>
#include <corymb/planner.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

namespace corymb::team {

namespace {

std::uint64_t moves_at_run_time(int ranks, bool crowded) {
    const auto size = static_cast<std::uint64_t>(ranks);
    const std::uint64_t moves_most = runtime::tuning::moves_most;
    // On a uniform machine the generators have the best shapes, and nothing is found by moving.
    return crowded ? 1 : std::min(moves_most, runtime::tuning::moves_of_pair * size * size);
}

/// How much longer a plan through cells may take than the best one, by the model, and is taken all
/// the same. The model charges single calls. In a rooted operation each rank only sends or only
/// receives, so calls that follow each other overlap, unless a sender waits until its part has been
/// copied out of its memory.
double slowdown_through_cells(const Ground& ground, const Surroundings& team,
                              const PlanNeed& need) {
    if (ground.crowded || !is_rooted(need.op)) {
        return 1;
    }
    if (need.bytes == any_part_bytes) {
        return ground.machine->kernel_copy.present() ? runtime::tuning::overlap_of_any.value() : 1;
    }
    return has_parts(need.op) && team.copies.present() ? runtime::tuning::overlap_of_equal.value()
                                                       : 1;
}

/// Pairs of ranks that take turns on CPUs all cost the same, so that all ranks are alike. Turned
/// around a ring, ranks that were neighbours stay neighbours.
std::optional<plan::Likeness> turned(Rank rank, int size) {
    if (rank == 0) {
        return std::nullopt;
    }
    plan::Likeness likeness;
    for (Rank from = 0; from < size; ++from) {
        likeness.rank_of.push_back((from + rank) % size);
    }
    return likeness;
}

/// What the plans of a search are chosen for.
struct Aim {
    Objective objective = Objective::median;
    Noise noise;        ///< Invariant: present if the objective needs it.
    std::string digest; ///< SHA-256 of the noise.
};

/// The ground of a team, found when it is first asked for. Thread-safe.
class GroundWhenNeeded {
public:
    GroundWhenNeeded(std::vector<int> cpu_of_rank, std::string levels, Aim aim, Surroundings where)
        : cpu_of_rank_(std::move(cpu_of_rank)), levels_(std::move(levels)), aim_(std::move(aim)),
          where_(std::move(where)) {}
    const Ground& get() {
        const std::lock_guard lock(mutex_);
        if (!ground_) {
            ground_ = ground_of(cpu_of_rank_, levels_, where_);
        }
        return *ground_;
    }
    /// See DefaultPlans::inside.
    std::shared_ptr<const Machine> inside() {
        const Ground& ground = get();
        const std::lock_guard lock(mutex_);
        if (!inside_ && !ground.crowded) {
            inside_ = std::make_shared<const Machine>(part_of(*ground.machine, ground.placement));
        }
        return inside_;
    }
    /// See DefaultPlans::alike.
    std::optional<plan::Likeness> alike(Rank rank) {
        const Ground& ground = get();
        if (ground.placement.empty()) {
            return turned(rank, where_.size);
        }
        const std::lock_guard lock(mutex_);
        if (!alike_) {
            alike_.emplace(*ground.machine, ground.placement);
        }
        return alike_->of(rank);
    }
    /// The digest of the model that the team is on.
    std::string digest() {
        const Ground& ground = get();
        const std::lock_guard lock(mutex_);
        if (digest_.empty()) {
            digest_ = digest_of(*ground.base);
        }
        return digest_;
    }
    const PlanCache& cache() {
        const std::lock_guard lock(mutex_);
        if (!cache_) {
            cache_ = PlanCache::of_user();
        }
        return *cache_;
    }
    [[nodiscard]] const Surroundings& team() const noexcept { return where_; }
    [[nodiscard]] const Aim& aim() const noexcept { return aim_; }

private:
    std::mutex mutex_;
    std::vector<int> cpu_of_rank_;
    std::string levels_;
    const Aim aim_;
    Surroundings where_;
    std::optional<Ground> ground_;
    std::shared_ptr<const Machine> inside_;
    std::optional<plan::AlikeRanks> alike_;
    std::string digest_;
    std::optional<PlanCache> cache_;
};

PlanRequest request_of(const Ground& ground, const Surroundings& team, const PlanNeed& need) {
    PlanRequest request{need};
    request.root = is_rooted(need.op) || need.root_first ? need.root : -1;
    request.placement = ground.placement;
    request.moves = moves_at_run_time(team.size, ground.crowded);
    request.oversubscribed = ground.crowded;
    request.cpus = team.usable;
    request.pull = team.pull;
    request.push = team.push;
    return request;
}

/// The simulator interrupts no ranks that take turns on CPUs.
bool aims_at_tail(GroundWhenNeeded& known) {
    return known.aim().objective == Objective::p99 && !known.get().crowded;
}

/// Nothing when the search is asked to stop, or no plain family has a plan.
std::optional<plan::ProvenPlan> plan_on(GroundWhenNeeded& known, const PlanNeed& need,
                                        tune::Effort effort) {
    const Ground& ground = known.get();
    const Surroundings& team = known.team();
    PlanRequest request = request_of(ground, team, need);
    if (const Aim& aim = known.aim(); aims_at_tail(known) && !effort.plain) {
        request.objective = aim.objective;
        request.noise = aim.noise;
        request.replays = runtime::tuning::replays;
        runtime::tuning::replays.note();
    }
    if (effort.plain) {
        request.moves = 1; // One move also admits families that number ranks for the machine.
    }
    effort.slowdown_through_cells = slowdown_through_cells(ground, team, need);
    request = tune::completed(*ground.machine, request);
    auto found = tune::find_plan(*ground.machine, request, effort);
    return found ? std::optional<plan::ProvenPlan>(std::in_place, std::move(found->plan),
                                                   request.ordered)
                 : std::nullopt;
}

std::string way_of(const Surroundings& team) {
    switch (faster_way(team.copies, team.cells_gbs)) {
    case FasterWay::cells: return ", cells are faster";
    case FasterWay::kernel: return ", the kernel is faster";
    default: return "";
    }
}

/// Under which the best plan is kept for later processes.
std::string kept_under(GroundWhenNeeded& known, const PlanNeed& need) {
    const Surroundings& team = known.team();
    const Ground& ground = known.get();
    return planner_name() + ", on " + known.digest() + ": " +
           key_of(request_of(ground, team, need)) + (team.copies.present() ? ", processes" : "") +
           way_of(team) + (aims_at_tail(known) ? ", p99 under " + known.aim().digest : "");
}

std::optional<plan::ProvenPlan> searched(GroundWhenNeeded& known, const PlanNeed& need,
                                         const std::stop_token& stop) {
    auto plan = plan_on(known, need, {.stop = stop});
    if (plan) {
        known.cache().keep(kept_under(known, need), **plan);
    }
    return plan;
}

/// Between two ranks nearly all families have the same plans: a search takes no longer.
constexpr int few_ranks = 2;

FairPlan fair_plan_on(GroundWhenNeeded& known, const PlanNeed& need) {
    if (need.size > few_ranks && !need.root_first) {
        if (auto kept = known.cache().find(kept_under(known, need), need.ordered)) {
            return {*std::move(kept), true};
        }
        if (auto plan = plan_on(known, need, {.plain = true})) {
            return {*std::move(plan), false};
        }
    }
    return {*plan_on(known, need, {}), true};
}

/// An option, or else a variable of the environment.
std::string given(const std::string& option, const char* variable) {
    const char* const otherwise = option.empty() ? std::getenv(variable) : nullptr;
    return otherwise != nullptr ? otherwise : option;
}

Aim aim_of(const TeamOptions& options) {
    const std::string name = given(options.objective, "CORYMB_OBJECTIVE");
    Aim aim{name.empty() ? Objective::median : objective_from_string(name), {}, {}};
    if (aim.objective == Objective::p99) {
        const auto file = cached_noise_path();
        std::error_code failed;
        if (!std::filesystem::exists(file, failed)) {
            throw Error(Errc::io, "the objective p99 needs the noise of this machine, and there is "
                                  "no '" +
                                      file.string() + "'; record it with corymb doctor --noise");
        }
        NoiseTrace trace = load_noise_trace(file);
        aim.digest = sha256_hex(to_json(trace));
        aim.noise = Noise::recorded(std::move(trace));
    }
    return aim;
}

} // namespace

DefaultPlans default_plans(const TeamOptions& options, const Surroundings& where) {
    auto known = std::make_shared<GroundWhenNeeded>(
        options.cpus, given(options.levels, "CORYMB_LEVELS"), aim_of(options), where);
    if (where.cpus.empty()) {
        known->get(); // Measured with this thread's CPUs, and while no rank waits.
    }
    // One process of several makes a plan: the others need no model.
    return {.inside = [known] { return known->inside(); },
            .search = [known](const PlanNeed& need,
                              const std::stop_token& stop) { return searched(*known, need, stop); },
            .fair = [known](const PlanNeed& need) { return fair_plan_on(*known, need); },
            .times_as_long = runtime::tuning::search_beside_fair,
            .alike =
                [known](Rank root) {
                    return known->alike(root);
                }};
}

} // namespace corymb::team
