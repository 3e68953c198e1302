// SPDX-License-Identifier: Apache-2.0
// Ranks that do not lie in their node as they are numbered: who leads whom then.
#include "../rounds.hpp"
#include "plan/nodes/scheme.hpp"
#include "plan/part_names.hpp"
#include "requests.hpp"
#include "tune/cluster_layout.hpp"

#include <corymb/error.hpp>
#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace corymb;
using test::exhaustive;
using test::named;
using namespace corymb::nodes;

/// Nodes of two packages, ranks dealt out to them in turns, as launchers do that bind by socket.
Cluster crosswise(int nodes, int ranks, double near_ns, double far_ns) {
    Cluster cluster;
    cluster.name = "crosswise";
    cluster.kinds = {NodeKind::of_shape({2, 16, near_ns, far_ns, 10})};
    NodeRun run{0, nodes, ranks, 0};
    for (int rank = 0; rank < ranks; ++rank) {
        run.pus.push_back(rank / 2 + 16 * (rank % 2));
    }
    cluster.runs = {run};
    cluster.networks = {{1000, 100, 10, 40}};
    cluster.check();
    return cluster;
}

Layout layout_of(const Cluster& cluster) {
    return corymb::layout_of(cluster, cluster.places(), 8);
}

TEST(NearRanks, StandTogether) {
    const Layout layout = layout_of(crosswise(2, 6, 100, 300));
    ASSERT_TRUE(layout.seated);
    EXPECT_EQ(layout.nodes[0], (std::vector<Rank>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(layout.seated->nodes[0], (std::vector<Rank>{0, 2, 4, 1, 3, 5}));
    EXPECT_EQ(layout.seated->nodes[1], (std::vector<Rank>{6, 8, 10, 7, 9, 11}));
    EXPECT_EQ(layout.seated->groups(1, 2),
              (std::vector<std::vector<Rank>>{{6, 8, 10}, {7, 9, 11}}));
    Cluster cluster = crosswise(2, 6, 100, 300);
    cluster.runs[0].pus = {0, 1, 2, 16, 17, 18};
    EXPECT_FALSE(layout_of(cluster).seated) << "they lie as they are numbered";
    cluster.runs[0].pus = {16, 3, 0, 18, 1, 17};
    cluster.kinds = {NodeKind::of_shape({1, 32, 100, 300, 10})};
    EXPECT_FALSE(layout_of(cluster).seated) << "all cost the same";
}

/// Of one rank on a package and four on the other, one of the four leads.
TEST(NearRanks, AreLedByACentralOne) {
    Cluster cluster = crosswise(2, 5, 100, 300);
    cluster.runs[0].pus = {0, 16, 17, 18, 19};
    const Layout layout = layout_of(cluster);
    ASSERT_TRUE(layout.seated);
    EXPECT_EQ(layout.seated->groups(0, 1).front(), (std::vector<Rank>{1, 2, 3, 4, 0}));
    const Scheme scheme = *scheme_named("lanes/1/doubling/shared/near");
    const Plan plan = plan_for(Collective::allreduce, layout, scheme, 64, 0);
    check_plan(plan);
    EXPECT_EQ(plan.algorithm, "lanes/1/doubling/shared/near");
    for (Rank rank = 0; rank < plan.size(); ++rank) {
        const auto& steps = plan.steps[static_cast<std::size_t>(rank)];
        const bool leads = std::ranges::find(steps, Mechanism::network, &Step::via) != steps.end();
        EXPECT_EQ(leads, rank % 5 == 1) << rank;
    }
}

/// What enters nodes does not depend on who leads there.
bool moves_the_same(Collective op, const Layout& layout, const Scheme& scheme, const Plan& plan,
                    std::uint64_t bytes, Rank root) {
    Scheme numbered = scheme;
    numbered.near = false;
    const bool is_even =
        scheme.roles == Roles::lanes && std::ranges::all_of(layout.nodes, [&](const auto& ranks) {
            return ranks.size() == layout.nodes[0].size();
        });
    if (!is_even || !applies(op, layout, numbered, bytes)) {
        return true;
    }
    const Plan other = plan_for(op, layout, numbered, bytes, root);
    return node_traffic(plan, layout.node_of_rank, bytes).in ==
           node_traffic(other, layout.node_of_rank, bytes).in;
}

TEST(NearRanks, HaveProvenPlansHoweverTheyLie) {
    std::mt19937 random(11);
    const std::vector<int> leaders{1, 2, 3, 4};
    std::vector<Scheme> schemes = all_schemes(leaders);
    std::set<Collective> seen;
    int plans = 0;
    for (int i = 0; i < rounds(24); ++i) {
        std::vector<int> nodes;
        const int count = static_cast<int>(random() % 5 + 1);
        const bool is_even = i % 3 == 0;
        for (int node = 0; node < count; ++node) {
            nodes.insert(nodes.end(), is_even ? 4 : random() % 6 + 1, node);
        }
        if (i % 2 == 0) {
            std::ranges::shuffle(nodes, random);
        }
        Seats seats{std::vector<int>(nodes.size()), std::vector<double>(nodes.size())};
        std::iota(seats.place.begin(), seats.place.end(), 0);
        std::ranges::shuffle(seats.place, random);
        for (double& distance : seats.distance) {
            distance = static_cast<double>(1 + random() % 3);
        }
        const Layout layout(nodes, {}, seats);
        for (const Collective op :
             {Collective::allgather, Collective::allreduce, Collective::broadcast,
              Collective::reduce, Collective::barrier, Collective::gather, Collective::scatter,
              Collective::alltoall, Collective::reduce_scatter, Collective::scan}) {
            for (Scheme scheme : schemes) {
                scheme.near = true;
                const std::uint64_t bytes = i % 4 < 2 ? 24 : 40'001;
                const auto root = static_cast<Rank>(random() % nodes.size());
                if (!applies(op, layout, scheme, bytes)) {
                    continue;
                }
                const Plan plan = plan_for(op, layout, scheme, bytes, root);
                ASSERT_NO_THROW(check_plan(plan)) << to_string(op) << " " << plan.algorithm;
                ASSERT_EQ(plan.algorithm, name_of(scheme));
                if (has_parts(op)) {
                    ASSERT_NO_THROW(static_cast<void>(plan::PartNames(plan))) << plan.algorithm;
                }
                ASSERT_TRUE(moves_the_same(op, layout, scheme, plan, bytes, root))
                    << to_string(op) << " " << plan.algorithm;
                seen.insert(op);
                ++plans;
            }
        }
    }
    EXPECT_FALSE(seen.contains(Collective::scan)) << "its order is that of the ranks";
    EXPECT_EQ(seen.size(), 9U);
    EXPECT_GT(plans, rounds(24) * 50);
}

/// All that do as ranks are numbered take longer.
void expect_near(const Cluster& cluster, Collective op, std::uint64_t bytes) {
    const PlanChoice choice = make_plan(cluster, exhaustive({.op = op, .bytes = bytes}));
    EXPECT_TRUE(choice.plan.algorithm.ends_with("/near")) << choice.plan.algorithm;
    for (const auto& [name, predicted] : choice.portfolio) {
        if (name.find("/near") == std::string::npos) {
            EXPECT_GT(predicted, choice.predicted) << to_string(op) << " " << name;
        }
    }
}

TEST(NearRanks, AreLedTogetherWhereThatIsFaster) {
    Cluster cluster = crosswise(4, 16, 30, 600);
    expect_near(cluster, Collective::allgather, 8);
    cluster.runs[0].pus = {};
    for (const auto& [name, predicted] :
         make_plan(cluster, {{.op = Collective::allgather, .bytes = 8}}).portfolio) {
        EXPECT_EQ(name.find("/near"), std::string::npos) << name;
    }
    Cluster lopsided = crosswise(4, 5, 30, 1500);
    lopsided.runs[0].pus = {0, 16, 17, 18, 19};
    expect_near(lopsided, Collective::allreduce, 8);
}

TEST(NearRanks, AreFoundBySearchAsByTryingAll) {
    for (const double far_ns : {150.0, 400.0}) {
        const Cluster cluster = crosswise(4, 8, 60, far_ns);
        for (const Collective op : {Collective::allgather, Collective::allreduce,
                                    Collective::broadcast, Collective::reduce_scatter}) {
            for (const std::uint64_t bytes : {8u, 1024u, 65536u}) {
                const PlanChoice choice = make_plan(cluster, {{.op = op, .bytes = bytes}});
                const PlanChoice all = make_plan(cluster, exhaustive({.op = op, .bytes = bytes}));
                const auto least = std::ranges::min_element(
                    all.portfolio, {}, [](const auto& entry) { return entry.second; });
                EXPECT_LE(choice.predicted, 1.06 * least->second)
                    << to_string(op) << " " << bytes << " B " << choice.plan.algorithm;
            }
        }
    }
}

} // namespace
