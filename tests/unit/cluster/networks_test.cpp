// SPDX-License-Identifier: Apache-2.0
// Nodes with different classes of adapters: the text and the file that say so, what messages
// between them are charged, and what the planner makes of it.
#include "machine/model/networks.hpp"
#include "plan/nodes/scheme.hpp"
#include "requests.hpp"

#include <corymb/error.hpp>
#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace {

using namespace corymb;
using test::exhaustive;
using test::named;

constexpr Network fast{2000, 400, 3, 12};
constexpr Network slow{20000, 2000, 0.25, 0.5};

/// Nodes of `ranks` ranks each.
Cluster cluster_of(const std::vector<int>& network_of_node, int ranks) {
    Cluster cluster;
    cluster.name = "test";
    cluster.kinds = {NodeKind::of_shape({1, 8, 100, 250, 8})};
    for (const int network : network_of_node) {
        cluster.runs.push_back({0, 1, ranks, network});
    }
    cluster.networks = {fast, slow};
    return cluster;
}

TEST(Networks, AreReadFromTextAndWritten) {
    EXPECT_EQ(networks_from("2000,400,3,12", 3), (Networks{{fast}, {}}));
    EXPECT_EQ(networks_from("2e3,0,0.5,0.5", 1).classes[0], (Network{2000, 0, 0.5, 0.5}));
    const std::string text = "2000,400,3,12/20000,2000,0.25,0.5@1,4-6/1,1,1,1@3";
    const Networks networks = networks_from(text, 8);
    EXPECT_EQ(networks, (Networks{{fast, slow, {1, 1, 1, 1}}, {0, 1, 0, 2, 1, 1, 1, 0}}));
    EXPECT_EQ(to_text(networks), text);
    EXPECT_EQ(to_text(networks_from("2000,400,3,12", 3)), "2000,400,3,12");
}

TEST(Networks, SayWhatIsWrongWithAText) {
    constexpr std::array<std::array<const char*, 2>, 17> cases{{
        {"", "four numbers"},
        {"1,2,3", "four numbers"},
        {"1,2,3,4,5", "four numbers"},
        {"1,2,3,x", "four numbers"},
        {"1;1;1;1", "four numbers"},
        {"1,1,1,1 ", "four numbers"},
        {"1,-1,2,3", "message_gap_ns"},
        {"1,1,0,3", "stream_gbs"},
        {"1,1,3,2", "node_gbs"},
        {"1,1,1,inf", "node_gbs"},
        {"1,1,1,1/1,1,1,1", "must name its nodes"},
        {"1,1,1,1/1,1,1,1@", "must name its nodes"},
        {"1,1,1,1/1,1,1@1", "four numbers"},
        {"1,1,1,1/2,1,1,1@4", "node that there is not"},
        {"1,1,1,1/2,1,1,1@2-1", "such as 2,5-7"},
        {"1,1,1,1/2,1,1,1@-1", "such as 2,5-7"},
        {"1,1,1,1/2,1,1,1@1/3,1,1,1@0-2", "a second time"},
    }};
    for (const auto& [text, part] : cases) {
        try {
            static_cast<void>(networks_from(text, 4));
            ADD_FAILURE() << text << " was taken";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_model);
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
                << text << ": " << error.what();
        }
    }
    EXPECT_THROW(static_cast<void>(networks_from("1,1,1,1", 0)), Error);
}

TEST(Networks, StandInTheFile) {
    Cluster cluster = cluster_of({0, 1, 0}, 2);
    const std::string text = to_json(cluster);
    const Cluster back = cluster_from_json(text);
    EXPECT_EQ(back.networks, cluster.networks);
    EXPECT_EQ(back.runs, cluster.runs);
    EXPECT_EQ(back.network_of_node(), (std::vector<int>{0, 1, 0}));
    EXPECT_EQ(to_json(back), text);
    cluster.networks.pop_back();
    cluster.runs[1].network = 0;
    EXPECT_EQ(to_json(cluster).find("networks"), std::string::npos) << "one class as ever";
}

