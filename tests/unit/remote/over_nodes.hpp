// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../cluster_team/switchboard.hpp"

#include <corymb/remote_nodes.hpp>
#include <corymb/task.hpp>
#include <corymb/tcp_carrier.hpp>

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <ostream>
#include <string>
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

/// The nodes are pretended, the connections are not. `main(own)` is given the rank.
inline void over_tcp(const Nodes& node_of_rank, const std::function<void(RemoteRank&)>& main,
                     const RemoteOptions& options = {}) {
    const auto name_of = [&](Rank rank) {
        return std::to_string(node_of_rank[static_cast<std::size_t>(rank)]);
    };
    const std::string own_node = name_of(0);
    TcpOptions first_options;
    first_options.node = own_node;
    TcpCarrier first(static_cast<int>(node_of_rank.size()), "127.0.0.1", first_options);
    const auto live = [&](TcpCarrier& carrier) {
        carrier.meet();
        EXPECT_EQ(carrier.node_of_rank(), node_of_rank);
        RemoteRank own = join_over_nodes(carrier, node_of_rank, carrier.rank(), options);
        main(own);
    };
    std::vector<std::jthread> threads;
    for (Rank rank = 1; rank < static_cast<Rank>(node_of_rank.size()); ++rank) {
        threads.emplace_back([&, rank] {
            const std::string node = name_of(rank);
            TcpOptions of_rank;
            of_rank.node = node;
            TcpCarrier carrier(first.join_line(), rank, of_rank);
            live(carrier);
        });
    }
    live(first);
}

/// Nodes, and what is between them.
struct NodesOver {
    Nodes nodes;
    bool is_tcp = false;

    friend void PrintTo(const NodesOver& way, std::ostream* to) {
        *to << (way.is_tcp ? "tcp" : "memory") << testing::PrintToString(way.nodes);
    }
};

inline void over_nodes(const NodesOver& way, const std::function<Task<>(Rank)>& main,
                       const RemoteOptions& options = {}) {
    if (!way.is_tcp) {
        over_nodes(way.nodes, main, options);
        return;
    }
    over_tcp(way.nodes, [&main](RemoteRank& own) { own.run(main(own.rank())); }, options);
}

} // namespace corymb
