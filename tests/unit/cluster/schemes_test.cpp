// SPDX-License-Identifier: Apache-2.0
// Every scheme on every small cluster, and on random larger ones, is proven; what it moves equals
// the closed forms.
#include "../rounds.hpp"
#include "plan/nodes/scheme.hpp"
#include "plan/part_names.hpp"

#include <corymb/cluster.hpp>
#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

namespace {

using namespace corymb;
using namespace corymb::nodes;

Cluster cluster_of(const std::vector<int>& ranks, RankOrder order = RankOrder::block) {
    Cluster cluster;
    cluster.name = "test";
    cluster.kinds.push_back(NodeKind::of_shape({2, 16, 100, 250, 8}));
    for (const int count : ranks) {
        cluster.runs.push_back({0, 1, count});
    }
    cluster.order = order;
    cluster.networks = {{2000, 400, 3, 12}};
    cluster.check();
    return cluster;
}

Layout layout_of(const Cluster& cluster) {
    std::vector<int> nodes;
    for (const NodePlace& place : cluster.places()) {
        nodes.push_back(place.node);
    }
    return Layout(nodes);
}

std::vector<Scheme> schemes_up_to(int leaders_most) {
    std::vector<int> leaders(static_cast<std::size_t>(leaders_most));
    std::iota(leaders.begin(), leaders.end(), 1);
    return all_schemes(leaders);
}

constexpr Collective operations[] = {
    Collective::allgather, Collective::allreduce, Collective::broadcast,      Collective::reduce,
    Collective::barrier,   Collective::gather,    Collective::scatter,        Collective::alltoall,
    Collective::scan,      Collective::exscan,    Collective::reduce_scatter,
};

/// Proves and simulates all that there is for a cluster; returns the number of plans.
int try_all(const Cluster& cluster, const std::vector<Scheme>& schemes, std::uint64_t bytes) {
    const Layout layout = layout_of(cluster);
    int plans = 0;
    for (const Collective op : operations) {
        for (const Scheme& scheme : schemes) {
            if (!applies(op, layout, scheme, bytes)) {
                continue;
            }
            const Rank root = bytes % 2 == 0 ? 0 : layout.size() - 1;
            const Plan plan = plan_for(op, layout, scheme, bytes, root);
            try {
                check_plan(plan, keeps_order(op, scheme.roles));
                EXPECT_GE(simulate(plan, cluster, bytes).makespan, 0);
                if (has_parts(op)) { // Those serve parts of different lengths, too.
                    static_cast<void>(plan::PartNames(plan));
                }
            } catch (const Error& error) {
                ADD_FAILURE() << to_string(op) << " " << plan.algorithm << " among "
                              << layout.size() << " ranks on " << layout.nodes.size() << " nodes, "
                              << bytes << " B: " << error.what();
                return plans;
            }
            ++plans;
        }
    }
    return plans;
}

TEST(Schemes, AreProvenOnEverySmallCluster) {
    const std::vector<Scheme> schemes = schemes_up_to(3);
    int plans = 0;
    for (int shape = 1; shape < 4 * 4 * 4 * 4; ++shape) {
        std::vector<int> ranks; // one, two or three on each of up to four nodes
        for (int rest = shape; rest > 0; rest /= 4) {
            ranks.push_back(rest % 4);
        }
        if (std::ranges::find(ranks, 0) != ranks.end() || shape > rounds(4 * 4 * 4 * 4)) {
            continue;
        }
        const RankOrder order = shape % 3 == 0 ? RankOrder::cyclic : RankOrder::block;
        plans += try_all(cluster_of(ranks, order), schemes, shape % 2 == 0 ? 8 : 20001);
        ASSERT_FALSE(HasFailure());
    }
    EXPECT_GT(plans, rounds(3000) / 3);
}

TEST(Schemes, AreProvenOnRandomClusters) {
    std::mt19937 random(7);
    const std::vector<Scheme> schemes = schemes_up_to(5);
    for (int i = 0; i < 4; ++i) {
        std::vector<int> ranks(random() % 9 + 2);
        std::ranges::generate(ranks, [&] { return static_cast<int>(random() % 8 + 1); });
        const RankOrder order = i % 2 == 0 ? RankOrder::block : RankOrder::cyclic;
        EXPECT_GT(try_all(cluster_of(ranks, order), schemes, random() % 100000 + 64), 20);
        ASSERT_FALSE(HasFailure());
    }
}

/// A leader of several slices has no more of them than its node's edges hold.
TEST(Schemes, AreProvenWhereANodeHasFarFewerRanks) {
    std::vector<Scheme> schemes = schemes_up_to(18);
    std::erase_if(schemes, [](const Scheme& scheme) {
        return scheme.leaders < 7 || scheme.roles != Roles::lanes || scheme.pieces > 8;
    });
    for (const std::vector<int>& ranks : {std::vector{18, 2, 3}, std::vector{1, 4, 18, 1}}) {
        EXPECT_GT(try_all(cluster_of(ranks), schemes, 400'001), 10);
        ASSERT_FALSE(HasFailure());
    }
}

struct Counts {
    NodeTraffic traffic;
    std::uint64_t leader = 0; // most bytes that one rank gets
};

Counts counts_of(const Cluster& cluster, const Scheme& scheme, std::uint64_t bytes) {
    const Layout layout = layout_of(cluster);
    EXPECT_TRUE(applies(Collective::allgather, layout, scheme, bytes)) << name_of(scheme);
    const Plan plan = plan_for(Collective::allgather, layout, scheme, bytes, 0);
    check_plan(plan);
    Counts counts{node_traffic(plan, layout.node_of_rank, bytes), 0};
    counts.leader = *std::ranges::max_element(counts.traffic.rank_in);
    for (const std::uint64_t in : counts.traffic.in) {
        EXPECT_EQ(in, counts.traffic.in.front()) << name_of(scheme);
    }
    return counts;
}

/// N nodes, c ranks each, k leaders of g = c / k ranks, parts of m bytes.
class ClosedForms : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(ClosedForms, HoldToTheByte) {
    const auto [nodes, ranks, leaders] = GetParam();
    const Cluster cluster = cluster_of(std::vector<int>(static_cast<std::size_t>(nodes), ranks));
    const auto N = static_cast<std::uint64_t>(nodes);
    const auto c = static_cast<std::uint64_t>(ranks);
    const auto k = static_cast<std::uint64_t>(leaders);
    const std::uint64_t g = c / k;
    const std::uint64_t m = 24;
    const auto log_n = static_cast<std::uint32_t>(std::bit_width(N) - 1);
    for (const Inside inside : {Inside::messages, Inside::shared}) {
        const Counts major =
            counts_of(cluster, {Roles::node_major, leaders, Exchange::doubling, inside, false}, m);
        EXPECT_EQ(major.traffic.in[0], k * (N - 1) * c * m);
        EXPECT_EQ(major.leader, (N - 1) * c * m);
        EXPECT_EQ(major.traffic.rounds, log_n);
        for (const Exchange exchange : {Exchange::doubling, Exchange::bruck}) {
            const Counts lanes =
                counts_of(cluster, {Roles::lanes, leaders, exchange, inside, false}, m);
            EXPECT_EQ(lanes.traffic.in[0], (N - 1) * c * m);
            EXPECT_EQ(lanes.leader, (N - 1) * g * m);
            EXPECT_EQ(lanes.traffic.rounds, log_n);
            EXPECT_EQ(lanes.traffic.messages, N * k * log_n);
        }
        const Counts ring =
            counts_of(cluster, {Roles::lanes, leaders, Exchange::ring, inside, true}, m);
        EXPECT_EQ(ring.traffic.in[0], (N - 1) * c * m);
        EXPECT_EQ(ring.leader, (N - 1) * g * m);
        EXPECT_EQ(ring.traffic.rounds, N - 1);
        const Counts slices =
            counts_of(cluster, {Roles::slices, leaders, Exchange::doubling, inside, true}, m);
        EXPECT_EQ(slices.traffic.in[0], (N - 1) * c * m);
        EXPECT_EQ(slices.leader, (N - 1) * g * m);
        EXPECT_EQ(slices.traffic.rounds, log_n);
        const Counts objects =
            counts_of(cluster, {Roles::objects, leaders, Exchange::bruck, inside, true}, m);
        EXPECT_EQ(objects.traffic.in[0], (N - 1) * c * m);
        std::uint32_t rounds = 0;
        for (std::uint64_t reached = 1; reached < N; reached *= k + 1) {
            ++rounds;
        }
        EXPECT_EQ(objects.traffic.rounds, rounds);
        const Counts big_ring =
            counts_of(cluster, {Roles::node_major, leaders, Exchange::ring, inside, false}, m);
        EXPECT_EQ(big_ring.traffic.in[0], (k * N - 1) * g * m);
        const Counts flat =
            counts_of(cluster, {Roles::flat, 1, Exchange::doubling, inside, false}, m);
        EXPECT_EQ(flat.traffic.in[0], c * (N - 1) * c * m);
        EXPECT_EQ(flat.leader, (N - 1) * c * m);
        EXPECT_EQ(flat.traffic.rounds, log_n);
    }
}

NodeTraffic traffic_of(const Cluster& cluster, Collective op, const Scheme& scheme,
                       std::uint64_t bytes) {
    const Layout layout = layout_of(cluster);
    EXPECT_TRUE(applies(op, layout, scheme, bytes)) << to_string(op) << " " << name_of(scheme);
    return node_traffic(plan_for(op, layout, scheme, bytes, 0), layout.node_of_rank, bytes);
}

TEST_P(ClosedForms, HoldForPartsToTheByte) {
    const auto [nodes, ranks, leaders] = GetParam();
    const int k = leaders;
    const Cluster cluster = cluster_of(std::vector<int>(static_cast<std::size_t>(nodes), ranks));
    const auto N = static_cast<std::uint64_t>(nodes);
    const auto c = static_cast<std::uint64_t>(ranks);
    const std::uint64_t m = 24;
    const auto log_n = static_cast<std::uint32_t>(std::bit_width(N) - 1);
    const Inside inside = Inside::shared;
    const auto lanes = [&](Collective op, Exchange exchange) {
        return traffic_of(cluster, op, {Roles::lanes, k, exchange, inside, false}, m);
    };
    // Each byte enters a node once, all at the same time.
    const NodeTraffic alltoall = lanes(Collective::alltoall, Exchange::direct);
    EXPECT_EQ(alltoall.in, std::vector<std::uint64_t>(N, (N - 1) * c * c * m));
    EXPECT_EQ(alltoall.messages, N * (N - 1) * static_cast<std::uint64_t>(k));
    EXPECT_EQ(alltoall.rounds, 1U);
    // Half of the bundles go with each digit.
    const NodeTraffic bruck = lanes(Collective::alltoall, Exchange::bruck);
    EXPECT_EQ(bruck.in, std::vector<std::uint64_t>(N, log_n * N / 2 * c * c * m));
    EXPECT_EQ(bruck.rounds, log_n);
    for (const auto& [exchange, rounds] :
         {std::pair{Exchange::direct, 1U}, std::pair{Exchange::doubling, log_n},
          std::pair{Exchange::ring, static_cast<std::uint32_t>(N - 1)}}) {
        const NodeTraffic traffic = lanes(Collective::reduce_scatter, exchange);
        EXPECT_EQ(traffic.in, std::vector<std::uint64_t>(N, (N - 1) * c * m));
        EXPECT_EQ(traffic.rounds, rounds);
    }
    const auto runs = [&](Collective op, int count, Exchange exchange) {
        return traffic_of(cluster, op, {Roles::runs, count, exchange, inside, false}, m);
    };
    if (k <= 3) { // A share is 8 bytes at least.
        const NodeTraffic sums = runs(Collective::allreduce, k, Exchange::doubling);
        EXPECT_EQ(sums.in, std::vector<std::uint64_t>(N, log_n * m));
        EXPECT_EQ(sums.messages, N * log_n * static_cast<std::uint64_t>(k));
        EXPECT_EQ(sums.rounds, log_n);
    }
    const NodeTraffic sum = runs(Collective::reduce, 1, Exchange::binomial);
    EXPECT_EQ(std::accumulate(sum.in.begin(), sum.in.end(), std::uint64_t{0}), (N - 1) * m);
    EXPECT_EQ(sum.in[0], log_n * m);
    EXPECT_EQ(sum.rounds, log_n);
    const NodeTraffic shares = runs(Collective::reduce_scatter, k, Exchange::direct);
    EXPECT_EQ(shares.in, std::vector<std::uint64_t>(N, (N - 1) * c * m));
    EXPECT_EQ(shares.rounds, 1U);
    for (const auto& [exchange, rounds] :
         {std::pair{Exchange::direct, 1U}, std::pair{Exchange::binomial, log_n}}) {
        const NodeTraffic gather = lanes(Collective::gather, exchange);
        EXPECT_EQ(gather.in[0], (N - 1) * c * m);
        EXPECT_EQ(gather.messages, (N - 1) * static_cast<std::uint64_t>(k));
        EXPECT_EQ(gather.rounds, rounds);
        const NodeTraffic scatter = lanes(Collective::scatter, exchange);
        EXPECT_EQ(scatter.in, gather.out);
        EXPECT_EQ(scatter.out, gather.in);
        EXPECT_EQ(scatter.rounds, rounds);
    }
    // Doubling among groups of one rank; else each tells the next one first, then N - 1 double.
    const std::size_t shifted_rounds = N == 2 ? 1 : 1 + log_n;
    for (const Collective op : {Collective::scan, Collective::exscan}) {
        const bool is_plain = op == Collective::scan && c == 1;
        const NodeTraffic scan =
            traffic_of(cluster, op, {Roles::lanes, 1, Exchange::doubling, inside, false}, m);
        EXPECT_LE(scan.rounds, is_plain ? log_n : shifted_rounds) << to_string(op);
        EXPECT_EQ(scan.messages, is_plain ? N * log_n - (N - 1) : (N - 1) * log_n);
        EXPECT_EQ(scan.in[N - 1], (is_plain ? log_n : shifted_rounds) * m);
    }
}

/// Whoever leads, each byte enters a node once.
TEST_P(ClosedForms, HoldForSlicesToTheByte) {
    const auto [nodes, ranks, leaders] = GetParam();
    const Cluster cluster = cluster_of(std::vector<int>(static_cast<std::size_t>(nodes), ranks));
    const auto N = static_cast<std::uint64_t>(nodes);
    const auto k = static_cast<std::uint64_t>(leaders);
    const std::uint64_t m = k << 17;
    const auto log_n = static_cast<std::uint32_t>(std::bit_width(N) - 1);
    for (const Inside inside : {Inside::messages, Inside::shared}) {
        for (const Collective op : {Collective::broadcast, Collective::reduce}) {
            const Scheme tree{Roles::lanes, leaders, Exchange::binomial, inside, false};
            const NodeTraffic whole = traffic_of(cluster, op, tree, m);
            const auto total = std::accumulate(whole.in.begin(), whole.in.end(), std::uint64_t{0});
            EXPECT_EQ(total, (N - 1) * m);
            EXPECT_EQ(*std::ranges::max_element(whole.rank_in),
                      op == Collective::reduce ? log_n * m / k : m / k);
            EXPECT_EQ(whole.messages, (N - 1) * k);
            EXPECT_EQ(whole.rounds, log_n);
            const Scheme chain{Roles::lanes, leaders, Exchange::ring, inside, false, 8};
            const NodeTraffic pieces = traffic_of(cluster, op, chain, m);
            EXPECT_EQ(*std::ranges::max_element(pieces.in), m);
            EXPECT_EQ(*std::ranges::max_element(pieces.out), m);
            EXPECT_EQ(*std::ranges::max_element(pieces.rank_in), m / k);
            EXPECT_EQ(pieces.messages, 8 * (N - 1) * k);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ClosedForms,
                         testing::Values(std::tuple{8, 16, 1}, std::tuple{8, 16, 2},
                                         std::tuple{8, 16, 4}, std::tuple{8, 16, 8},
                                         std::tuple{8, 16, 16}, std::tuple{4, 4, 2},
                                         std::tuple{2, 8, 4}, std::tuple{16, 2, 2}));

TEST(Schemes, PiecesFollowEachOtherThroughNodes) {
    const Cluster cluster = cluster_of(std::vector<int>(8, 4), RankOrder::block);
    const std::uint64_t bytes = std::uint64_t{1} << 20;
    for (const Collective op : {Collective::broadcast, Collective::reduce}) {
        const Scheme whole{Roles::lanes, 1, Exchange::binomial, Inside::shared, false, 1};
        const Scheme chain{Roles::lanes, 1, Exchange::ring, Inside::shared, false, 32};
        const NodeTraffic traffic = traffic_of(cluster, op, chain, bytes);
        const auto total = std::accumulate(traffic.in.begin(), traffic.in.end(), std::uint64_t{0});
        EXPECT_EQ(total, 7 * bytes) << to_string(op) << ": each byte goes to each node once";
        EXPECT_EQ(*std::ranges::max_element(traffic.in), bytes);
        EXPECT_EQ(traffic.messages, 7U * 32);
        const auto time = [&](const Scheme& scheme) {
            return simulate(plan_for(op, layout_of(cluster), scheme, bytes, 0), cluster, bytes)
                .makespan;
        };
        EXPECT_LT(2 * time(chain), time(whole)) << to_string(op);
    }
}

TEST(Schemes, HaveNamesThatReadBack) {
    for (const Scheme& scheme : schemes_up_to(2)) {
        EXPECT_EQ(scheme_named(name_of(scheme)), scheme) << name_of(scheme);
    }
    for (const char* wrong :
         {"", "lanes", "lanes/0/ring/shared", "lanes/x/ring/shared", "lanes/2/ring/shared/late",
          "flat/ring", "planes/2/ring/shared", "flat/ring/shared/early/early",
          "lanes/1/ring/shared/pieces-", "lanes/1/ring/shared/pieces-0",
          "lanes/1/ring/shared/pieces-8/early", "lanes/1/ring/shared/pieces-8x"}) {
        EXPECT_FALSE(scheme_named(wrong).has_value()) << wrong;
    }
}

} // namespace
