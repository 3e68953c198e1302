// SPDX-License-Identifier: Apache-2.0
// Replays with interruptions whose effect can be written down, and what holds for any.
#include "../plan_core/sample_plans.hpp"
#include "../test_cluster.hpp"
#include "models.hpp"

#include <corymb/error.hpp>
#include <corymb/noise.hpp>
#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace corymb;
using namespace corymb::test;

constexpr double send_cost = 7;
constexpr double receive_cost = 20;
constexpr double hop = send_cost + receive_cost;
constexpr double period = 10'000; // Longer than the plans.

/// Finish times down a line of three ranks, each interrupted once.
std::vector<double> down_a_line(double length, std::vector<double> begins) {
    const Machine machine = uniform_machine(3, send_cost, receive_cost);
    return simulate(line_broadcast(3), machine, in_order(3), 8, false,
                    Noise::periodic(period, length, std::move(begins)))
        .finish;
}

TEST(NoisySimulation, AnInterruptionStretchesTheWorkThatItHits) {
    // Rank 0 has done 3 of its 7 when it is interrupted; the others follow 100 later.
    EXPECT_EQ(down_a_line(100, {3, 5000, 5000}),
              (std::vector<double>{send_cost + 100, hop + send_cost + 100, 2 * hop + 100}));
}

TEST(NoisySimulation, AWaitHidesAnInterruptionThatEndsInIt) {
    EXPECT_EQ(down_a_line(20, {5000, 5000, 5})[2], 2 * hop);
}

TEST(NoisySimulation, AWaitThatEndsInAnInterruptionEndsBehindIt) {
    EXPECT_EQ(down_a_line(100, {5000, 5000, 5})[2], 105 + receive_cost);
}

TEST(NoisySimulation, AnInterruptionBehindTheLastStepDelaysNobody) {
    EXPECT_EQ(down_a_line(100, {7, 34, 54}),
              (std::vector<double>{send_cost, hop + send_cost, 2 * hop}));
}

TEST(NoisySimulation, ActivitiesBeginWhenTheRankRuns) {
    const Machine machine = uniform_machine(3, send_cost, receive_cost);
    const Timeline timeline = simulate(line_broadcast(3), machine, in_order(3), 8, true,
                                       Noise::periodic(period, 100, {5000, 5000, 5}));
    EXPECT_EQ(timeline.ranks[2][0].wait_from, 0);
    EXPECT_EQ(timeline.ranks[2][0].begin, 105);
}

TEST(NoisySimulation, CyclesAreConvertedToTime) {
    Machine machine = uniform_machine(2, send_cost, receive_cost);
    machine.unit = TimeUnit::cycles;
    machine.unit_ns = 0.5;
    // 3 cycles, 1.5 ns, are done; 10 ns are 20 cycles.
    const Timeline timeline = simulate(line_broadcast(2), machine, in_order(2), 8, false,
                                       Noise::periodic(5000, 10, {1.5, 4000}));
    EXPECT_DOUBLE_EQ(timeline.makespan, hop + 20);
}

TEST(NoisySimulation, ARecordingIsRepeatedFromADrawnTime) {
    // One CPU that is interrupted for 50 in each 100: work of 27 takes at most two interruptions
    // more, whatever the time that it begins at.
    NoiseTrace trace;
    trace.cpus = {{0, 100, {{25, 50}}}};
    const Noise noise = Noise::recorded(trace);
    const Machine machine = uniform_machine(2, send_cost, receive_cost);
    const std::vector<double> times =
        noisy_makespans(line_broadcast(2), machine, in_order(2), 8, noise, 200);
    EXPECT_LT(*std::ranges::min_element(times), hop + 30);
    EXPECT_GT(*std::ranges::max_element(times), hop + 50);
    EXPECT_LE(*std::ranges::max_element(times), hop + 200);
}

std::vector<Noise> some_noise() {
    NoiseTrace trace;
    trace.cpus = {{0, 1000, {{0, 10}, {200, 300}}}, {1, 700, {}}, {2, 500, {{499, 1}}}};
    return {Noise::periodic(300, 40),
            Noise::periodic(50, 49, {0, 10}),
            Noise::random(200, 30),
            Noise::random(100, 100, NoiseLengths::constant),
            Noise::random(1000, 10, NoiseLengths::uniform),
            Noise::recorded(trace)};
}

