// SPDX-License-Identifier: Apache-2.0
// The cluster model, its file, and what the planner makes of it.
#include "requests.hpp"

#include <corymb/error.hpp>
#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace {

using namespace corymb;
using test::exhaustive;
using test::named;

Cluster small_cluster() {
    Cluster cluster;
    cluster.name = "test";
    cluster.kinds = {NodeKind::of_shape({2, 8, 100, 250, 8}),
                     NodeKind::of_gallery("xeon-w9-3475x-sapphirerapids-1s-36c")};
    cluster.runs = {{0, 3, 4}, {1, 1, 2}};
    cluster.networks = {{2000, 400, 3, 12}};
    return cluster;
}

std::string refusal(const std::function<void()>& act, Errc code) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return "";
}

TEST(ClusterModel, PlacesRanks) {
    Cluster cluster = small_cluster();
    cluster.runs = {{0, 1, 1}, {0, 1, 3}};
    EXPECT_EQ(cluster.size(), 4);
    EXPECT_EQ(cluster.node_count(), 2);
    EXPECT_EQ(cluster.places(), (std::vector<NodePlace>{{0, 0}, {1, 0}, {1, 1}, {1, 2}}));
    cluster.runs = {{0, 1, 3}, {1, 1, 1}};
    cluster.order = RankOrder::cyclic;
    EXPECT_EQ(cluster.places(), (std::vector<NodePlace>{{0, 0}, {1, 0}, {0, 1}, {0, 2}}));
    EXPECT_EQ(cluster.kind_of_node(), (std::vector<int>{0, 1}));
}

TEST(ClusterModel, ReadsWhatItWrites) {
    const Cluster cluster = small_cluster();
    const std::string text = to_json(cluster);
    const Cluster back = cluster_from_json(text);
    EXPECT_EQ(to_json(back), text);
    EXPECT_EQ(back.places(), cluster.places());
    EXPECT_EQ(back.networks, cluster.networks);
    EXPECT_EQ(back.kinds[1].machine.size(), 36);
}

TEST(ClusterModel, ReadsControllersOfShapes) {
    Cluster cluster = small_cluster();
    cluster.kinds[0] = NodeKind::of_shape({2, 8, 100, 250, 8, 4, 12});
    const std::string text = to_json(cluster);
    const Cluster back = cluster_from_json(text);
    EXPECT_EQ(to_json(back), text);
    EXPECT_EQ(back.kinds[0].shape, cluster.kinds[0].shape);
    const Machine& machine = back.kinds[0].machine;
    machine.check();
    EXPECT_EQ(machine.topology.pus[3].numa, 0);
    EXPECT_EQ(machine.topology.pus[4].numa, 1);
    ASSERT_EQ(machine.shared.size(), 1u);
    EXPECT_EQ(machine.shared[0].value, std::vector<double>{12});
    EXPECT_EQ(machine.shared[0].origin, DataOrigin::assumed);
}

TEST(ClusterModel, HasMachinesOfItsOwnAndRanksAnywhereOnThem) {
    Cluster cluster = small_cluster();
    Machine machine = gallery_machine("epyc-9654-2s-192c");
    machine.name = "of its own";
    cluster.kinds.push_back(NodeKind::of_machine(machine));
    cluster.runs.push_back({2, 2, 3, 0, {5, 190, 6}});
    const std::string text = to_json(cluster);
    const Cluster back = cluster_from_json(text);
    EXPECT_EQ(to_json(back), text);
    EXPECT_EQ(to_json(back.kinds[2].machine), to_json(machine));
    EXPECT_EQ(back.places()[14], (NodePlace{4, 5}));
    EXPECT_EQ(back.places()[18], (NodePlace{5, 190}));
    cluster.order = RankOrder::cyclic;
    EXPECT_EQ(cluster.places()[5], (NodePlace{5, 5})) << "the first of each of six nodes";
    EXPECT_EQ(cluster.places()[11], (NodePlace{5, 190}));
}