TEST(Networks, AreRefusedNamingTheField) {
    const std::string text = to_json(cluster_of({0, 1, 0}, 2));
    const std::vector<std::array<const char*, 3>> cases{
        {"\"network\": 1", "\"network\": 2", "nodes[1].network"},
        {"\"stream_gbs\": 0.25", "\"stream_gbs\": 1", "networks[1].node_gbs"},
        {"\"networks\"", "\"network\":{}, \"networks\"", "networks: must not stand beside"},
        {"\"networks\"", "\"network\"", "network: must be"},
    };
    for (const auto& [from, to, field] : cases) {
        std::string changed = text;
        std::size_t place = changed.find(from);
        if (place == std::string::npos) { // As it is where no blank follows a colon.
            std::string narrow = from;
            std::erase(narrow, ' ');
            place = changed.find(narrow);
            ASSERT_NE(place, std::string::npos) << from << " is not in " << text;
            changed.replace(place, narrow.size(), to);
        } else {
            changed.replace(place, std::string_view(from).size(), to);
        }
        try {
            static_cast<void>(cluster_from_json(changed));
            ADD_FAILURE() << to << " was taken";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(field), std::string::npos) << error.what();
        }
    }
}

/// One message from rank 0 to rank 1.
double message_ns(const Cluster& cluster, std::uint64_t bytes) {
    return make_plan(cluster,
                     named("flat/binomial/shared", {.op = Collective::broadcast, .bytes = bytes}))
        .predicted;
}

TEST(Networks, ChargeAMessageForBothEnds) {
    constexpr std::uint64_t bytes = 1 << 20;
    for (const auto& [from, to] : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 1}}) {
        const Cluster cluster = cluster_of({from, to}, 1);
        const Network charged = network_between(cluster.networks[static_cast<std::size_t>(from)],
                                                cluster.networks[static_cast<std::size_t>(to)]);
        EXPECT_NEAR(message_ns(cluster, 0), charged.start_up_ns, 20);
        EXPECT_NEAR(message_ns(cluster, bytes) - message_ns(cluster, 0), bytes / charged.stream_gbs,
                    50);
    }
    EXPECT_EQ(network_between(fast, slow), (Network{11000, 2000, 0.25, 0.5}));
    EXPECT_EQ(network_between(slow, fast), network_between(fast, slow));
    EXPECT_EQ(network_between(slow, slow), slow);
}

/// Four messages at once keep the link of a slow node busy, whichever way; between fast ones not.
TEST(Networks, ChargeEachNodeForItsOwnLink) {
    const auto gather_ns = [](const std::vector<int>& networks) {
        return make_plan(cluster_of(networks, 4),
                         named("flat/direct/shared", {.op = Collective::gather, .bytes = 1 << 20}))
            .predicted;
    };
    const double slow_link_ns = 4 * (1 << 20) / slow.node_gbs;
    EXPECT_GT(gather_ns({0, 1}), slow_link_ns);
    EXPECT_GT(gather_ns({1, 0}), slow_link_ns);
    EXPECT_LT(gather_ns({0, 0}), slow_link_ns / 10);
}

TEST(Networks, WithEqualClassesAreAsOne) {
    Cluster several = cluster_of({0, 1, 1, 0}, 3);
    several.networks = {fast, fast};
    Cluster one = cluster_of({0, 0, 0, 0}, 3);
    one.networks = {fast};
    for (const Collective op : {Collective::allgather, Collective::allreduce, Collective::gather,
                                Collective::broadcast, Collective::barrier}) {
        const PlanRequest request{{.op = op, .bytes = 3000}};
        const PlanChoice choice = make_plan(several, request);
        const PlanChoice other = make_plan(one, request);
        EXPECT_EQ(choice.portfolio, other.portfolio);
        EXPECT_EQ(plan_hash(choice.plan), plan_hash(other.plan));
    }
}

nodes::Layout layout_of(const Cluster& cluster, std::uint64_t bytes, bool knows_speeds) {
    std::vector<int> nodes;
    for (const NodePlace& place : cluster.places()) {
        nodes.push_back(place.node);
    }
    return nodes::Layout(nodes, knows_speeds ? message_ns_of_nodes(cluster, bytes)
                                             : std::vector<double>{});
}

