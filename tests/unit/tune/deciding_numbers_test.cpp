// SPDX-License-Identifier: Apache-2.0
// The numbers that decide about plans, as PlanChoice::decided tells them.
#include <corymb/planner.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace corymb {
namespace {

constexpr std::array machines{"epyc-9654-2s-192c", "epyc-7742-2s-256t",
                              "sparc-4s-256t-mctop-cycles"};

PlanChoice choice_of(const Machine& machine, Collective op, std::uint64_t bytes, int ranks,
                     const std::string& algorithm = "best") {
    PlanRequest request;
    request.op = op;
    request.bytes = bytes;
    request.root = is_rooted(op) ? 0 : -1;
    request.moves = 1;
    request.algorithm = algorithm;
    for (int rank = 0; rank < ranks; ++rank) {
        request.placement.push_back(rank * machine.size() / ranks);
    }
    return make_plan(machine, request);
}

bool has_decided(const PlanChoice& choice, std::string_view name) {
    return std::ranges::count(choice.decided, name, &DecidingNumber::name) == 1;
}

TEST(DecidingNumbers, AreThoseWhoseRulesExcludedOrChangedSomething) {
    const Machine machine = gallery_machine(machines[0]);
    const char* const bruck = "plan/families/bruck_bytes_most";
    EXPECT_FALSE(has_decided(choice_of(machine, Collective::allgather, 2048, 8), bruck));
    EXPECT_TRUE(has_decided(choice_of(machine, Collective::allgather, 4096, 8), bruck));
    EXPECT_FALSE(has_decided(choice_of(machine, Collective::broadcast, 4096, 8), bruck));
    const char* const block = "tune/blocks/bytes_least";
    EXPECT_FALSE(has_decided(choice_of(machine, Collective::broadcast, 8, 8), block));
    EXPECT_TRUE(has_decided(choice_of(machine, Collective::broadcast, 4096, 8), block));
    const char* const near = "plan/search/near_ranks";
    EXPECT_FALSE(has_decided(choice_of(machine, Collective::broadcast, 8, 8), near));
    EXPECT_TRUE(has_decided(choice_of(machine, Collective::broadcast, 8, 64), near));
}

TEST(DecidingNumbers, AreNoneWhereTheModelDecidesAlone) {
    const Machine machine = gallery_machine(machines[0]);
    EXPECT_TRUE(choice_of(machine, Collective::broadcast, 8, 8, "star").decided.empty());
}

TEST(DecidingNumbers, SayTheirValueAndOrigin) {
    const auto choice = choice_of(gallery_machine(machines[0]), Collective::allgather, 4096, 8);
    const auto bruck =
        std::ranges::find(choice.decided, "plan/families/bruck_bytes_most", &DecidingNumber::name);
    ASSERT_NE(bruck, choice.decided.end());
    EXPECT_EQ(bruck->value, 2048);
    EXPECT_EQ(bruck->origin, "simulated on the gallery");
}

TEST(DecidingNumbers, AreToldByPlansOverSeveralNodesToo) {
    Cluster cluster;
    cluster.kinds = {NodeKind::of_shape({2, 8, 100, 200, 10})};
    cluster.runs = {{0, 4, 8, 0, {}}};
    cluster.networks = {{2000, 400, 3, 12}};
    PlanRequest request;
    request.op = Collective::broadcast;
    request.bytes = 64;
    EXPECT_TRUE(has_decided(make_plan(cluster, request), "plan/schemes/piece_bytes_least"));
}

TEST(DecidingNumbers, HaveThoseOfTurnsOnlyAmongRanksThatShareCpus) {
    const Machine machine = gallery_machine(machines[0]);
    PlanRequest request;
    request.op = Collective::broadcast;
    request.bytes = 2048;
    request.placement = {0, 1, 2, 3, 4, 5, 6, 7};
    request.moves = 1;
    EXPECT_FALSE(has_decided(make_plan(machine, request), "tune/turns/of_message"));
    request.oversubscribed = true;
    request.cpus = 2;
    EXPECT_TRUE(has_decided(make_plan(machine, request), "tune/turns/of_message"));
    EXPECT_TRUE(has_decided(make_plan(machine, request), "tune/turns/turn_ns"));
}

/// No number that was measured on one machine decides about plans for others, unless ranks take
/// turns on CPUs.
TEST(DecidingNumbers, ComeFromNoSingleMachine) {
    constexpr std::array all{
        Collective::barrier,   Collective::broadcast, Collective::reduce,
        Collective::allreduce, Collective::gather,    Collective::scatter,
        Collective::allgather, Collective::alltoall,  Collective::reduce_scatter,
        Collective::scan,      Collective::exscan};
    // Among 192 ranks those of few messages, so that it does not take long.
    constexpr std::array few{Collective::barrier, Collective::broadcast, Collective::reduce,
                             Collective::gather, Collective::scatter};
    const auto check = [](const Machine& machine, Collective op, int ranks) {
        for (const std::uint64_t bytes : {8U, 4096U, 65'536U}) {
            const PlanChoice choice = choice_of(machine, op, bytes, ranks);
            for (const DecidingNumber& number : choice.decided) {
                EXPECT_NE(number.origin, "measured") << number.name << " in " << to_string(op);
                EXPECT_GT(number.value, 0) << number.name;
            }
        }
    };
    for (const char* name : machines) {
        const Machine machine = gallery_machine(name);
        for (const Collective op : all) {
            check(machine, op, 64);
        }
        for (const Collective op : few) {
            check(machine, op, 192);
        }
    }
}

} // namespace
} // namespace corymb
