// SPDX-License-Identifier: Apache-2.0
// How long ranks that take turns on their CPUs need for a plan.
#include "plan/channel_room.hpp"
#include "plan/matching.hpp"
#include "plan/places.hpp"
#include "plan/step_kind.hpp"
#include "tune/tuning.hpp"
#include "tune/turns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

namespace corymb::tune {

namespace {

/// Factor for messages that come through their cells in several turns.
double cost_of_cold_cells(double ranks_per_cpu) {
    const double further = std::max(0.0, ranks_per_cpu - cold_ranks_least);
    return cold_cells * (1 + further / cold_ranks_that_double);
}

/// Whether a message is longer than its channel.
bool comes_in_turns(const Plan& plan, const Step& step, std::uint64_t payload) {
    const Blocks& moved = plan::is_sending(step.kind) ? step.from : step.to;
    return step.via == Mechanism::cells &&
           plan::bytes_of(plan, moved, payload) > plan::cell_ring_bytes(plan.size());
}

/// Bytes of all channels' cells that the plan writes.
std::uint64_t cells_touched(const Plan& plan, std::uint64_t payload) {
    const std::uint64_t most = plan::cell_ring_bytes(plan.size());
    std::uint64_t all = 0;
    std::map<Rank, std::uint64_t> to;
    for (const auto& steps : plan.steps) {
        to.clear();
        for (const Step& step : steps) {
            if (plan::is_sending(step.kind) && step.via == Mechanism::cells) {
                to[step.peer] += plan::bytes_of(plan, step.from, payload);
            }
        }
        for (const auto& [peer, bytes] : to) {
            all += std::min(bytes, most);
        }
    }
    return all;
}

/// Whether a message is copied by the kernel for one rank, out of data that its source has
/// received.
bool is_forwarded(const plan::Matching& matching, plan::StepNumber number) {
    const Step& step = matching.step(number);
    if (step.via != Mechanism::pull || !plan::has_source(step.kind) ||
        is_reduction(matching.plan().op)) {
        return false;
    }
    const plan::StepNumber source = matching.partner(number);
    return matching.step(source).from.buffer != Buffer::input &&
           (matching.step(source).kind != StepKind::publish || matching.readers(source).size() < 2);
}

/// Work of all ranks together.
double work_of(const Plan& plan, const PlanRequest& request, const Timeline& timeline, int cpus) {
    const plan::Matching matching(plan);
    const auto length = [&](Rank rank, std::size_t step) {
        const Activity& activity = timeline.ranks[static_cast<std::size_t>(rank)][step];
        return activity.end - activity.begin;
    };
    // A line that many read comes to each CPU once.
    const double fetched = static_cast<double>(cpus) / static_cast<double>(plan.size());
    const double cold = cost_of_cold_cells(1 / fetched);
    const auto touched = static_cast<double>(cells_touched(plan, request.example_bytes));
    const bool is_uncached = cached_bytes.decides(touched > cached_bytes * cpus);
    const double many = uncached_cells.decides(is_uncached) ? uncached_cells.value() : 1;
    bool has_cold = false;
    bool has_forwarded = false;
    double all = 0;
    for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
        for (const Activity& activity : timeline.ranks[rank]) {
            const Step& step = plan.steps[rank][activity.step];
            const plan::StepNumber number =
                matching.first_step(static_cast<Rank>(rank)) + activity.step;
            const bool is_shared = plan::is_reading(step.kind) && step.via != Mechanism::pull;
            const bool is_cold = !is_shared && comes_in_turns(plan, step, request.example_bytes);
            const bool is_direct = !is_shared && step.via != Mechanism::cells;
            const bool is_passed_on = is_direct && is_forwarded(matching, number);
            has_cold = has_cold || is_cold;
            has_forwarded = has_forwarded || is_passed_on;
            const double factor = is_shared                      ? fetched
                                  : is_cold                      ? cold * many
                                  : step.via == Mechanism::cells ? many
                                  : is_passed_on                 ? forwarded_pull.value()
                                                                 : 1;
            double work = activity.end - activity.begin;
            if (plan::is_sending(step.kind) && step.via == Mechanism::cells) {
                // The activity without its waits for cells; both ends copy an equal number of
                // bytes.
                const plan::StepNumber partner = matching.partner(number);
                work =
                    std::min(work, length(matching.rank_of(partner), matching.index_of(partner)));
            }
            all += work * factor;
        }
    }
    static_cast<void>(forwarded_pull.decides(has_forwarded));
    if (cold_cells.decides(has_cold) && cold_ranks_least.decides(1 / fetched > cold_ranks_least)) {
        cold_ranks_that_double.note();
    }
    return all;
}

/// The plan's waits, in turns.
double waits_of(const Plan& plan, int cpus) {
    const plan::Matching order(plan);
    const double others = std::max(0.0, static_cast<double>(plan.size()) / cpus - 1);
    const double messages = others * messages_in_a_row(order);
    static_cast<void>(turns_of_message.decides(messages > 0));
    return turns_in_a_row(order, cpus) + turns_of_message * messages;
}

} // namespace

double time_in_turns(const Plan& plan, const Machine& machine, const PlanRequest& request,
                     const Timeline& timeline) {
    const int cpus = std::min(request.cpus, static_cast<int>(request.placement.size()));
    const bool has_unit = std::isfinite(machine.unit_ns) && machine.unit_ns > 0;
    turn_ns.note();
    const double turn = turn_ns / (has_unit ? machine.unit_ns : 1);
    const double busy = work_of(plan, request, timeline, cpus) / cpus;
    return std::max(timeline.makespan, busy) + waits_of(plan, cpus) * turn;
}

} // namespace corymb::tune
