// SPDX-License-Identifier: Apache-2.0
// Broadcast and reduce whose data goes in slices, by a leader each. Threads play the ranks.
#include "cluster_team/switchboard.hpp"
#include "plan/nodes/scheme.hpp"

#include <corymb/simulate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace corymb;
using cluster_test::on_nodes;
using Nodes = std::vector<int>;

constexpr std::size_t count = 9001; // Slices of unequal length.

std::int64_t value(Rank rank, std::size_t place, int round) {
    return static_cast<std::int64_t>(place) * (rank + 3) + round;
}

/// From a root to all, and back to it: every call of some.
void go_around(Team& team, Rank root, int round) {
    std::vector<std::int64_t> data(count, -1);
    std::vector<std::int64_t> own(count);
    std::vector<std::int64_t> sums(count, -1);
    for (std::size_t place = 0; place < count; ++place) {
        own[place] = value(team.rank(), place, round);
    }
    if (team.rank() == root) {
        data = own;
    }
    team.broadcast(std::span(data), root);
    team.reduce(std::span<const std::int64_t>(own), std::span(sums), std::plus<>(), root);
    for (std::size_t place = 0; place < count; ++place) {
        ASSERT_EQ(data[place], value(root, place, round)) << place;
        std::int64_t sum = 0;
        for (Rank rank = 0; rank < team.size(); ++rank) {
            sum += value(rank, place, round);
        }
        ASSERT_EQ(sums[place], team.rank() == root ? sum : -1) << place;
    }
}

class LeadersOfSlices : public testing::TestWithParam<std::string> {};

TEST_P(LeadersOfSlices, BringAllToWhereItBelongs) {
    const auto scheme = *nodes::scheme_named(GetParam());
    for (const Nodes& where :
         {Nodes{0, 0, 0, 1, 1, 1}, Nodes{0, 0, 0, 1, 2, 2}, Nodes{1, 0, 0, 1, 0, 2}}) {
        const nodes::Layout layout(where);
        for (const Collective op : {Collective::broadcast, Collective::reduce}) {
            ASSERT_TRUE(nodes::applies(op, layout, scheme, count * sizeof(std::int64_t)));
        }
        ClusterOptions options;
        options.plans = [&](const PlanNeed& need) {
            return nodes::plan_for(need.op, layout, scheme, need.bytes, need.root);
        };
        on_nodes(
            where,
            [](Team& team) {
                for (int round = 0; round < 2; ++round) {
                    for (Rank root = 0; root < team.size(); ++root) {
                        go_around(team, root, round);
                    }
                }
            },
            options);
    }
}

INSTANTIATE_TEST_SUITE_P(Schemes, LeadersOfSlices,
                         testing::Values("lanes/2/binomial/shared", "lanes/3/binomial/messages",
                                         "lanes/2/ring/shared/pieces-8",
                                         "lanes/3/ring/messages/pieces-8"));

} // namespace
