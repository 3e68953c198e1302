// SPDX-License-Identifier: Apache-2.0
// How long ranks that take turns on their CPUs need for a plan. Where nothing else is said, numbers
// are measured with a barrier behind each operation, among processes on the two CPUs of a virtual
// machine.
#include "plan/channel_room.hpp"
#include "plan/matching.hpp"
#include "plan/places.hpp"
#include "plan/step_kind.hpp"
#include "tune/messages_in_a_row.hpp"
#include "tune/portfolio.hpp"
#include "tune/turns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

namespace corymb::tune {

namespace {

/// Time to yield to a teammate and for the teammate to find its word. Measured on one CPU of a
/// virtual machine: 690-760 ns between threads, 750-840 between processes.
constexpr double turn_ns = 700;

/// Delay of a message in a chain, in rounds of turns for each rank that shares the CPU. A rank sees
/// an awaited message only so many rounds later. Measured among 3, 4, 6, 8, 12 and 16 processes on
/// two CPUs, broadcast, gather and reduce of 2 KiB along a chain and through a star: each further
/// message in a row takes 2, 3, 7, 10, 17 and 28 us. So binomial trees among 8 take twice as long
/// as stars. Among threads the delay is half of that, and trees still take twice as long.
constexpr double turns_of_message = 5;

/// Factor for a message that comes through its cells in several turns: other ranks have had the
/// caches in between. Measured among 4 and 8 processes, 512 KiB and 1 MiB, for each byte beside
/// shorter messages: 1.2 to 1.7 times as long; reductions, which write less, 1.1 to 1.3.
constexpr double cold_cells = 1.5;
constexpr double cold_cells_of_reduction = 1.3;

/// Factor for messages that come in turns: the more ranks share a CPU, the longer until the other
/// end has its turn. Measured for a reduce_scatter of 32 and 64 KiB parts among 16, 24 and 32
/// processes on two CPUs, whose messages of half the ranks' parts come in up to 16 turns by
/// `canonical`: 1.5 to 2.5 times as long as by `ring`, whose messages the channels hold.
double cost_of_cold_cells(Collective op, double ranks_per_cpu) {
    constexpr double measured_for = 4; // Ranks a CPU.
    constexpr double further = 12;     // Further ranks a CPU that double the factor.
    const double grown = 1 + std::max(0.0, ranks_per_cpu - measured_for) / further;
    return (is_reduction(op) ? cold_cells_of_reduction : cold_cells) * grown;
}

/// Factor for cells when an operation touches more of them than `many_cells`, in bytes of all
/// channels. Measured for alltoall and reduce_scatter among 4 and 8 processes on two CPUs with 32
/// MB of cache together, beside plans with fewer channels or copies by the kernel: up to 3.5 MiB no
/// longer, from 6 MiB on 1.2 to 1.5 times as long.
constexpr std::uint64_t many_cells = std::uint64_t{5} << 20;
constexpr double cost_of_many_cells = 1.45;

/// Factor for a copy by the kernel out of a copy that only one rank reads: it is not in a cache,
/// while an input that all ranks read stays there. Measured for an allgather among 8 processes on
/// two CPUs, in log2 n rounds instead of directly: parts of 512 KiB take 1.06 times as long, parts
/// of 1 MiB 1.66; among 4 ranks parts of 1 and 2 MiB 1.2.
constexpr double forwarded_pull = 1.2;

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
    const double cold = cost_of_cold_cells(plan.op, 1 / fetched);
    const double many =
        cells_touched(plan, request.example_bytes) > many_cells ? cost_of_many_cells : 1;
    double all = 0;
    for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
        for (const Activity& activity : timeline.ranks[rank]) {
            const Step& step = plan.steps[rank][activity.step];
            const plan::StepNumber number =
                matching.first_step(static_cast<Rank>(rank)) + activity.step;
            const bool is_shared = plan::is_reading(step.kind) && step.via != Mechanism::pull;
            const double factor = is_shared                                           ? fetched
                                  : comes_in_turns(plan, step, request.example_bytes) ? cold * many
                                  : step.via == Mechanism::cells                      ? many
                                  : is_forwarded(matching, number) ? forwarded_pull
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
    return all;
}

/// The plan's waits, in turns.
double waits_of(const Plan& plan, int cpus) {
    const plan::Matching order(plan);
    const double others = std::max(0.0, static_cast<double>(plan.size()) / cpus - 1);
    return turns_in_a_row(order, cpus) + turns_of_message * others * messages_in_a_row(order);
}

} // namespace

double time_in_turns(const Plan& plan, const Machine& machine, const PlanRequest& request,
                     const Timeline& timeline) {
    const int cpus = std::min(request.cpus, static_cast<int>(request.placement.size()));
    const bool has_unit = std::isfinite(machine.unit_ns) && machine.unit_ns > 0;
    const double turn = turn_ns / (has_unit ? machine.unit_ns : 1);
    const double busy = work_of(plan, request, timeline, cpus) / cpus;
    return std::max(timeline.makespan, busy) + waits_of(plan, cpus) * turn;
}

} // namespace corymb::tune