TEST(NoisySimulation, DelaysAndNeverHastens) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Random random(seed);
        bool ordered = false;
        const Plan plan = random_plan(random, ordered);
        const Machine machine = uniform_machine(plan.size(), send_cost, receive_cost);
        const std::vector<int> places = in_order(plan.size());
        const std::uint64_t bytes = plan.bytes_max;
        const Timeline quiet = simulate(plan, machine, places, bytes);
        for (Noise noise : some_noise()) {
            noise.seed = seed;
            const Timeline noisy = simulate(plan, machine, places, bytes, false, noise);
            for (std::size_t rank = 0; rank < quiet.finish.size(); ++rank) {
                EXPECT_GE(noisy.finish[rank], quiet.finish[rank] - 1e-6)
                    << "seed " << seed << ", " << noise.text();
            }
        }
    }
}

TEST(NoisySimulation, DependsOnSeedAndReplayAlone) {
    const Plan plan = dissemination_barrier(16);
    const Machine machine = uniform_machine(16, send_cost, receive_cost);
    for (Noise noise : some_noise()) {
        const auto once = noisy_makespans(plan, machine, in_order(16), 8, noise, 50);
        EXPECT_EQ(once, noisy_makespans(plan, machine, in_order(16), 8, noise, 50));
        EXPECT_EQ(once.front(), simulate(plan, machine, in_order(16), 8, false, noise).makespan);
        const auto* periodic = std::get_if<PeriodicNoise>(&noise.source);
        if (periodic == nullptr || periodic->phases_ns.empty()) {
            noise.seed = 2;
            EXPECT_NE(once, noisy_makespans(plan, machine, in_order(16), 8, noise, 50));
        }
    }
}

TEST(NoisySimulation, AlignedRanksLoseLess) {
    // Interruptions of all ranks at once are one delay; apart from each other they add up.
    const Plan plan = dissemination_barrier(64);
    const Machine machine = uniform_machine(64, send_cost, receive_cost);
    Noise noise = Noise::periodic(1000, 100);
    const auto mean = [&] {
        double sum = 0;
        for (const double time : noisy_makespans(plan, machine, in_order(64), 8, noise, 200)) {
            sum += time / 200;
        }
        return sum;
    };
    const double apart = mean();
    noise.aligned = true;
    EXPECT_LT(mean(), apart - 50);
}

TEST(NoisySimulation, ReachesRanksOnOtherNodes) {
    const Cluster cluster = cluster_of(4, 2);
    PlanRequest request;
    request.op = Collective::barrier;
    const Plan plan = make_plan(cluster, request).plan;
    const Timeline quiet = simulate(plan, cluster);
    // Rank 0 is late by 50 us.
    const std::vector<double> begins{0, 5e8, 5e8, 5e8, 5e8, 5e8, 5e8, 5e8};
    const Timeline noisy = simulate(plan, cluster, 8, false, Noise::periodic(1e9, 50'000, begins));
    for (std::size_t rank = 0; rank < 8; ++rank) {
        EXPECT_GE(noisy.finish[rank], 50'000);
        EXPECT_LE(noisy.finish[rank], 50'000 + quiet.makespan);
    }
    for (const Noise& noise : some_noise()) {
        for (const double time : noisy_makespans(plan, cluster, 8, noise, 20)) {
            EXPECT_GE(time, quiet.makespan - 1e-6);
        }
    }
}

TEST(NoisySimulation, RefusesNoiseThatIsNone) {
    const Machine machine = uniform_machine(2, send_cost, receive_cost);
    EXPECT_THROW((void)noisy_makespans(line_broadcast(2), machine, in_order(2), 8, {}, 3), Error);
    EXPECT_THROW(
        (void)simulate(line_broadcast(2), machine, in_order(2), 8, false, Noise::periodic(10, 10)),
        Error);
}

} // namespace
