// SPDX-License-Identifier: Apache-2.0
#include "../sim/models.hpp"
#include "plan/channel_room.hpp"
#include "plan/performed.hpp"
#include "tune/turns.hpp"
#include "tune/variant.hpp"

#include <corymb/doubts.hpp>
#include <corymb/error.hpp>
#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace {

using namespace corymb;
using namespace corymb::test;

constexpr Collective operations[] = {Collective::barrier, Collective::broadcast, Collective::reduce,
                                     Collective::allreduce};

PlanRequest request_of(Collective op, std::uint64_t bytes = 8) {
    PlanRequest request;
    request.op = op;
    request.bytes = bytes;
    request.moves = 300;
    return request;
}

Errc code_of(const Machine& machine, const PlanRequest& request) {
    try {
        static_cast<void>(make_plan(machine, request));
    } catch (const Error& error) {
        return error.code();
    }
    return Errc::io;
}

TEST(MakePlan, EveryReductionHasAReproduciblePlan) {
    for (const Collective op : {Collective::reduce, Collective::allreduce,
                                Collective::reduce_scatter, Collective::scan, Collective::exscan}) {
        for (const int size : {1, 2, 3, 7, 16, 33}) {
            const Machine machine = uniform_machine(size, 20, 60);
            for (unsigned way = 0; way < 16; ++way) {
                PlanRequest request = request_of(op, way % 2 == 0 ? 8 : 65'536);
                request.reproducible = true;
                request.pull = (way & 2U) != 0;
                request.keeps_parts = (way & 4U) != 0;
                request.oversubscribed = (way & 8U) != 0;
                request.ordered = request.oversubscribed;
                EXPECT_NO_THROW(static_cast<void>(make_plan(machine, request)))
                    << to_string(op) << ' ' << size << ' ' << way;
            }
        }
    }
}

TEST(MakePlan, MeetsOnOneLineOnlyWhereThatWasMeasured) {
    Machine machine = uniform_machine(4, 20, 60);
    const auto offered = [&](Collective op, std::uint64_t bytes) {
        const PlanChoice choice = make_plan(machine, request_of(op, bytes));
        return std::ranges::count(choice.portfolio, "pair-exchange",
                                  &std::pair<std::string, double>::first);
    };
    EXPECT_EQ(offered(Collective::barrier, 0), 0);
    machine.exchange = {{.pair_class = 0, .count = {1}, .value = {45}}};
    EXPECT_EQ(offered(Collective::barrier, 0), 1);
    EXPECT_EQ(offered(Collective::allreduce, 8), 0) << "only when asked for";
    for (const Collective op : {Collective::barrier, Collective::allreduce}) {
        PlanRequest request = request_of(op, 8);
        request.algorithm = op == Collective::barrier ? "best" : "pair-exchange";
        const PlanChoice choice = make_plan(machine, request);
        EXPECT_EQ(choice.plan.algorithm, "pair-exchange");
        EXPECT_DOUBLE_EQ(choice.predicted, 90); // Two rounds.
        EXPECT_EQ(lower_bound(choice, machine).kind, "none");
    }
}

/// Whether some step of the plan goes that way.
bool goes_via(const Plan& plan, Mechanism via) {
    return std::ranges::any_of(plan.steps, [via](const std::vector<Step>& steps) {
        return std::ranges::count(steps, via, &Step::via) > 0;
    });
}

TEST(MakePlan, ProcessesPullWhereCellsAreSlower) {
    constexpr std::uint64_t bytes = 32 << 10;
    Machine machine = uniform_machine(2, 20, 60);
    machine.memory = {{.level = "l3", .working_set_bytes = 1 << 24, .copy_gbs = 4}};
    machine.kernel_copy = {600, 13};
    const auto chosen = [&](double gbs) {
        machine.transfer = {{.pair_class = 0, .count = {1 << 16}, .value = {(1 << 16) / gbs}}};
        PlanRequest request = request_of(Collective::broadcast, bytes);
        request.push = false;
        return make_plan(machine, request).plan;
    };
    const Plan fast = chosen(15);
    EXPECT_TRUE(goes_via(fast, Mechanism::cells)) << fast.algorithm;
    EXPECT_FALSE(goes_via(fast, Mechanism::pull)) << fast.algorithm;
    const Plan slow = chosen(4);
    EXPECT_TRUE(goes_via(slow, Mechanism::pull)) << slow.algorithm;
    EXPECT_FALSE(goes_via(slow, Mechanism::cells)) << slow.algorithm;
}

TEST(MakePlan, KeepsTheBestOfItsPortfolio) {
    Random random(1);
    for (const Collective op : operations) {
        for (const int size : {1, 2, 3, 7, 12}) {
            const Machine machine = random_machine(size, random);
            const PlanChoice choice = make_plan(machine, request_of(op));
            ASSERT_EQ(choice.plan.size(), size);
            EXPECT_EQ(choice.plan.op, op);
            check_plan(choice.plan);
            EXPECT_EQ(choice.request.placement, in_order(size));
            const PlanRequest& asked = choice.request;
            EXPECT_DOUBLE_EQ(
                choice.predicted,
                simulate(choice.plan, machine, asked.placement, asked.example_bytes).makespan);
            EXPECT_LE(lower_bound(choice, machine).value, choice.predicted * (1 + 1e-9));
            bool found = false;
            for (const auto& [name, predicted] : choice.portfolio) {
                EXPECT_GE(predicted, choice.predicted) << name;
                found = found || (name == choice.plan.algorithm && predicted == choice.predicted);
            }
            EXPECT_TRUE(found);
        }
    }
}

TEST(MakePlan, IsDeterministic) {
    Random random(2);
    const Machine machine = random_machine(9, random);
    for (const Collective op : operations) {
        for (const std::uint64_t bytes : {8u, 40000u}) {
            const PlanChoice first = make_plan(machine, request_of(op, bytes));
            const PlanChoice second = make_plan(machine, request_of(op, bytes));
            EXPECT_EQ(plan_hash(first.plan), plan_hash(second.plan));
            EXPECT_EQ(first.portfolio, second.portfolio);
        }
    }
}

TEST(MakePlan, EveryNameCanBeAskedFor) {
    Random random(3);
    const Machine machine = random_machine(8, random);
    for (const Collective op : operations) {
        const auto names = algorithm_names(op);
        EXPECT_FALSE(names.empty());
        EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
        const PlanChoice best = make_plan(machine, request_of(op));
        for (const auto& [name, predicted] : best.portfolio) {
            EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
            PlanRequest request = request_of(op);
            request.algorithm = name;
            const PlanChoice named = make_plan(machine, request);
            EXPECT_EQ(named.plan.algorithm, name);
            EXPECT_DOUBLE_EQ(named.predicted, predicted);
        }
    }
}

TEST(MakePlan, MakesBaselinesWhereTheyAreAskedFor) {
    Random random(7);
    const Machine machine = random_machine(8, random);
    const auto candidates = [&](const PlanRequest& request) {
        std::set<std::string> names;
        for (const auto& [name, predicted] : make_plan(machine, request).portfolio) {
            names.insert(name);
        }
        return names;
    };
    PlanRequest request = request_of(Collective::broadcast);
    const auto usual = candidates(request);
    request.exhaustive = true;
    const auto all = candidates(request);
    EXPECT_TRUE(std::ranges::includes(all, usual));
    for (const char* name : {"bad-tree", "mst", "smelt-adaptive"}) {
        EXPECT_FALSE(usual.contains(name)) << name;
        EXPECT_TRUE(all.contains(name)) << name;
        request.exhaustive = false;
        request.algorithm = name;
        EXPECT_EQ(make_plan(machine, request).plan.algorithm, name);
    }
}

TEST(MakePlan, PlansPartsOfAnyLengthByAnExample) {
    const Machine machine = uniform_machine(4, 20, 60);
    PlanRequest request = request_of(Collective::broadcast, any_part_bytes);
    const PlanChoice usual = make_plan(machine, request);
    EXPECT_EQ(usual.plan.bytes_max, any_part_bytes);
    EXPECT_EQ(usual.request.example_bytes, 64U << 10U);
    request.example_bytes = 1 << 20;
    const PlanChoice longer = make_plan(machine, request);
    EXPECT_EQ(longer.plan.bytes_max, any_part_bytes);
    EXPECT_GT(longer.predicted, usual.predicted);
    request.cell_slots = cell_slots_least;
    EXPECT_LE(make_plan(machine, request).plan.cell_slots, cell_slots_least);
}

/// Short messages take a copy along where the kernel's copies are dear to begin.
TEST(MakePlan, PlansPartsOfAnyLengthByEveryFamilyThatApplies) {
    Machine machine = uniform_machine(4, 20, 60);
    machine.kernel_copy = {2000, 4};
    for (const Collective op : {Collective::gather, Collective::scatter, Collective::allgather,
                                Collective::alltoall, Collective::reduce_scatter}) {
        PlanRequest request = request_of(op, any_part_bytes);
        request.exhaustive = true;
        request.keeps_parts = true;
        request.cell_slots = cell_slots_least;
        for (const auto& [name, predicted] : make_plan(machine, request).portfolio) {
            request.algorithm = name.substr(0, name.find('/'));
            EXPECT_NO_THROW(static_cast<void>(make_plan(machine, request)))
                << to_string(op) << " by " << name;
        }
        request.algorithm = "best";
    }
}

TEST(MakePlan, TakesSoManyRanksOfTheMachine) {
    const Machine machine = uniform_machine(6, 20, 60);
    PlanRequest request = request_of(Collective::barrier);
    request.size = 4;
    EXPECT_EQ(make_plan(machine, request).request.placement, in_order(4));
    request.size = 7;
    EXPECT_EQ(code_of(machine, request), Errc::invalid_argument);
    request.placement = {0, 1};
    EXPECT_EQ(code_of(machine, request), Errc::invalid_argument);
}

TEST(MakePlan, TriesMechanismsAndBlocksForLargePayloads) {
    Random random(4);
    const Machine machine = random_machine(6, random);
    for (const Collective op : {Collective::broadcast, Collective::reduce, Collective::allreduce}) {
        const PlanChoice choice = make_plan(machine, request_of(op, 1 << 20));
        check_plan(choice.plan);
        EXPECT_GE(choice.plan.bytes_max, std::uint64_t{1} << 20);
        const auto has = [&](const std::string& part) {
            return std::any_of(
                choice.portfolio.begin(), choice.portfolio.end(),
                [&](const auto& entry) { return entry.first.find(part) != std::string::npos; });
        };
        EXPECT_TRUE(has("/pull-1"));
        EXPECT_TRUE(has("/pull-16"));
        EXPECT_TRUE(has("/cells-16"));
        PlanRequest request = request_of(op, 1 << 20);
        request.algorithm = choice.plan.algorithm;
        EXPECT_EQ(make_plan(machine, request).plan, choice.plan);
    }
}

TEST(MakePlan, RanksWriteIntoEachOthersBuffersWhereThatIsPermitted) {
    const Machine machine = uniform_machine(4, 20, 60);
    for (const Collective op : {Collective::broadcast, Collective::reduce, Collective::gather}) {
        PlanRequest request = request_of(op, 1 << 20);
        request.root = 0;
        const PlanChoice choice = make_plan(machine, request);
        EXPECT_TRUE(choice.plan.algorithm.starts_with("direct-push")) << choice.plan.algorithm;
        request.push = false;
        const PlanChoice other = make_plan(machine, request);
        EXPECT_LT(choice.predicted, other.predicted);
        for (const auto& [name, predicted] : other.portfolio) {
            EXPECT_FALSE(name.starts_with("direct-push"));
        }
        request.algorithm = "direct-push";
        EXPECT_EQ(code_of(machine, request), Errc::invalid_argument);
        request.push = true;
        EXPECT_TRUE(make_plan(machine, request).plan.algorithm.starts_with("direct-push"));
    }
}

TEST(MakePlan, HonoursRootOrderAndPlacement) {
    Random random(5);
    const Machine machine = random_machine(10, random);
    for (const Collective op : {Collective::broadcast, Collective::reduce}) {
        for (Rank root = 0; root < 4; ++root) {
            PlanRequest request = request_of(op);
            request.root = root;
            request.ordered = true;
            request.placement = {9, 2, 4, 0};
            const PlanChoice choice = make_plan(machine, request);
            EXPECT_EQ(choice.plan.root, root);
            EXPECT_EQ(choice.plan.size(), 4);
            EXPECT_EQ(choice.request.placement, request.placement);
            check_plan(choice.plan, true);
        }
    }
}

TEST(MakePlan, RefusesBadRequests) {
    const Machine machine = uniform_machine(4, 7, 20);
    PlanRequest request = request_of(Collective::broadcast);
    request.root = 4;
    EXPECT_EQ(code_of(machine, request), Errc::invalid_argument);
    request.root = -2;
    EXPECT_EQ(code_of(machine, request), Errc::invalid_argument);
    request = request_of(Collective::barrier);
    for (const std::vector<int>& placement :
         std::vector<std::vector<int>>{{0, 0}, {0, 4}, {-1}, {0, 1, 2, 3, 0}}) {
        request.placement = placement;
        EXPECT_EQ(code_of(machine, request), Errc::invalid_argument);
    }
    request = request_of(Collective::barrier);
    for (const char* name :
         {"no-such", "", "star/", "star/pull", "star/pull-0", "star/pull-3", "star/fax-1"}) {
        request.algorithm = name;
        EXPECT_EQ(code_of(machine, request), Errc::unknown_name) << name;
    }
    EXPECT_EQ(code_of(Machine{}, request_of(Collective::barrier)), Errc::invalid_argument);
    request = request_of(Collective::reduce, ~std::uint64_t{0});
    EXPECT_EQ(code_of(machine, request), Errc::invalid_argument);
}

/// Of eight ranks that take turns on two CPUs.
PlanRequest request_in_turns(Collective op, std::uint64_t bytes = 8) {
    PlanRequest request = request_of(op, bytes);
    request.placement = {0, 1, 0, 1, 0, 1, 0, 1};
    request.oversubscribed = true;
    request.cpus = 2;
    return request;
}

TEST(MakePlan, OversubscribedPlansTakeLeastWorkAndTurns) {
    const Machine machine = uniform_machine(2, 7, 20);
    for (const Collective op : operations) {
        for (const std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{1} << 16U}) {
            PlanRequest request = request_of(op, bytes);
            request.placement = {0, 1, 0, 1, 0, 1, 0, 1};
            EXPECT_EQ(code_of(machine, request), Errc::invalid_argument);
            request.oversubscribed = true;
            request.cpus = 0;
            EXPECT_EQ(code_of(machine, request), Errc::invalid_argument);
            request.cpus = 2;
            const PlanChoice choice = make_plan(machine, request);
            check_plan(choice.plan);
            const auto in_turns = [&](const PlanChoice& made) {
                return tune::time_in_turns(
                    made.plan, machine, made.request,
                    simulate(made.plan, machine, request.placement, request.bytes, true));
            };
            const double best = in_turns(choice);
            for (const auto& [name, predicted] : choice.portfolio) {
                PlanRequest named = request;
                named.algorithm = name;
                EXPECT_LE(best, in_turns(make_plan(machine, named)) * (1 + 1e-9)) << name;
            }
        }
    }
}