TEST(ClusterModel, RefusesPusThatRanksCannotHave) {
    const std::vector<std::pair<std::vector<int>, const char*>> cases{
        {{0, 1, 2}, "nodes[0].pus: must name 4 PUs"},
        {{0, 1, 2, 16}, "nodes[0].pus[3]: must be from 0 to 15"},
        {{0, 1, -1, 2}, "nodes[0].pus[2]: must be from 0"},
        {{0, 1, 2, 1}, "nodes[0].pus[3]: PU 1 has another rank already"},
    };
    for (const auto& [pus, wanted] : cases) {
        Cluster cluster = small_cluster();
        cluster.runs[0].pus = pus;
        const std::string why = refusal([&] { cluster.check(); }, Errc::invalid_model);
        EXPECT_NE(why.find(wanted), std::string::npos) << why;
    }
}

std::string changed(const std::string& from, const std::string& to) {
    std::string text = to_json(small_cluster());
    const std::size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from << " is not in " << text;
    return text.replace(place, from.size(), to);
}

TEST(ClusterModel, RefusesFilesNamingTheField) {
    const std::vector<std::array<const char*, 3>> cases{
        {"corymb-cluster/1", "corymb-machine/1", "schema"},
        {"\"start_up_ns\":2000.0", "\"start_up_ns\":-1", "network.start_up_ns"},
        {"\"start_up_ns\"", "\"startup_ns\"", "did you mean start_up_ns"},
        {"\"node_gbs\":12.0", "\"node_gbs\":2", "network.node_gbs"},
        {"\"stream_gbs\":3.0", "\"stream_gbs\":0", "network.stream_gbs"},
        {"\"ranks\":4", "\"ranks\":17", "nodes[0].ranks"},
        {"\"ranks\":2", "\"ranks\":0", "nodes[1].ranks"},
        {"\"count\":3", "\"count\":2000000", "nodes[0].count"},
        {"\"machine\":1", "\"machine\":2", "nodes[1].machine"},
        {"\"packages\":2", "\"packages\":0", "machines[0].shape.packages"},
        {"\"cores\":8", "\"cores\":1000000000", "machines[0].shape.cores"},
        {"\"cores\":8", "\"cores\":8,\"controllers\":3,\"controller_gbs\":5",
         "machines[0].shape.controllers: must divide the 16 cores"},
        {"\"cores\":8", "\"cores\":8,\"controllers\":4", "machines[0].shape.controller_gbs"},
        {"\"cores\":8", "\"cores\":8,\"controller_gbs\":4", "machines[0].shape.controller_gbs"},
        {"xeon-w9", "xeon-w8", "machines[1].gallery"},
        {"\"gallery\":", "\"model\":{},\"gallery\":", "\"shape\" and \"model\""},
        {"\"gallery\":\"xeon-w9-3475x-sapphirerapids-1s-36c\"", "\"model\":{\"schema\":1}",
         "machines[1].model: schema"},
        {"\"ranks\":4", "\"ranks\":4,\"pus\":[0,1,2,2]", "nodes[0].pus[3]"},
        {"\"ranks\":4", "\"ranks\":4,\"pus\":[0,1,2,-1]", "nodes[0].pus[3]"},
        {"\"block\"", "\"random\"", "order"},
    };
    for (const auto& [from, to, field] : cases) {
        const std::string text = changed(from, to);
        const std::string why =
            refusal([&] { static_cast<void>(cluster_from_json(text)); }, Errc::invalid_model);
        EXPECT_NE(why.find(field), std::string::npos) << field << ": " << why;
    }
}

/// T2 of an exchange by lanes, docs/explain/nodes.md.
double exchange_time(const Network& net, int nodes, int ranks, double bytes, bool ring, int k) {
    const double round = std::max(net.start_up_ns, k * net.message_gap_ns);
    const double share =
        (nodes - 1) * ranks * bytes / k * std::max(1 / net.stream_gbs, k / net.node_gbs);
    return (ring ? nodes - 1 : std::log2(nodes)) * round + share;
}