double simulated(const Cluster& cluster, const PlanRequest& request, bool knows_speeds) {
    const nodes::Layout layout = layout_of(cluster, request.bytes, knows_speeds);
    const auto scheme = *nodes::scheme_named(request.algorithm);
    const Plan plan = nodes::plan_for(request.op, layout, scheme, request.bytes, request.root);
    return simulate(plan, cluster, request.bytes).makespan;
}

/// Node 4 would pass data on to three others if nodes stood in trees as they are numbered.
TEST(ClusterChoice, LeavesSlowNodesAtTheEndsOfTrees) {
    const Cluster cluster = cluster_of({0, 0, 0, 0, 1, 0, 0, 0}, 2);
    for (const Collective op : {Collective::broadcast, Collective::reduce}) {
        PlanRequest request = named("lanes/1/binomial/shared", {.op = op, .root = 0, .bytes = 256});
        const double unaware = simulated(cluster, request, false);
        EXPECT_LT(make_plan(cluster, request).predicted, 0.7 * unaware);
        request.root = 9; // On the slow node itself: all wait for that, whatever the order.
        EXPECT_LE(make_plan(cluster, request).predicted,
                  1.001 * simulated(cluster, request, false));
    }
}

TEST(ClusterChoice, FoldsSlowNodesIntoFastOnes) {
    const Cluster cluster = cluster_of({0, 0, 0, 1, 0, 0, 0, 0}, 2);
    const PlanRequest request{{.op = Collective::allreduce, .bytes = 64}};
    const PlanChoice choice = make_plan(cluster, request);
    EXPECT_NE(choice.plan.algorithm.find("folding"), std::string::npos) << choice.plan.algorithm;
    for (const auto& [name, predicted] : choice.portfolio) {
        if (name.find("folding") == std::string::npos) {
            EXPECT_LT(choice.predicted, predicted) << name;
        }
    }
    const Cluster equal = cluster_of({0, 0, 0, 0}, 2);
    for (const auto& [name, predicted] :
         make_plan(equal, exhaustive({.op = Collective::allreduce})).portfolio) {
        EXPECT_EQ(name.find("folding"), std::string::npos) << "there is nothing to fold";
    }
}

/// Every scheme on random clusters of two and three classes is proven, whoever stands where.
TEST(ClusterChoice, IsProvenWhereClassesDiffer) {
    constexpr unsigned seed = 20261;
    std::mt19937 dice(seed);
    const auto draw = [&](int least, int most) {
        return std::uniform_int_distribution(least, most)(dice);
    };
    for (int round = 0; round < 25; ++round) {
        std::vector<int> classes(static_cast<std::size_t>(draw(2, 9)));
        for (int& one : classes) {
            one = draw(0, 2);
        }
        Cluster cluster = cluster_of(classes, draw(1, 4));
        cluster.networks.push_back({5000, 100, 1, 1});
        cluster.order = draw(0, 3) == 0 ? RankOrder::cyclic : RankOrder::block;
        for (const Collective op :
             {Collective::broadcast, Collective::reduce, Collective::allreduce}) {
            const PlanRequest request{{.op = op,
                                       .root = draw(0, cluster.size() - 1),
                                       .bytes = std::uint64_t{1} << draw(3, 14)}};
            const nodes::Layout layout = layout_of(cluster, request.bytes, true);
            for (const nodes::Scheme& scheme : nodes::all_schemes(std::vector{1, 2, 3})) {
                if (!nodes::applies(op, layout, scheme, request.bytes)) {
                    continue;
                }
                const Plan plan = nodes::plan_for(op, layout, scheme, request.bytes, request.root);
                ASSERT_NO_THROW(check_plan(plan))
                    << nodes::name_of(scheme) << ", seed " << seed << ", round " << round;
                EXPECT_GT(simulate(plan, cluster, request.bytes).makespan, 0);
            }
            const PlanChoice choice = make_plan(cluster, request);
            for (const auto& [name, predicted] : choice.portfolio) {
                EXPECT_GE(1.03 * predicted, choice.predicted) << name;
            }
        }
    }
}

} // namespace