TEST(MakePlan, RanksThatTakeTurnsMoveLongPartsAsMeasured) {
    Machine machine = uniform_machine(2, 7, 20);
    machine.unit_ns = 1;
    machine.kernel_copy = {1400, 4};
    PlanRequest request = request_in_turns(Collective::allgather, std::uint64_t{1} << 20U);
    request.pull = true;
    EXPECT_EQ(make_plan(machine, request).plan.algorithm, "direct/pull-1")
        << "out of inputs, not out of copies";
    request.op = Collective::reduce_scatter;
    EXPECT_NE(make_plan(machine, request).plan.algorithm.find("/cells-"), std::string::npos);
    request.op = Collective::alltoall;
    request.bytes = std::uint64_t{64} << 10U;
    EXPECT_EQ(make_plan(machine, request).plan.algorithm, "pairwise/cells-1");
    request.bytes = std::uint64_t{256} << 10U;
    EXPECT_EQ(make_plan(machine, request).plan.algorithm, "direct/pull-1")
        << "its cells would lie in no cache";
    request.op = Collective::gather;
    request.root = 0;
    request.push = true;
    EXPECT_EQ(make_plan(machine, request).plan.algorithm, "star/cells-1");
    request.bytes = std::uint64_t{1} << 20U;
    EXPECT_EQ(make_plan(machine, request).plan.algorithm, "direct-push/pull-1")
        << "all write at the same time";
    request.op = Collective::broadcast;
    EXPECT_EQ(make_plan(machine, request).plan.algorithm.find("push"), std::string::npos);
}

