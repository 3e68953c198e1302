// SPDX-License-Identifier: Apache-2.0
// How many leaders a node has where its ranks share memory controllers (Kandalla and others, 2009:
// one controller cannot feed all copiers of a node, so several leaders pay).
#include "requests.hpp"

#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using namespace corymb;

constexpr double copy_gbs = 3;    // One core copies so fast.
constexpr double unlimited = 1e9; // More than all cores copy.
constexpr std::uint64_t medium = 2048;

/// Eight nodes whose network one leader fills, in up to four packages.
Cluster nodes_with(int ranks, int controllers, double controller_gbs) {
    const int packages = ranks / 4 < 4 ? ranks / 4 : 4;
    Cluster cluster;
    cluster.kinds = {NodeKind::of_shape(
        {packages, ranks / packages, 100, 200, copy_gbs, controllers, controller_gbs})};
    cluster.runs = {{0, 8, ranks}};
    cluster.networks = {{2000, 400, 3, 3}};
    return cluster;
}

PlanChoice best(const Cluster& cluster, std::uint64_t bytes) {
    PlanRequest request{PlanNeed{.op = Collective::allgather, .bytes = bytes}};
    request.proven = false;
    return make_plan(cluster, request);
}

/// In a flat plan every rank acts for itself.
int leaders_of(const Plan& plan, int ranks) {
    const std::string& name = plan.algorithm;
    if (name.starts_with("flat")) {
        return ranks;
    }
    return std::stoi(name.substr(name.find('/') + 1));
}

TEST(LeadersOfControllers, GrowWithThem) {
    for (const int ranks : {8, 16, 32}) {
        int before = 0;
        for (const int controllers : {2, 4, 8}) {
            const PlanChoice choice = best(nodes_with(ranks, controllers, copy_gbs), medium);
            const int leaders = leaders_of(choice.plan, ranks);
            EXPECT_GT(leaders, before)
                << ranks << " ranks, " << controllers << " controllers: " << choice.plan.algorithm;
            EXPECT_GE(leaders, controllers) << choice.plan.algorithm;
            before = std::min(leaders, ranks - 1); // More than all there cannot be.
        }
    }
}

TEST(LeadersOfControllers, AreFewWhereMemoryIsNoLimit) {
    for (const int ranks : {8, 16, 32}) {
        const std::string without = best(nodes_with(ranks, 0, 0), medium).plan.algorithm;
        for (const int controllers : {2, 8}) {
            const PlanChoice choice = best(nodes_with(ranks, controllers, unlimited), medium);
            EXPECT_LE(leaders_of(choice.plan, ranks), 2) << choice.plan.algorithm;
            EXPECT_EQ(choice.plan.algorithm, without);
        }
    }
}

/// The paper: four leaders 20 to 25 % better than one, 50 to 70 % better than recursive doubling.
TEST(LeadersOfControllers, PayAsMeasuredOnEightTimesSixteen) {
    const Cluster cluster = nodes_with(16, 4, 2 * copy_gbs);
    const auto time_of = [&](const char* scheme, std::uint64_t bytes) {
        PlanRequest request = test::named(scheme, {.op = Collective::allgather, .bytes = bytes});
        request.proven = false;
        return make_plan(cluster, request).predicted;
    };
    for (const std::uint64_t bytes : {1024U, 4096U}) {
        const double chosen = best(cluster, bytes).predicted;
        const double one = std::min(time_of("lanes/1/doubling/shared", bytes),
                                    time_of("lanes/1/ring/shared", bytes));
        EXPECT_LT(chosen, 0.8 * one) << bytes;
        EXPECT_LT(chosen, 0.5 * time_of("flat/doubling/shared", bytes)) << bytes;
    }
}

} // namespace
