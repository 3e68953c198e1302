// SPDX-License-Identifier: Apache-2.0
// What ranks share: copies that slow each other, and words that all change.
#include "../plan_core/sample_plans.hpp"
#include "models.hpp"

#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace corymb;
using namespace corymb::test;

constexpr std::uint64_t payload = 1 << 20;
constexpr double alone = payload * 0.1; // 10 GB/s, in ns

/// Messages cost nothing, so that all copies begin at once. Two PUs a NUMA node, four a package.
Machine machine_with(int size, std::vector<SharedResource> shared) {
    Machine machine = uniform_machine(size, 0, 0);
    for (Pu& pu : machine.topology.pus) {
        pu.numa = pu.l3 = pu.cpu / 2;
        pu.package = pu.cpu / 4;
    }
    machine.shared = std::move(shared);
    return machine;
}

SharedResource copies(Scope scope, double gbs) {
    return {SharedUse::copies_from, scope, DataOrigin::assumed, 0, {1}, {gbs}};
}

/// Each of the first `sources` ranks publishes all; the others read, each from the next source.
Plan readers_of(Rank sources, Rank readers) {
    Plan plan = empty_plan(Collective::broadcast, sources + readers, 1, payload);
    const Blocks all{Buffer::output, 0, 1};
    for (Rank rank = 0; rank < sources; ++rank) {
        plan.steps[static_cast<std::size_t>(rank)] = {
            make_step(StepKind::publish, -1, Mechanism::pull, all)};
    }
    for (Rank rank = 0; rank < readers; ++rank) {
        plan.steps[static_cast<std::size_t>(sources + rank)] = {
            make_step(StepKind::read, rank % sources, Mechanism::pull, {}, all)};
    }
    return plan;
}

double time_of(const Plan& plan, const Machine& machine, std::uint64_t bytes = payload) {
    return simulate(plan, machine, in_order(plan.size()), bytes).makespan;
}

TEST(Shared, ReadersOfOneControllerShareItsRate) {
    for (const double gbs : {5.0, 20.0, 40.0}) {
        for (const Rank readers : {1, 2, 4, 7}) {
            const Machine machine = machine_with(8, {copies(Scope::numa, gbs)});
            const double together = readers * static_cast<double>(payload) / gbs;
            EXPECT_NEAR(time_of(readers_of(1, readers), machine), std::max(alone, together), 1)
                << readers << " readers, " << gbs << " GB/s";
        }
    }
}

TEST(Shared, TwoControllersCarryTwiceAsMuch) {
    const Machine machine = machine_with(8, {copies(Scope::numa, 5)});
    // Ranks 0 and 1 are on the first controller, 2 on the second.
    const double of_one = time_of(readers_of(2, 6), machine);
    EXPECT_NEAR(of_one, 6 * payload / 5.0, 1);
    const std::vector<int> apart{0, 2, 4, 5, 6, 7, 1, 3};
    EXPECT_NEAR(simulate(readers_of(2, 6), machine, apart, payload).makespan, of_one / 2, 1);
}

TEST(Shared, OneBufferIsReadByAllItsReaders) {
    const Machine machine = machine_with(8, {copies(Scope::pu, 10)});
    EXPECT_NEAR(time_of(readers_of(1, 6), machine), 6 * alone, 1);
    EXPECT_NEAR(time_of(readers_of(2, 6), machine), 3 * alone, 1);
}

TEST(Shared, ALinkCarriesOnlyCopiesBetweenItsPackages) {
    const Machine machine = machine_with(
        8, {{SharedUse::copies_between, Scope::package, DataOrigin::assumed, 0, {1}, {2}}});
    EXPECT_NEAR(time_of(readers_of(1, 3), machine), alone, 1) << "all in one package";
    EXPECT_NEAR(time_of(readers_of(1, 7), machine), 4 * payload / 2.0, 1) << "four come across";
    const std::vector<int> both_ways{0, 4, 5, 1};
    EXPECT_NEAR(simulate(readers_of(2, 2), machine, both_ways, payload).makespan, payload / 2.0, 1)
        << "each direction by itself";
}

TEST(Shared, ACurveSaysHowFastSoManyAre) {
    const Machine machine = machine_with(
        8, {{SharedUse::copies_from, Scope::machine, DataOrigin::measured, 0, {1, 3}, {10, 14}}});
    EXPECT_NEAR(time_of(readers_of(1, 1), machine), alone, 1);
    EXPECT_NEAR(time_of(readers_of(1, 2), machine), 2 * payload / 12.0, 1) << "between points";
    EXPECT_NEAR(time_of(readers_of(1, 3), machine), 3 * payload / 14.0, 1);
    EXPECT_NEAR(time_of(readers_of(1, 7), machine), 7 * payload / 14.0, 1) << "behind the last";
}

TEST(Shared, OneAfterTheOtherIsAsWithoutIt) {
    Plan chain = line_broadcast(6);
    chain.bytes_max = payload;
    for (auto& steps : chain.steps) {
        for (Step& step : steps) {
            step.via = step.via == Mechanism::line ? Mechanism::pull : step.via;
        }
    }
    const Machine shared = machine_with(6, {copies(Scope::machine, 10)});
    EXPECT_NEAR(time_of(chain, shared), time_of(chain, machine_with(6, {})), 1);
}