/// Each message that waits for another one takes a few rounds of turns.
TEST(MakePlan, RanksThatTakeTurnsHaveFewMessagesInARow) {
    const Machine machine = uniform_machine(2, 7, 20);
    const auto in_a_row = [&](PlanRequest request, const char* algorithm) {
        request.algorithm = algorithm;
        const Plan plan = make_plan(machine, request).plan;
        return tune::messages_in_a_row(plan::Matching(plan));
    };
    for (const Collective op : {Collective::broadcast, Collective::gather, Collective::reduce}) {
        PlanRequest request = request_in_turns(op, 2048);
        EXPECT_EQ(in_a_row(request, "star/cells-1"), 1);
        EXPECT_EQ(in_a_row(request, "binomial/cells-1"), 3);
        EXPECT_EQ(in_a_row(request, "chain/cells-1"), 7);
        EXPECT_EQ(in_a_row(request, "best"), 1);
        request.cpus = 1;
        EXPECT_EQ(in_a_row(request, "best"), 1);
    }
    PlanRequest request = request_in_turns(Collective::alltoall, 64 << 10);
    EXPECT_EQ(in_a_row(request, "pairwise/cells-1"), 1) << "all is sent before it waits";
    EXPECT_EQ(tune::messages_in_a_row(plan::Matching(Plan{})), 0);
}