TEST(Leaders, ByFormulaAreTheBestOfAll) {
    for (const bool ring : {false, true}) {
        for (const double gap : {50.0, 400.0, 1500.0}) {
            for (const double node_gbs : {3.0, 12.0, 40.0}) {
                for (const std::uint64_t bytes : {8u, 512u, 4096u, 65536u}) {
                    const Network net{2000, gap, 3, node_gbs};
                    const int chosen = leaders_by_formula(net, 8, 16, bytes, ring);
                    ASSERT_GE(chosen, 1);
                    ASSERT_LE(chosen, 16);
                    double best = 1e300;
                    for (int k = 1; k <= 16; ++k) {
                        best = std::min(best, exchange_time(net, 8, 16, double(bytes), ring, k));
                    }
                    // Rounded to a whole number of leaders it may miss the best by a little.
                    EXPECT_LE(exchange_time(net, 8, 16, double(bytes), ring, chosen), 1.12 * best)
                        << chosen << " leaders, gap " << gap << ", node " << node_gbs << ", "
                        << bytes << " B" << (ring ? ", ring" : "");
                }
            }
        }
    }
}

TEST(ClusterPlanner, ChoosesAProvenPlanNoWorseThanTheOthers) {
    const Cluster cluster = small_cluster();
    for (const Collective op : {Collective::allgather, Collective::allreduce, Collective::reduce,
                                Collective::broadcast, Collective::barrier}) {
        const PlanChoice choice = make_plan(cluster, {{.op = op, .bytes = 4096}});
        check_plan(choice.plan);
        EXPECT_DOUBLE_EQ(simulate(choice.plan, cluster, choice.request.example_bytes).makespan,
                         choice.predicted);
        for (const auto& [name, predicted] : choice.portfolio) {
            EXPECT_GE(1.03 * predicted, choice.predicted) << name;
        }
        const PlanChoice best = make_plan(cluster, exhaustive({.op = op, .bytes = 4096}));
        EXPECT_LE(best.predicted, 1.03 * choice.predicted);
        EXPECT_GE(best.portfolio.size(), choice.portfolio.size());
        const Plan back = plan_from_json(to_json(choice, cluster));
        EXPECT_EQ(plan_hash(back), plan_hash(choice.plan));
    }
}

/// Of a network that one message does not fill, and where combining takes as long as sending.
TEST(ClusterPlanner, HasSeveralLeadersForLongDataWhereThatPays) {
    Cluster cluster = small_cluster();
    cluster.runs = {{0, 8, 8}};
    for (const Collective op : {Collective::broadcast, Collective::reduce}) {
        const std::uint64_t bytes = op == Collective::broadcast ? 8192 : std::uint64_t{1} << 19;
        const PlanChoice choice = make_plan(cluster, {{.op = op, .bytes = bytes}});
        EXPECT_TRUE(choice.plan.algorithm.starts_with("lanes/") &&
                    !choice.plan.algorithm.starts_with("lanes/1/"))
            << choice.plan.algorithm;
        const PlanChoice all = make_plan(cluster, exhaustive({.op = op, .bytes = bytes}));
        EXPECT_LE(choice.predicted, 1.05 * all.predicted);
        for (const auto& [name, predicted] : all.portfolio) {
            if (name.starts_with("lanes/1/") || name.starts_with("flat/")) {
                EXPECT_LT(1.03 * choice.predicted, predicted) << name;
            }
        }
    }
}

/// Where one leader fills the link, more are in its way, which no model says.
TEST(ClusterPlanner, HasOneLeaderForLongDataWhereThatIsAsFast) {
    Cluster cluster = small_cluster();
    cluster.runs = {{0, 4, 4}};
    cluster.networks = {{20'000, 20'000, 0.024, 0.024}};
    for (const Collective op : {Collective::broadcast, Collective::reduce}) {
        for (const std::uint64_t bytes : {std::uint64_t{1} << 18, std::uint64_t{1} << 21}) {
            const PlanChoice choice = make_plan(cluster, {{.op = op, .bytes = bytes}});
            EXPECT_TRUE(choice.plan.algorithm.starts_with("lanes/1/ring/"))
                << choice.plan.algorithm;
        }
    }
}

