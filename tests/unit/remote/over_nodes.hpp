// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../cluster_team/switchboard.hpp"

#include <corymb/remote_nodes.hpp>
#include <corymb/task.hpp>

#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace corymb {

using Nodes = std::vector<int>;

/// Each rank is a thread; `main(rank)` gives its task.
inline void over_nodes(const Nodes& node_of_rank, const std::function<Task<>(Rank)>& main,
                       const RemoteOptions& options = {}) {
    cluster_test::Switchboard board;
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < static_cast<Rank>(node_of_rank.size()); ++rank) {
        threads.emplace_back([&, rank] {
            cluster_test::Line line(board, rank);
            {
                RemoteRank own = join_over_nodes(line, node_of_rank, rank, options);
                EXPECT_EQ(own.rank(), rank);
                EXPECT_EQ(own.size(), static_cast<int>(node_of_rank.size()));
                own.run(main(rank));
            }
            EXPECT_EQ(line.posted(), 0u);
        });
    }
}

} // namespace corymb
