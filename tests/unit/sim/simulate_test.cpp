// SPDX-License-Identifier: Apache-2.0
// Plans whose times can be written down.
#include "../plan_core/sample_plans.hpp"
#include "models.hpp"

#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <gtest/gtest.h>

namespace {

using namespace corymb;
using namespace corymb::test;

constexpr double send_cost = 7;
constexpr double receive_cost = 20;
constexpr double default_per_byte = 0.1; // 10 GB/s in nanoseconds

Timeline on_uniform(const Plan& plan, std::uint64_t bytes = 8) {
    const Machine machine = uniform_machine(plan.size(), send_cost, receive_cost);
    return simulate(plan, machine, in_order(plan.size()), bytes);
}

/// 0 sends one message to 1.
Plan one_message(Mechanism via, std::uint64_t bytes, std::uint32_t blocks = 1) {
    Plan plan = empty_plan(Collective::broadcast, 2, blocks, bytes);
    const Blocks all{Buffer::output, 0, blocks};
    plan.steps[0] = {make_step(StepKind::send, 1, via, all)};
    plan.steps[1] = {make_step(StepKind::recv, 0, via, {}, all)};
    if (via == Mechanism::pull) {
        plan.steps[1].push_back(make_step(StepKind::signal, 0));
        plan.steps[0].push_back(make_step(StepKind::wait, 1));
    }
    return plan;
}

TEST(Simulate, LineCostsOneHopAfterTheOther) {
    const Timeline timeline = on_uniform(line_broadcast(6));
    for (std::size_t rank = 1; rank < 5; ++rank) {
        EXPECT_DOUBLE_EQ(timeline.finish[rank], static_cast<double>(rank) * 27 + send_cost);
    }
    EXPECT_DOUBLE_EQ(timeline.finish[5], 5 * 27.0);
    EXPECT_DOUBLE_EQ(timeline.makespan, 5 * 27.0);
    EXPECT_EQ(timeline.simulated_on, "uniform");
}

TEST(Simulate, StarCostsOneSendMoreForEachReceiver) {
    const Timeline timeline = on_uniform(star_broadcast(9));
    for (std::size_t rank = 1; rank < 9; ++rank) {
        EXPECT_DOUBLE_EQ(timeline.finish[rank],
                         static_cast<double>(rank) * send_cost + receive_cost);
    }
    EXPECT_DOUBLE_EQ(timeline.finish[0], 8 * send_cost);
}

TEST(Simulate, DisseminationCostsOneHopARound) {
    for (const Rank size : {2, 4, 5, 8, 33}) {
        int rounds = 0;
        while ((1 << rounds) < size) {
            ++rounds;
        }
        const Timeline timeline = on_uniform(dissemination_barrier(size));
        for (const double finish : timeline.finish) {
            EXPECT_DOUBLE_EQ(finish, rounds * (send_cost + receive_cost));
        }
    }
}

TEST(Simulate, RootOfAFlatBarrierReceivesInTurn) {
    const Timeline timeline = on_uniform(flat_barrier(5));
    const double released = send_cost + 4 * receive_cost + send_cost;
    EXPECT_DOUBLE_EQ(timeline.finish[0], released);
    for (std::size_t rank = 1; rank < 5; ++rank) {
        // Nothing is known of the shared line: readers are served one after the other.
        EXPECT_DOUBLE_EQ(timeline.finish[rank],
                         released + static_cast<double>(rank - 1) * send_cost + receive_cost);
    }
}

TEST(Simulate, OneRankTakesNoTime) {
    EXPECT_DOUBLE_EQ(on_uniform(flat_barrier(1)).makespan, 0);
}

TEST(Simulate, StepOverheadIsPaidByEveryStep) {
    Machine machine = uniform_machine(3, send_cost, receive_cost);
    machine.step_overhead = 2;
    const Timeline timeline = simulate(line_broadcast(3), machine, in_order(3));
    EXPECT_DOUBLE_EQ(timeline.makespan, 2 * 27.0 + 4 * 2.0);
}

TEST(Simulate, CellsAreCopiedOnBothSides) {
    const Timeline timeline = on_uniform(one_message(Mechanism::cells, 8000), 8000);
    const double copying = 8000 * default_per_byte;
    EXPECT_DOUBLE_EQ(timeline.finish[0], send_cost + copying);
    EXPECT_DOUBLE_EQ(timeline.finish[1], send_cost + copying + receive_cost + copying);
}

TEST(Simulate, LongMessagesStreamThroughCells) {
    const std::uint64_t bytes = 10 * cell_bytes;
    const Timeline timeline = on_uniform(one_message(Mechanism::cells, bytes), bytes);
    const double cell = cell_bytes * default_per_byte;
    EXPECT_NEAR(timeline.finish[1], send_cost + receive_cost + 11 * cell, 1e-6);
    EXPECT_NEAR(timeline.finish[0], send_cost + 10 * cell, 1e-6);
}

TEST(Simulate, SenderOfALongMessageWaitsForALateReceiver) {
    const std::uint64_t bytes = 10 * cell_bytes;
    Plan plan = empty_plan(Collective::broadcast, 3, 1, bytes);
    const Blocks all{Buffer::output, 0, 1};
    plan.steps[0] = {make_step(StepKind::send, 1, Mechanism::pull, all),
                     make_step(StepKind::send, 2, Mechanism::cells, all)};
    plan.steps[1] = {make_step(StepKind::recv, 0, Mechanism::pull, {}, all),
                     make_step(StepKind::signal, 2)};
    plan.steps[2] = {make_step(StepKind::wait, 1),
                     make_step(StepKind::recv, 0, Mechanism::cells, {}, all)};
    const Timeline timeline = on_uniform(plan, bytes);
    const double cell = cell_bytes * default_per_byte;
    const double ready = timeline.finish[1] + receive_cost; // rank 2 has seen the signal
    EXPECT_NEAR(timeline.finish[2], ready + receive_cost + 10 * cell, 1e-6);
    // All but what the channel holds must have been taken.
    EXPECT_NEAR(timeline.finish[0], ready + 2 * cell, 1e-6);
}

TEST(Simulate, WhoPutsPaysForTheBytes) {
    Plan plan = empty_plan(Collective::gather, 2, 1, 8000);
    const Blocks mine{Buffer::input, 0, 1};
    plan.steps[0] = {make_step(StepKind::offer, 1, Mechanism::push, {}, {Buffer::output, 1, 1}),
                     make_step(StepKind::wait, 1)};
    plan.steps[1] = {make_step(StepKind::put, 0, Mechanism::push, mine),
                     make_step(StepKind::signal, 0)};
    const Timeline timeline = on_uniform(plan, 8000);
    const double copied = send_cost + receive_cost + 8000 * default_per_byte;
    EXPECT_DOUBLE_EQ(timeline.finish[1], copied + send_cost);
    EXPECT_DOUBLE_EQ(timeline.finish[0], copied + send_cost + receive_cost);
}

TEST(Simulate, PullIsCopiedOnce) {
    const Timeline timeline = on_uniform(one_message(Mechanism::pull, 8000), 8000);
    const double copied = send_cost + receive_cost + 8000 * default_per_byte;
    EXPECT_DOUBLE_EQ(timeline.finish[1], copied + send_cost);
    EXPECT_DOUBLE_EQ(timeline.finish[0], copied + send_cost + receive_cost);
}

TEST(Simulate, PullOutOfAProcessCostsWhatTheKernelTakes) {
    Machine machine = uniform_machine(2, send_cost, receive_cost);
    machine.kernel_copy = {600, 20};
    constexpr std::uint64_t bytes = 256 << 10;
    Plan plan = one_message(Mechanism::pull, bytes);
    const double called = send_cost + receive_cost + 600;
    EXPECT_NEAR(simulate(plan, machine, in_order(2), bytes).finish[1],
                called + bytes / 20.0 + send_cost, 1e-6);
    // What is combined is copied in two pieces first.
    plan.op = Collective::allreduce; // Its output is there on every rank.
    plan.steps[1][0].kind = StepKind::fold;
    plan.steps[1][0].from = plan.steps[1][0].to;
    EXPECT_NEAR(simulate(plan, machine, in_order(2), bytes).finish[1],
                called + 600 + bytes / 20.0 + bytes * default_per_byte + send_cost, 1e-6);
}

TEST(Simulate, BandwidthIsThatOfTheFirstSharedLevelThatFits) {
    Machine machine = uniform_machine(2, send_cost, receive_cost);
    machine.memory = {{.level = "l1", .working_set_bytes = 1 << 15, .copy_gbs = 100},
                      {.level = "l3", .working_set_bytes = 1 << 20, .copy_gbs = 20},
                      {.level = "dram", .working_set_bytes = 1 << 28, .copy_gbs = 5}};
    const auto time_of = [&](std::uint64_t bytes) {
        return simulate(one_message(Mechanism::pull, bytes), machine, in_order(2), bytes)
                   .finish[1] -
               2 * send_cost - receive_cost;
    };
    EXPECT_NEAR(time_of(10000), 10000 / 20.0, 1e-6);
    EXPECT_NEAR(time_of(1 << 24), (1 << 24) / 5.0, 1e-3);
    machine.unit = TimeUnit::cycles;
    machine.unit_ns = 0.5;
    EXPECT_NEAR(time_of(10000), 10000 / 20.0 / 0.5, 1e-6);
}

TEST(Simulate, CopiesBetweenCoresFollowTheTransferCurve) {
    Machine machine = uniform_machine(2, send_cost, receive_cost);
    machine.memory = {{.level = "l3", .working_set_bytes = 1 << 24, .copy_gbs = 4}};
    const auto time_of = [&](std::uint64_t bytes) {
        return simulate(one_message(Mechanism::cells, bytes), machine, in_order(2), bytes)
                   .finish[1] -
               send_cost - receive_cost;
    };
    constexpr int kibi = 1024;
    EXPECT_NEAR(time_of(64 * kibi), 72 * kibi / 4.0, 1e-6) << "a cell more, behind the sender";
    machine.transfer = {
        {.pair_class = 0, .count = {64 * kibi, 1024 * kibi}, .value = {6553.6, 209'715.2}}};
    EXPECT_NEAR(time_of(64 * kibi), 72 * kibi * 0.1, 1e-6);
    EXPECT_NEAR(time_of(1024 * kibi), 1032 * kibi * 0.2, 1e-3);
    EXPECT_NEAR(time_of(256 * kibi), 264 * kibi * 0.15, 1e-3) << "halfway, by the logarithm";
    EXPECT_NEAR(time_of(4096 * kibi), 4104 * kibi * 0.2, 1e-3);
    EXPECT_NEAR(time_of(1000), 2000 * 0.1, 1e-6);
    machine.unit = TimeUnit::cycles;
    machine.unit_ns = 0.5;
    EXPECT_NEAR(time_of(64 * kibi), 72 * kibi * 0.1, 1e-6) << "the curve is in the model's unit";
}

TEST(Simulate, TheSlowestTransferOfThePlacementCounts) {
    constexpr std::uint64_t bytes = 8000;
    Machine machine = uniform_machine(4, send_cost, receive_cost);
    machine.classes.resize(3, machine.classes.front());
    machine.group = {0, 0, 1, 2};
    machine.group_class = {0, 1, 2, 1, -1, 2, 2, 2, -1};
    machine.transfer = {{.pair_class = 0, .count = {65536}, .value = {0.05 * 65536}},
                        {.pair_class = 1, .count = {65536}, .value = {0.2 * 65536}}};
    const auto per_byte = [&](const std::vector<int>& placement) {
        Plan plan = line_broadcast(static_cast<Rank>(placement.size()));
        plan.bytes_max = bytes;
        for (auto& steps : plan.steps) {
            for (Step& step : steps) {
                step.via = Mechanism::cells;
            }
        }
        const double copies = 2.0 * static_cast<double>(placement.size() - 1); // Two a hop.
        return (simulate(plan, machine, placement, bytes).makespan -
                simulate(plan, machine, placement, 8).makespan) /
               (copies * bytes);
    };
    EXPECT_NEAR(per_byte({0, 1}), 0.05, 1e-9);
    EXPECT_NEAR(per_byte({0, 2}), 0.2, 1e-9);
    EXPECT_NEAR(per_byte({0, 1, 2}), 0.2, 1e-9);
    EXPECT_NEAR(per_byte({0, 1, 3}), 0.05, 1e-9) << "one class has no curve";
    EXPECT_NEAR(per_byte({0, 3}), default_per_byte, 1e-9) << "none has a curve";
    EXPECT_NEAR(per_byte({0, 0}), default_per_byte, 1e-9) << "one PU has no pair";
}

TEST(Simulate, CopiesWithinARankAreNotSlowerThanBetweenCores) {
    constexpr std::uint64_t bytes = 10'000;
    Plan plan = empty_plan(Collective::allreduce, 2, 1, bytes);
    for (auto& steps : plan.steps) {
        steps = {make_step(StepKind::copy, -1, Mechanism::none, {Buffer::input, 0, 1},
                           {Buffer::output, 0, 1})};
    }
    Machine machine = uniform_machine(2, send_cost, receive_cost);
    machine.memory = {{.level = "l2", .working_set_bytes = 1 << 20, .copy_gbs = 40}};
    EXPECT_NEAR(simulate(plan, machine, in_order(2), bytes).makespan, bytes / 40.0, 1e-6);
    machine.transfer = {{.pair_class = 0, .count = {65536}, .value = {655.36}}};
    EXPECT_NEAR(simulate(plan, machine, in_order(2), bytes).makespan, bytes / 100.0, 1e-6);
}

TEST(Simulate, WhatAPeerJustWroteTakesTwiceAsLongToPull) {
    constexpr std::uint64_t bytes = 10000;
    Machine machine = uniform_machine(2, send_cost, receive_cost);
    machine.memory = {{.level = "l2", .working_set_bytes = 1 << 18, .copy_gbs = 40},
                      {.level = "l3", .working_set_bytes = 1 << 20, .copy_gbs = 20}};
    Plan plan = empty_plan(Collective::allreduce, 2, 1, bytes);
    const Blocks input{Buffer::input, 0, 1};
    const Blocks output{Buffer::output, 0, 1};
    plan.steps[0] = {make_step(StepKind::send, 1, Mechanism::pull, input),
                     make_step(StepKind::wait, 1)};
    plan.steps[1] = {make_step(StepKind::recv, 0, Mechanism::pull, {}, output),
                     make_step(StepKind::signal, 0)};
    const double resting = simulate(plan, machine, in_order(2), bytes).finish[1];
    // The copy stays within the sender's own cache.
    plan.steps[0].insert(plan.steps[0].begin(),
                         {.kind = StepKind::copy, .to = output, .from = input});
    plan.steps[0][1].from = output;
    EXPECT_NEAR(simulate(plan, machine, in_order(2), bytes).finish[1],
                resting + bytes / 40.0 + bytes / 20.0, 1e-6);
    machine.memory.clear();
    EXPECT_NEAR(simulate(plan, machine, in_order(2), bytes).finish[1] -
                    simulate(plan, machine, in_order(2), 1).finish[1],
                2 * bytes * default_per_byte, 1e-6);
}

/// Fresh bytes take 100 and 0.25 a byte behind the first line; those that were copied take 0.0625
/// a byte longer to write again.
Machine with_fresh_bytes(int size) {
    Machine machine = uniform_machine(size, send_cost, receive_cost);
    machine.fresh = {{.pair_class = 0, .count = {64, 64 + 65536}, .value = {100, 16484}}};
    machine.rewrite = {{.pair_class = 0, .count = {64, 64 + 65536}, .value = {30, 4126}}};
    return machine;
}

/// That many bytes out of a payload of `whole`.
double fresh_copy(double bytes, double whole) {
    return 100 + bytes * 0.25 * (whole - 64) / whole;
}
double rewriting(double bytes, double whole) {
    return bytes * 0.0625 * (whole - 64) / whole;
}

TEST(Simulate, WhatIsLentWasWrittenBeforeAndIsFresh) {
    constexpr double bytes = 10'000;
    Machine machine = with_fresh_bytes(2);
    const auto finish = [&](const Plan& plan) {
        return simulate(plan, machine, in_order(2), plan.bytes_max).finish[1];
    };
    const double expected =
        rewriting(bytes, bytes) + send_cost + receive_cost + fresh_copy(bytes, bytes) + send_cost;
    const Plan plan = one_message(Mechanism::pull, 10'000);
    EXPECT_NEAR(finish(plan), expected, 1e-6);
    machine.memory = {{.level = "l3", .working_set_bytes = 1 << 20, .copy_gbs = 20}};
    machine.transfer = {{.pair_class = 0, .count = {65536}, .value = {3000}}};
    EXPECT_NEAR(finish(plan), expected, 1e-6) << "the streaming rate is something else";
    machine.rewrite.clear();
    EXPECT_NEAR(finish(plan), expected - rewriting(bytes, bytes), 1e-6);
    EXPECT_NEAR(finish(one_message(Mechanism::line, 56)), send_cost + receive_cost, 1e-6)
        << "what fits a line is that line";
}

TEST(Simulate, PiecesOfAPayloadAreChargedByItsLength) {
    constexpr double whole = 40'000;
    const Machine machine = with_fresh_bytes(2);
    Plan plan = one_message(Mechanism::pull, 40'000, 4);
    for (auto& steps : plan.steps) {
        steps.front().from.count = steps.front().from.count == 0 ? 0 : 1;
        steps.front().to.count = steps.front().to.count == 0 ? 0 : 1;
    }
    EXPECT_NEAR(simulate(plan, machine, in_order(2), 40'000).finish[1],
                rewriting(10'000, whole) + send_cost + receive_cost + fresh_copy(10'000, whole) +
                    send_cost,
                1e-6);
}

TEST(Simulate, WhatManyCopyIsWrittenAnewOnceACall) {
    constexpr std::uint64_t bytes = 10'000;
    const Machine machine = with_fresh_bytes(3);
    Plan plan = empty_plan(Collective::broadcast, 3, 1, bytes);
    const Blocks all{Buffer::output, 0, 1};
    const auto add_call = [&] {
        for (const Rank reader : {1, 2}) {
            plan.steps[0].push_back(make_step(StepKind::send, reader, Mechanism::pull, all));
        }
        for (const Rank reader : {1, 2}) {
            plan.steps[0].push_back(make_step(StepKind::wait, reader));
            auto& steps = plan.steps[static_cast<std::size_t>(reader)];
            steps.push_back(make_step(StepKind::recv, 0, Mechanism::pull, {}, all));
            steps.push_back(make_step(StepKind::signal, 0));
        }
    };
    add_call();
    const double once = simulate(plan, machine, in_order(3), bytes).finish[0];
    EXPECT_NEAR(once,
                rewriting(10'000, 10'000) + send_cost + receive_cost + fresh_copy(10'000, 10'000) +
                    send_cost + 2 * receive_cost,
                1e-6);
    add_call();
    EXPECT_NEAR(simulate(plan, machine, in_order(3), bytes).finish[0], 2 * once, 1e-6);
}

TEST(Simulate, CellsAreWrittenAnewAndFetched) {
    constexpr double bytes = 8000; // One cell.
    Machine machine = with_fresh_bytes(2);
    const double own = bytes * default_per_byte;
    const auto finish = [&](std::uint64_t length) {
        return simulate(one_message(Mechanism::cells, length), machine, in_order(2), length)
            .finish[1];
    };
    EXPECT_NEAR(finish(8000),
                send_cost + own + rewriting(bytes, bytes) + receive_cost + fresh_copy(bytes, bytes),
                1e-6);
    // A stream is as fast as the slower end, which begins behind the first cell.
    constexpr double cell = 8192, stream = 65536;
    EXPECT_NEAR(finish(65536),
                send_cost + cell * default_per_byte + rewriting(cell, stream) + receive_cost +
                    fresh_copy(stream, stream),
                1e-6);
    machine.memory = {{.level = "l2", .working_set_bytes = 1 << 20, .copy_gbs = 40}};
    machine.transfer = {{.pair_class = 0, .count = {65536}, .value = {65536}}};
    EXPECT_NEAR(finish(8000), send_cost + 8000 + receive_cost + 8000, 1e-6)
        << "no faster than where messages follow each other";
}

TEST(Simulate, ProcessesTimeTheirCopiesThemselves) {
    Machine machine = with_fresh_bytes(2);
    machine.kernel_copy = {.start_ns = 600, .gbs = 20};
    Machine without = machine;
    without.fresh.clear();
    without.rewrite.clear();
    for (const Mechanism via : {Mechanism::pull, Mechanism::cells}) {
        const Plan plan = one_message(via, 10'000);
        EXPECT_EQ(simulate(plan, machine, in_order(2), 10'000).finish,
                  simulate(plan, without, in_order(2), 10'000).finish);
    }
}

TEST(Simulate, ShorterLastBlockCostsLess) {
    // 25000 bytes in 2 blocks; the second message alone is timed by its difference.
    Plan plan = empty_plan(Collective::broadcast, 2, 2, 12001);
    plan.steps[0] = {make_step(StepKind::send, 1, Mechanism::cells, {Buffer::output, 1, 1})};
    plan.steps[1] = {make_step(StepKind::recv, 0, Mechanism::cells, {}, {Buffer::output, 1, 1})};
    EXPECT_NEAR(on_uniform(plan, 12001).finish[0], send_cost + 6000 * default_per_byte, 1e-6);
}

TEST(Simulate, ReadersOfASharedLineFollowItsCurve) {
    Machine machine = uniform_machine(5, send_cost, receive_cost);
    machine.shared_line = {{.pair_class = 0, .count = {1, 3}, .value = {30, 50}}};
    const Timeline timeline =
        simulate(published_broadcast(5, Mechanism::line, 1), machine, in_order(5));
    EXPECT_DOUBLE_EQ(timeline.finish[0], send_cost);
    for (int place = 1; place <= 4; ++place) {
        EXPECT_DOUBLE_EQ(timeline.finish[static_cast<std::size_t>(place)],
                         send_cost + 20 + 10 * place);
    }
}

TEST(Simulate, AMeetingTakesTheMeasuredTimeFromTheLaterOfTheTwo) {
    Machine machine = uniform_machine(2, send_cost, receive_cost);
    machine.memory = {{"l3", 1 << 20, 20, 20, 20}};
    Plan plan = empty_plan(Collective::allreduce, 2, 1, 8);
    for (const Rank rank : {0, 1}) {
        const Blocks input{Buffer::input, 0, 1};
        plan.steps[static_cast<std::size_t>(rank)] = {
            make_step(StepKind::send, 1 - rank, Mechanism::exchange, input),
            make_step(StepKind::fold, 1 - rank, Mechanism::exchange, input,
                      {Buffer::output, 0, 1})};
    }
    EXPECT_DOUBLE_EQ(simulate(plan, machine, in_order(2), 8).makespan, send_cost + receive_cost);
    machine.exchange = {{.pair_class = 0, .count = {1}, .value = {12}}};
    EXPECT_DOUBLE_EQ(simulate(plan, machine, in_order(2), 8).makespan, 12);
    // Rank 1 is busy with a copy first.
    plan.scratch_blocks = 1;
    plan.bytes_max = 8;
    plan.steps[1].insert(plan.steps[1].begin(),
                         make_step(StepKind::copy, -1, Mechanism::none, {Buffer::input, 0, 1},
                                   {Buffer::scratch, 0, 1}));
    machine.step_overhead = 5;
    EXPECT_DOUBLE_EQ(simulate(plan, machine, in_order(2), 8).makespan, 5 + 5 + 5 + 12);
}

TEST(Simulate, LaterSendsInARowFollowTheBatchCurve) {
    Machine machine = uniform_machine(5, 10, receive_cost);
    machine.fan_out = {{.pair_class = 0, .count = {1, 2, 4}, .value = {20, 30, 46}}};
    const Timeline timeline = simulate(star_broadcast(5), machine, in_order(5));
    // Half the first cost for the second, then 8 / 20 each.
    EXPECT_DOUBLE_EQ(timeline.finish[0], 10 + 5 + 4 + 4);
}

TEST(Simulate, PendingReceivesFollowTheBatchCurve) {
    Machine machine = uniform_machine(4, send_cost, receive_cost);
    machine.receive_batch = {{.pair_class = 0, .count = {1, 3}, .value = {10, 20}}};
    const Timeline timeline = simulate(flat_barrier(4), machine, in_order(4));
    EXPECT_DOUBLE_EQ(timeline.finish[0], send_cost + receive_cost * (1 + 0.5 + 0.5) + send_cost);
}

TEST(Simulate, RefusesWhatCannotBe) {
    const Machine machine = uniform_machine(3, send_cost, receive_cost);
    const auto code_of = [&](const Plan& plan, const std::vector<int>& placement,
                             std::uint64_t bytes) {
        try {
            static_cast<void>(simulate(plan, machine, placement, bytes));
        } catch (const Error& error) {
            return error.code();
        }
        return Errc::io;
    };
    EXPECT_EQ(code_of(line_broadcast(3), {0, 1}, 8), Errc::invalid_argument);
    EXPECT_EQ(code_of(line_broadcast(3), {0, 1, 3}, 8), Errc::invalid_argument);
    EXPECT_EQ(code_of(line_broadcast(3), {0, 1, -1}, 8), Errc::invalid_argument);
    EXPECT_EQ(code_of(line_broadcast(3), {0, 1, 2}, 100), Errc::invalid_argument);
    Plan stuck = empty_plan(Collective::barrier, 3);
    stuck.steps[0] = {make_step(StepKind::wait, 1), make_step(StepKind::signal, 1)};
    stuck.steps[1] = {make_step(StepKind::wait, 0), make_step(StepKind::signal, 0)};
    EXPECT_EQ(code_of(stuck, {0, 1, 2}, 8), Errc::invalid_plan);
}

} // namespace