/// Where the network's rate or its start-up decides, dozens of schemes take equally long.
TEST(ClusterPlanner, TakesTheLeastWorkOfWhatIsEquallyFast) {
    Cluster cluster = small_cluster();
    cluster.runs = {{0, 8, 4}};
    cluster.networks = {{20'000, 60'000, 0.024, 0.024}};
    const auto messages = [&](const Plan& plan) {
        std::vector<int> nodes;
        for (const NodePlace& place : cluster.places()) {
            nodes.push_back(place.node);
        }
        return node_traffic(plan, nodes).messages;
    };
    for (const std::uint64_t bytes : {64u, 512u, 4096u, 32768u}) {
        const PlanRequest request = exhaustive({.op = Collective::allgather, .bytes = bytes});
        const PlanChoice choice = make_plan(cluster, request);
        for (const auto& [name, predicted] : choice.portfolio) {
            if (predicted <= choice.predicted) {
                const PlanRequest other =
                    named(name, {.op = Collective::allgather, .bytes = bytes});
                EXPECT_GE(messages(make_plan(cluster, other).plan), messages(choice.plan))
                    << choice.plan.algorithm << " and " << name << ", " << bytes << " B";
            }
        }
        EXPECT_EQ(messages(choice.plan), 8U * 3U) << "one leader, three rounds";
    }
}

