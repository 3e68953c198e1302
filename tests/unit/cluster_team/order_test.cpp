// SPDX-License-Identifier: Apache-2.0
// The order of ranks in what combines, over several nodes, and vectors that are wanted whole.
#include "cluster_team/switchboard.hpp"
#include "team/order_rounds.hpp"

#include <corymb/carrier.hpp>
#include <corymb/operators.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using namespace corymb;
using cluster_test::on_nodes;

using Nodes = std::vector<int>;

class OrderOnNodes : public testing::TestWithParam<Nodes> {};

TEST_P(OrderOnNodes, OperatorsThatSayNothingGetTheRanksInTheirOrder) {
    on_nodes(GetParam(), [](Team& team) {
        for (const std::size_t count : {1U, 300U}) {
            EXPECT_NO_THROW(order_test::run_all(team, count));
        }
    });
}

/// The first element is a factor of all others.
void then(const void* left, const void* right, void* out, std::size_t count, void* /*context*/) {
    if (count == 0) {
        return;
    }
    const auto* f = static_cast<const std::uint64_t*>(left);
    const auto* g = static_cast<const std::uint64_t*>(right);
    auto* to = static_cast<std::uint64_t*>(out);
    const std::uint64_t factor = g[0];
    const std::uint64_t both = f[0] * factor;
    for (std::size_t i = 1; i < count; ++i) {
        to[i] = f[i] * factor + g[i];
    }
    to[0] = both;
}

std::vector<std::uint64_t> vector_of(Rank rank, std::size_t count) {
    std::vector<std::uint64_t> own(count, static_cast<std::uint64_t>(rank) + 5);
    own[0] = static_cast<std::uint64_t>(rank) + 2;
    return own;
}

std::vector<std::uint64_t> combined(Rank ranks, std::size_t count) {
    std::vector<std::uint64_t> all = vector_of(0, count);
    for (Rank rank = 1; rank < ranks; ++rank) {
        then(all.data(), vector_of(rank, count).data(), all.data(), count, nullptr);
    }
    return all;
}

TEST_P(OrderOnNodes, VectorsComeWhole) {
    on_nodes(GetParam(), [](Team& team) {
        const Reduction whole{then, sizeof(std::uint64_t), false, nullptr, 0, true};
        const auto ranks = static_cast<std::size_t>(team.size());
        const auto own = static_cast<std::size_t>(team.rank());
        for (const std::size_t count : {1U, 4U, 5000U}) {
            const auto one = vector_of(team.rank(), count);
            const auto all = vector_of(team.rank(), count * ranks);
            std::vector<std::uint64_t> out(count);
            team.run({Collective::allreduce, 0, one.data(), out.data(), count, whole});
            EXPECT_EQ(out, combined(team.size(), count));
            const auto scattered = combined(team.size(), count * ranks);
            const auto begin = scattered.begin() + static_cast<std::ptrdiff_t>(own * count);
            const std::vector<std::uint64_t> wanted(begin,
                                                    begin + static_cast<std::ptrdiff_t>(count));
            const CollectiveOperation operation{
                Collective::reduce_scatter, 0, all.data(), out.data(), count, whole};
            team.run(operation);
            EXPECT_EQ(out, wanted);
            out.assign(count, 0);
            team.start(operation).wait();
            EXPECT_EQ(out, wanted);
            out.assign(count, 0);
            Request request = team.prepare(operation);
            request.start();
            request.wait();
            EXPECT_EQ(out, wanted);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Shapes, OrderOnNodes,
                         testing::Values(Nodes{0, 1}, Nodes{0, 0, 1, 1, 1}, Nodes{0, 1, 0, 2, 1}));

} // namespace