TEST(MakePlan, RanksThatTakeTurnsRunSmallOperationsFlat) {
    const Machine machine = uniform_machine(2, 7, 20);
    PlanRequest request = request_in_turns(Collective::allreduce);
    const double flat = tune::turns_in_a_row(make_plan(machine, request).plan, 2);
    request.algorithm = "recursive-doubling";
    EXPECT_LT(flat, tune::turns_in_a_row(make_plan(machine, request).plan, 2));
}

TEST(MakePlan, RanksThatTakeTurnsMeetInOneTurnEach) {
    const Machine machine = uniform_machine(2, 7, 20);
    PlanRequest request = request_in_turns(Collective::barrier);
    for (const int cpus : {1, 2, 4}) {
        request.cpus = cpus;
        request.algorithm = "best";
        const PlanChoice best = make_plan(machine, request);
        // Each CPU has to run each of its ranks, and one of them is where it was left.
        const double least = 8.0 / cpus - 1;
        EXPECT_LE(tune::turns_in_a_row(best.plan, cpus), least + 1) << best.plan.algorithm;
        EXPECT_GE(tune::turns_in_a_row(best.plan, cpus), least) << best.plan.algorithm;
        request.algorithm = "binomial";
        EXPECT_GT(tune::turns_in_a_row(make_plan(machine, request).plan, cpus), least + 1);
    }
}