TEST(Shared, WhoComesLateTakesHalfFromThenOn) {
    Machine machine = machine_with(4, {copies(Scope::numa, 10)});
    machine.receive.assign(16, 0);
    machine.send.assign(16, 0);
    machine.receive[2] = static_cast<float>(alone / 2); // From 0 to 2: it begins later by that.
    const Timeline timeline = simulate(readers_of(1, 2), machine, in_order(3), payload);
    EXPECT_NEAR(timeline.finish[1], 1.5 * alone, 1);
    EXPECT_NEAR(timeline.finish[2], 2 * alone, 1);
}

TEST(Shared, OnlyPayloadsThatReachItUseIt) {
    SharedResource memory = copies(Scope::numa, 5);
    memory.from_bytes = payload;
    SharedResource cache = copies(Scope::numa, 20);
    const Machine machine = machine_with(4, {memory, cache});
    EXPECT_NEAR(time_of(readers_of(1, 3), machine), 3 * payload / 5.0, 1);
    EXPECT_NEAR(time_of(readers_of(1, 3), machine, payload / 2), 3 * payload / 2 / 20.0, 1);
    EXPECT_EQ(time_of(readers_of(1, 3), machine, 8),
              time_of(readers_of(1, 3), machine_with(4, {}), 8))
        << "a line is no copy";
}

TEST(Shared, UnknownPartsAreNotShared) {
    Machine machine = machine_with(4, {copies(Scope::numa, 1)});
    for (Pu& pu : machine.topology.pus) {
        pu.numa = -1;
    }
    EXPECT_EQ(time_of(readers_of(1, 3), machine), time_of(readers_of(1, 3), machine_with(4, {})));
}

/// Times of random plans never fall, and are as without where there is enough for all.
TEST(Shared, OfRandomPlansTimesOnlyGrow) {
    Random random(11);
    int cases = 0;
    int slower = 0;
    for (int round = 0; round < 300; ++round) {
        bool ordered = false;
        Plan plan = random_plan(random, ordered);
        try {
            check_plan(plan, ordered);
        } catch (const Error&) {
            continue;
        }
        ++cases;
        Machine machine = random_machine(plan.size(), random);
        const std::uint64_t bytes = std::min<std::uint64_t>(plan.bytes_max, 1 << 16);
        const double without = time_of(plan, machine, bytes);
        machine.shared = {copies(Scope::machine, 1e6)};
        ASSERT_DOUBLE_EQ(time_of(plan, machine, bytes), without);
        machine.shared = {copies(Scope::machine, 3), copies(Scope::pu, 8)};
        const double with = time_of(plan, machine, bytes);
        ASSERT_GE(with, without * (1 - 1e-9));
        ASSERT_EQ(time_of(plan, machine, bytes), with) << "equal every time";
        slower += with > without ? 1 : 0;
    }
    EXPECT_GT(cases, 100);
    EXPECT_GT(slower, 0);
}

TEST(CounterBarrier, TakesWhatItsWordSays) {
    Machine machine = machine_with(
        8, {{SharedUse::word, Scope::machine, DataOrigin::measured, 0, {1, 2, 4}, {20, 100, 300}},
            {SharedUse::word, Scope::numa, DataOrigin::assumed, 0, {2}, {50}}});
    machine.classes.front().send = {7, 7, 7, 1};
    machine.classes.front().receive = {30, 30, 30, 1};
    const CounterBarrier four = counter_barrier(machine, in_order(4));
    EXPECT_DOUBLE_EQ(four.arrival, 300);
    EXPECT_EQ(four.origin, DataOrigin::measured);
    EXPECT_DOUBLE_EQ(four.release, 7 + 2 * 7 + 30) << "pollers get the word one after the other";
    EXPECT_DOUBLE_EQ(counter_barrier(machine, in_order(8)).arrival, 700) << "on with the slope";
    const CounterBarrier two = counter_barrier(machine, in_order(2));
    EXPECT_DOUBLE_EQ(two.arrival, 50) << "the narrowest part that has both";
    EXPECT_EQ(two.origin, DataOrigin::assumed);
    machine.shared_line = {{0, {1, 3}, {30, 40}}};
    EXPECT_DOUBLE_EQ(counter_barrier(machine, in_order(4)).release, 7 + 40);
    EXPECT_DOUBLE_EQ(counter_barrier(machine, in_order(1)).total(), 0);
    EXPECT_THROW(static_cast<void>(counter_barrier(machine, std::vector<int>{0, 9})), Error);
}

TEST(CounterBarrier, IsAssumedWhereNoWordIsKnown) {
    const Machine machine = uniform_machine(5, 7, 30);
    const CounterBarrier barrier = counter_barrier(machine, in_order(5));
    EXPECT_DOUBLE_EQ(barrier.arrival, 4 * 30.0);
    EXPECT_EQ(barrier.origin, DataOrigin::assumed);
}

} // namespace
