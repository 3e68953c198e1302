// SPDX-License-Identifier: Apache-2.0
// Thousands of ranks: costs by group, no memory quadratic in the number of ranks.
#include "../rounds.hpp"
#include "planning.hpp"

#include "plan/search/greedy.hpp"

#include <corymb/error.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace corymb::test {
namespace {

/// Nodes of 2 sockets of 8 groups of 8 ranks: 20, 90, 180 within a node, 1,500 between nodes.
CostView clustered_costs(Rank size) {
    constexpr std::int32_t group_size = 8;
    constexpr std::int32_t socket = 8;
    const std::int32_t groups = size / group_size;
    std::vector<std::int32_t> group;
    for (Rank rank = 0; rank < size; ++rank) {
        group.push_back(rank / group_size);
    }
    std::vector<float> send;
    std::vector<float> receive;
    for (std::int32_t a = 0; a < groups; ++a) {
        for (std::int32_t b = 0; b < groups; ++b) {
            const bool same_node = a / (2 * socket) == b / (2 * socket);
            const float latency = a == b                     ? 20.0F
                                  : a / socket == b / socket ? 90.0F
                                  : same_node                ? 180.0F
                                                             : 1500.0F;
            receive.push_back(latency);
            send.push_back(same_node ? 0.28F * latency : 300.0F);
        }
    }
    return {std::move(group), std::move(send), std::move(receive)};
}

TEST(Scale, FourThousandRanksNeedNoSquareOfMemory) {
    const CostView costs = clustered_costs(4096);
    EXPECT_FALSE(costs.is_dense());
    EXPECT_LT(costs.memory_bytes(), 4096U * 1024U);
    GenerateInput input{.costs = costs};
    input.moves = static_cast<std::uint64_t>(rounds(400'000));
    const double greedy =
        evaluate(family("earliest-completion").make(Collective::broadcast, input), costs);
    const Plan plan = family("annealed").make(Collective::broadcast, input);
    const double annealed = evaluate(plan, costs);
    EXPECT_LE(annealed, greedy);
    const Bound bound = lower_bound(Collective::broadcast, input);
    EXPECT_EQ(bound.kind, "path");
    EXPECT_GE(annealed, bound.value);
    EXPECT_GE(bound.value, 1800);
}

TEST(Scale, GroupedAndDenseCostsAgree) {
    const CostView grouped = clustered_costs(256);
    std::vector<float> send(256 * 256);
    std::vector<float> receive(256 * 256);
    for (Rank from = 0; from < 256; ++from) {
        for (Rank to = 0; to < 256; ++to) {
            const auto index = static_cast<std::size_t>(from * 256 + to);
            send[index] = static_cast<float>(grouped.send(from, to));
            receive[index] = static_cast<float>(grouped.receive(from, to));
        }
    }
    const CostView dense(256, std::move(send), std::move(receive));
    const Plan plan = family("binomial").make(Collective::broadcast, {.costs = grouped});
    EXPECT_EQ(evaluate(plan, grouped), evaluate(plan, dense));
    const TreeCosts by_group(grouped, Flow::down);
    const TreeCosts by_rank(dense, Flow::down);
    EXPECT_EQ(makespan(earliest_completion(by_group, 0), by_group),
              makespan(earliest_completion(by_rank, 0), by_rank));
}

TEST(CostView, RefusesBadInput) {
    EXPECT_THROW(CostView(2, {1, 2, 3}, {1, 2, 3}), Error);
    EXPECT_THROW(CostView(2, {0, -1, 1, 0}, {0, 1, 1, 0}), Error);
    EXPECT_THROW(CostView(2, {0, 1, 1, 0}, {0, NAN, 1, 0}), Error);
    EXPECT_THROW(CostView(0, {}, {}), Error);
    const Machine machine = gallery_machine("m1-ultra-20c");
    const std::vector<int> outside{0, 20};
    EXPECT_THROW(CostView(machine, outside), Error);
}

} // namespace
} // namespace corymb::test
