// SPDX-License-Identifier: Apache-2.0
#include "team/lane.hpp"

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "team/team_plans.hpp"

#include <algorithm>
#include <limits>

namespace corymb::detail {

LaneEnd::Program LaneEnd::compile(const team::SharedPlan& shared) {
    auto fabric = shared_->lane(lane_);
    return team::Compiler<team::Env>(fabric, rank_, peers_)
        .compile(shared.plan, shared.number, shared.readers);
}

[[gnu::noinline]] LaneEnd::Program& LaneEnd::find_or_compile(const team::PlanKey& key) {
    Programs& programs = programs_[key];
    if (programs.all.empty() || !counts(*programs.all.back())) {
        ask(key, programs, false);
        CORYMB_ASSERT(!programs.all.empty() && programs.all.back()->calls_left > 0);
        static_cast<void>(counts(*programs.all.back()));
    }
    CORYMB_ASSERT(programs.plan != nullptr);
    CORYMB_ASSERT(programs.all.back()->plan == programs.plan->plan.get());
    last_key_ = key;
    last_ = programs.all.back().get();
    return *last_;
}

void LaneEnd::take_best(const team::PlanKey& key) {
    Programs& programs = programs_[key];
    if (!programs.is_last && programs.turn < TeamPlans::turns_max) {
        ask(key, programs, true);
        planning_ns_ = 0; // No call waits for it.
    }
}

/// Asks which plan the next calls use. The number of calls between questions doubles each time.
void LaneEnd::ask(const team::PlanKey& key, Programs& programs, bool for_best) {
    constexpr unsigned calls_first = 8;
    const auto calls_after = [](unsigned turn) {
        return calls_first << std::min(turn, 20U);
    };
    if (!programs.is_last && programs.turn < TeamPlans::turns_max) {
        const std::int64_t now = now_ns();
        // A first call makes channels and is no example. Calls that overlap have no time of their
        // own: then all that has passed counts.
        const Program* const used = programs.all.empty() ? nullptr : programs.all.back().get();
        const std::int64_t spent = programs.turn < 2 || used == nullptr ? 0
                                   : used->call_ns != 0
                                       ? used->call_ns * calls_after(programs.turn - 1)
                                       : now - programs.asked_ns;
        TeamPlans& plans = *shared_->plans;
        PlanWait wait(*shared_, rank_, deadline_ns_);
        const TeamPlans::Agreed agreed = for_best
                                             ? plans.agree_on_best(lane_, key, programs.turn, wait)
                                             : plans.agree(lane_, key, programs.turn, spent, wait);
        planning_ns_ = wait.spent_ns();
        if (agreed.plan != programs.plan) {
            programs.all.push_back(std::make_unique<Program>(compile(*agreed.plan)));
            programs.all.back()->plan = agreed.plan->plan.get();
            programs.plan = agreed.plan;
        }
        programs.is_last = agreed.is_last;
        programs.asked_ns = now;
        ++programs.turn;
        CORYMB_ASSERT(programs.turn <= TeamPlans::turns_max);
    }
    CORYMB_ASSERT(!programs.all.empty());
    programs.all.back()->calls_left = programs.is_last || programs.turn == TeamPlans::turns_max
                                          ? std::numeric_limits<std::uint32_t>::max()
                                          : calls_after(programs.turn - 1);
}

LaneEnd::Program& LaneEnd::pair_program(const team::PairKey& key) {
    auto& slot = pair_programs_[key];
    if (!slot) {
        Plan plan; // A plan of this rank alone; the peer has the other half.
        plan.block_count = 1;
        plan.steps.resize(static_cast<std::size_t>(rank_) + 1);
        const bool is_send = key.direction == team::Direction::send;
        const bool is_pull = key.via == Mechanism::pull;
        Step data{
            .kind = is_send ? StepKind::send : StepKind::recv, .via = key.via, .peer = key.peer};
        (is_send ? data.from : data.to) = {is_send ? Buffer::input : Buffer::output, 0, 1};
        plan.steps.back().push_back(data);
        if (is_pull) { // The sender's buffer stays until the receiver has copied.
            plan.steps.back().push_back(
                {.kind = is_send ? StepKind::wait : StepKind::signal, .peer = key.peer});
        }
        auto fabric = shared_->lane(lane_);
        slot = std::make_unique<Program>(
            team::Compiler<team::Env>(fabric, rank_, peers_).compile_part(plan, 0, {}));
    }
    return *slot;
}

} // namespace corymb::detail