TEST(MakePlan, CountsTurnsOfRepeatedOperations) {
    Plan plan;
    plan.steps.resize(2);
    EXPECT_EQ(tune::turns_in_a_row(plan, 1), 0);
    plan.op = Collective::broadcast;
    plan.block_count = 1;
    plan.bytes_max = 8;
    const Blocks block{Buffer::output, 0, 1};
    plan.steps[0] = {{.kind = StepKind::send, .via = Mechanism::line, .peer = 1, .from = block}};
    plan.steps[1] = {{.kind = StepKind::recv, .via = Mechanism::line, .peer = 0, .to = block}};
    // The sender is never more than a few operations ahead.
    EXPECT_GT(tune::turns_in_a_row(plan, 1), 0);
    EXPECT_LT(tune::turns_in_a_row(plan, 1), 1);
    EXPECT_EQ(tune::turns_in_a_row(plan, 2), 0);
    plan.steps[1].push_back({.kind = StepKind::signal, .peer = 0});
    plan.steps[0].push_back({.kind = StepKind::wait, .peer = 1});
    EXPECT_EQ(tune::turns_in_a_row(plan, 1), 2); // To the one that answers, and back.
    EXPECT_EQ(tune::turns_in_a_row(plan, 2), 0);
    std::swap(plan.steps[0][0], plan.steps[0][1]);
    EXPECT_EQ(tune::turns_in_a_row(plan, 2), std::numeric_limits<double>::infinity());
}