TEST(ClusterPlanner, KeepsTheOrderWhereThatIsAskedFor) {
    Cluster cluster = small_cluster();
    for (const RankOrder order : {RankOrder::block, RankOrder::cyclic}) {
        cluster.order = order;
        for (const Collective op : {Collective::allreduce, Collective::reduce,
                                    Collective::reduce_scatter, Collective::scan}) {
            for (const std::uint64_t bytes : {8u, 100'000u}) {
                const PlanRequest request{{.op = op, .root = 5, .bytes = bytes, .ordered = true}};
                const PlanChoice choice = make_plan(cluster, request);
                EXPECT_NO_THROW(check_plan(choice.plan, true)) << choice.plan.algorithm;
                const PlanRequest any = exhaustive({.op = op, .root = 5, .bytes = bytes});
                for (const auto& [name, predicted] : make_plan(cluster, any).portfolio) {
                    EXPECT_FALSE(name.starts_with("runs")) << name;
                }
            }
        }
    }
    const std::string refused = refusal(
        [&] {
            static_cast<void>(
                make_plan(cluster, named("lanes/1/doubling/shared",
                                         {.op = Collective::allreduce, .ordered = true})));
        },
        Errc::invalid_argument);
    EXPECT_NE(refused.find("in the order of the ranks"), std::string::npos) << refused;
}

TEST(ClusterPlanner, SaysWhatItCannotDo) {
    const Cluster cluster = small_cluster();
    const auto plan = [&](const PlanRequest& request) {
        return [&cluster, request] {
            static_cast<void>(make_plan(cluster, request));
        };
    };
    refusal(plan(named("lanes/2/doubling/shared", {.op = Collective::scan})),
            Errc::invalid_argument);
    refusal(plan({{.op = Collective::reduce, .root = 14}}), Errc::invalid_argument);
    refusal(plan({{.op = Collective::allgather, .bytes = std::uint64_t{1} << 60}}),
            Errc::invalid_argument);
    PlanRequest turns{{.op = Collective::allreduce}};
    turns.oversubscribed = true;
    refusal(plan(turns), Errc::invalid_argument);
    refusal(plan({{.op = Collective::allreduce, .reproducible = true}}), Errc::invalid_argument);
    refusal(plan({{.op = Collective::allreduce, .size = 3}}), Errc::invalid_argument);
    refusal(plan({{.op = Collective::allreduce}, {0, 1}}), Errc::invalid_argument);
    refusal(plan(named("lanes/2/circle/shared", {.op = Collective::allgather})),
            Errc::unknown_name);
    // 14 positions are no power of two.
    refusal(plan(named("flat/doubling/shared", {.op = Collective::allgather})),
            Errc::invalid_argument);
}

TEST(ClusterPlanner, CutsNothingAndKeepsPartsWhereThatIsAskedFor) {
    const Cluster cluster = small_cluster();
    for (const Collective op : {Collective::broadcast, Collective::allreduce}) {
        const std::uint64_t bytes = std::uint64_t{1} << 22;
        const PlanRequest whole{{.op = op, .bytes = bytes, .one_block = true}};
        EXPECT_EQ(make_plan(cluster, whole).plan.block_count, 1U) << to_string(op);
    }
    EXPECT_GT(make_plan(cluster, {{.op = Collective::broadcast, .bytes = std::uint64_t{1} << 22}})
                  .plan.block_count,
              1U);
    for (const Collective op : {Collective::allgather, Collective::gather}) {
        const PlanRequest parts{{.op = op, .bytes = 64, .keeps_parts = true}};
        EXPECT_TRUE(keeps_parts(make_plan(cluster, parts).plan)) << to_string(op);
    }
}

TEST(ClusterPlanner, SimulatesMoreRanksThanItProves) {
    Cluster cluster = small_cluster();
    cluster.runs = {{0, 4100, 16}};
    PlanRequest request = named("lanes/1/dissemination/shared", {.op = Collective::barrier});
    request.proven = false;
    const PlanChoice choice = make_plan(cluster, request);
    EXPECT_EQ(choice.plan.size(), 65'600);
    EXPECT_GT(choice.predicted, 13 * cluster.networks.front().start_up_ns); // rounds
    const std::string refused = refusal([&] { check_plan(choice.plan); }, Errc::invalid_plan);
    EXPECT_NE(refused.find("not proven"), std::string::npos) << refused;
    request.proven = true;
    const std::string asked =
        refusal([&] { static_cast<void>(make_plan(cluster, request)); }, Errc::invalid_argument);
    EXPECT_NE(asked.find("to be proven"), std::string::npos) << asked;
}

TEST(ClusterSimulation, ChargesTheNetwork) {
    Cluster cluster = small_cluster();
    cluster.runs = {{0, 2, 1}};
    const auto time = [&](std::uint64_t bytes) {
        const PlanChoice choice = make_plan(
            cluster, named("flat/doubling/shared", {.op = Collective::allgather, .bytes = bytes}));
        return choice.predicted;
    };
    EXPECT_NEAR(time(8), 2000 + 8 / 3.0, 1);
    EXPECT_NEAR(time(300000) - time(0), 100000 + 300000 / 8.0, 50); // and the copy of its own part
    // Sixteen messages of one node follow each other at the rate of its link.
    cluster.runs = {{0, 2, 16}};
    const double many =
        make_plan(cluster, named("flat/bruck/shared", {.op = Collective::allgather, .bytes = 8}))
            .predicted;
    EXPECT_GT(many, 15 * 400 + 2000);
}

TEST(ClusterSimulation, RefusesStepsThatCannotReach) {
    const Cluster cluster = small_cluster();
    Plan plan = make_plan(cluster, {{.op = Collective::allgather, .bytes = 8}}).plan;
    for (auto& steps : plan.steps) {
        for (Step& step : steps) {
            step.via = step.via == Mechanism::network ? Mechanism::cells : step.via;
        }
    }
    const auto why =
        refusal([&] { static_cast<void>(simulate(plan, cluster)); }, Errc::invalid_plan);
    EXPECT_NE(why.find("another node"), std::string::npos) << why;
    plan.steps.pop_back();
    refusal([&] { static_cast<void>(simulate(plan, cluster)); }, Errc::invalid_argument);
}

} // namespace