TEST(MakePlan, ALongMessageTakesATurnOnlyIfItsChannelDoesNotHoldIt) {
    const auto turns_of = [](std::uint64_t bytes) {
        Plan plan;
        plan.op = Collective::broadcast;
        plan.block_count = 1;
        plan.bytes_max = bytes;
        const Blocks block{Buffer::output, 0, 1};
        plan.steps = {{{.kind = StepKind::send, .via = Mechanism::cells, .peer = 1, .from = block}},
                      {{.kind = StepKind::recv, .via = Mechanism::cells, .peer = 0, .to = block}}};
        const auto slots = static_cast<std::uint32_t>(plan::cell_ring_slots(2));
        return tune::turns_in_a_row(plan::performed(std::move(plan), slots), 1);
    };
    // Two messages of 1 MiB are on their way before the receiver has to take one.
    EXPECT_LT(turns_of(64 << 10), turns_of(1 << 20));
    EXPECT_LE(turns_of(1 << 20), 1);
    EXPECT_GT(turns_of(4 << 20), 1);
}

TEST(MakePlan, JsonIsAPlanWithItsProvenance) {
    Random random(6);
    Machine machine = random_machine(5, random);
    for (std::size_t pu = 0; pu < 5; ++pu) {
        machine.topology.pus[pu].cpu = static_cast<int>(10 + 2 * pu);
    }
    PlanRequest request = request_of(Collective::allreduce, 5000);
    request.placement = {3, 1, 4};
    machine.quality.remarks = {"No pair of SMT siblings was measured."};
    const PlanChoice choice = make_plan(machine, request);
    const std::string text = to_json(choice, machine);
    EXPECT_EQ(plan_from_json(text), choice.plan);
    const auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json.at("placement"), nlohmann::json({16, 12, 18}));
    EXPECT_EQ(json.at("unit"), "ns");
    EXPECT_EQ(json.at("machine"), "random");
    EXPECT_EQ(json.at("ranks"), 3);
    EXPECT_EQ(json.at("bytes"), 5000);
    EXPECT_EQ(json.at("predicted"), choice.predicted);
    EXPECT_EQ(json.at("algorithm"), choice.plan.algorithm);
    EXPECT_EQ(json.at("portfolio").size(), choice.portfolio.size());
    EXPECT_EQ(json.at("portfolio").at(choice.plan.algorithm), choice.predicted);
    EXPECT_EQ(json.at("model_sha256"), machine_sha256(machine));
    EXPECT_EQ(json.at("plan_sha256"), plan_hash(choice.plan));
    EXPECT_EQ(json.at("doubts"), nlohmann::json(doubts(machine)));
    EXPECT_EQ(doubts(machine).back(), "No pair of SMT siblings was measured.");
    EXPECT_EQ(json.at("moves"), 300);
    EXPECT_TRUE(json.contains("bound_kind"));
    EXPECT_TRUE(json.contains("lower_bound"));
    EXPECT_EQ(json.at("steps").size(), 3u);
    EXPECT_FALSE(json.contains("central_counter"));
}

TEST(MakePlan, JsonOfAnExhaustiveBarrierHasTheCentralCounter) {
    Random random(6);
    const Machine machine = random_machine(5, random);
    PlanRequest request = request_of(Collective::barrier, 8);
    request.placement = {3, 1, 4};
    request.exhaustive = true;
    const auto json = nlohmann::json::parse(to_json(make_plan(machine, request), machine));
    const CounterBarrier expected = counter_barrier(machine, request.placement);
    const auto& counter = json.at("central_counter");
    EXPECT_EQ(counter.at("arrival"), expected.arrival);
    EXPECT_EQ(counter.at("release"), expected.release);
    EXPECT_EQ(counter.at("total"), expected.total());
    EXPECT_EQ(counter.at("origin"), "assumed");
}

TEST(Variant, HaveDifferentNames) {
    std::set<std::string> names;
    const auto all = tune::all_variants();
    for (const auto& variant : all) {
        names.insert(tune::candidate_name("star", variant));
    }
    EXPECT_EQ(names.size(), all.size());
    for (const auto& variant : tune::variants(Collective::broadcast, 1 << 20)) {
        EXPECT_TRUE(names.contains(tune::candidate_name("star", variant)));
    }
    EXPECT_EQ(tune::variants(Collective::barrier, 1 << 20).size(), 1u);
    EXPECT_EQ(tune::candidate_name("star", {}), "star");
}

} // namespace
