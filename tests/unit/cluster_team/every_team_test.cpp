// SPDX-License-Identifier: Apache-2.0
// What every team does, done by one over several nodes: values, layouts, limits; and what it
// refuses. Threads play the ranks.
#include "cache_directory.hpp"
#include "cluster_team/switchboard.hpp"

#include <corymb/discover.hpp>
#include <corymb/noise.hpp>
#include <corymb/packed.hpp>
#include <corymb/team.hpp>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <numeric>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace corymb;
using namespace std::chrono_literals;
using cluster_test::on_nodes;

using Nodes = std::vector<int>;

/// "unsupported: ..." or another code and text of an error; "" for none.
std::string error_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return std::string(to_string(error.code())) + ": " + error.what();
    }
    return "";
}

bool has(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

TEST(TeamOverNodes, TakesValues) {
    on_nodes({0, 0, 1, 2, 1}, [](Team& team) {
        EXPECT_EQ(team.broadcast(team.rank() == 3 ? 7.5 : 0.0, 3), 7.5);
        EXPECT_EQ(team.allreduce(team.rank() + 1), 15);
        EXPECT_EQ(team.allreduce(team.rank(), maximum{}), 4);
    });
}

TEST(TeamOverNodes, TakesLayouts) {
    on_nodes({0, 1, 1}, [](Team& team) {
        std::vector<int> grid(20, -1);
        const auto column = strided(grid.data() + 2, 4, 1, 5);
        if (team.rank() == 1) {
            std::iota(grid.begin(), grid.end(), 0);
        }
        team.broadcast(column, 1);
        std::vector<int> sums(20, -1);
        const auto row = strided(sums.data(), 1, 4, 4);
        Request request = team.iallreduce(column, row);
        request.wait();
        for (int i = 0; i < 4; ++i) {
            const auto place = static_cast<std::size_t>(i);
            EXPECT_EQ(grid[2 + 5 * place], 2 + 5 * i);
            EXPECT_EQ(sums[place], 3 * (2 + 5 * i));
        }
    });
}

TEST(TeamOverNodes, ADeadlineOfACallNamesWhoIsLate) {
    for (const Nodes& where : {Nodes{0, 1}, Nodes{0, 0}}) {
        std::vector<std::string> thrown;
        std::atomic<bool> is_over{false};
        on_nodes(
            where,
            [&](Team& team) {
                if (team.rank() == 1) {
                    while (!is_over) {
                        std::this_thread::sleep_for(1ms);
                    }
                    return;
                }
                const std::string error =
                    error_of([&] { team.limited({.deadline = 50ms}, [&] { team.barrier(); }); });
                is_over = true;
                EXPECT_TRUE(has(error, "timeout: ")) << error;
                EXPECT_TRUE(has(error, "rank 1")) << error;
                EXPECT_EQ(team.limits().deadline, 0ns);
            },
            {}, &thrown);
    }
}

TEST(TeamOverNodes, AStopEndsACall) {
    for (const bool blocks : {true, false}) {
        std::vector<std::string> thrown;
        std::atomic<bool> is_over{false};
        on_nodes(
            {0, 1},
            [&](Team& team) {
                if (team.rank() == 1) {
                    while (!is_over) {
                        std::this_thread::sleep_for(1ms);
                    }
                    return;
                }
                std::stop_source source;
                team.set_limits({.stop = source.get_token()});
                const std::jthread stopper([&source] {
                    std::this_thread::sleep_for(20ms);
                    source.request_stop();
                });
                const std::string error = error_of([&] {
                    if (blocks) {
                        team.barrier();
                    } else {
                        team.ibarrier().wait();
                    }
                });
                is_over = true;
                EXPECT_TRUE(has(error, "interrupted: ")) << error;
                EXPECT_TRUE(has(error, "rank 0 (node 0) was told to stop")) << error;
            },
            {}, &thrown);
    }
}

TEST(TeamOverNodes, NamesItsPlans) {
    on_nodes({0, 0, 1}, [](Team& team) {
        team.warm_up(Collective::allgather, 64);
        const ChosenPlan chosen = team.chosen_plan(Collective::allgather, 64);
        EXPECT_NE(chosen.algorithm, "");
        EXPECT_EQ(team.chosen_plans().size(), 1u);
        EXPECT_EQ(team.chosen_plans()[0].algorithm, chosen.algorithm);
        EXPECT_GT(team.memory(), 0u);
    });
}

TEST(TeamOverNodes, CountsWhatARankDoesAndWhoIsLate) {
    for (const Nodes& where : {Nodes{0, 1}, Nodes{0, 0}}) {
        std::atomic<bool> is_noticed{false};
        on_nodes(where, [&](Team& team) {
            for (std::uint64_t round = 1; !is_noticed; ++round) {
                if (team.rank() == 1) {
                    std::this_thread::sleep_for(5ms);
                }
                EXPECT_EQ(team.allreduce(1), 2);
                const TeamStatistics all = team.statistics();
                EXPECT_EQ(all.operations, 2 * round - 1);
                EXPECT_EQ(all.bytes, round * sizeof(int));
                EXPECT_EQ(all.waited_for[static_cast<std::size_t>(team.rank())], 0ns);
                EXPECT_FALSE(all.plans.empty());
                if (team.rank() == 0 && all.waited_for[1] >= 10ms) {
                    is_noticed = true;
                }
                team.barrier(); // All see it, or none.
            }
        });
    }
}

TEST(TeamOverNodes, RefusesWhatItCannotDoAndGoesOn) {
    on_nodes({0, 1}, [](Team& team) {
        int value = 1;
        const auto refused = [](const std::string& error, const char* words) {
            EXPECT_TRUE(has(error, "unsupported: ") && has(error, words)) << error;
        };
        refused(error_of([&] { team.send(std::span(&value, 1), 1 - team.rank()); }),
                "not carried between nodes");
        refused(error_of([&] { team.irecv(std::span(&value, 1), 0).wait(); }),
                "not carried between nodes");
        refused(error_of([&] { static_cast<void>(team.split(0)); }), "split the local teams");
        refused(error_of([&] { static_cast<void>(team.shrink()); }), "make new local teams");
        refused(error_of([&] { static_cast<void>(team.plan(Collective::barrier)); }),
                "make_plan with the cluster");
        EXPECT_EQ(team.allreduce(value), 2);
    });
}

/// A local team with these options stays as it was; the error of taking it over two nodes.
std::string refusal_of(const TeamOptions& given) {
    cluster_test::Switchboard board;
    cluster_test::Line line(board, 0);
    ThreadTeam node(1, given);
    Team local = node.join(0);
    ClusterOptions options;
    options.node_of_rank = {0, 1};
    const std::string error =
        error_of([&] { static_cast<void>(over_nodes(std::move(local), line, options)); });
    EXPECT_EQ(local.allreduce(3), 3) << "it is as it was"; // NOLINT(bugprone-use-after-move)
    return error;
}

TEST(TeamOverNodes, RefusesReproducibleTeams) {
    TeamOptions same_sums;
    same_sums.reproducible = true;
    const std::string error = refusal_of(same_sums);
    EXPECT_TRUE(has(error, "unsupported: TeamOptions::reproducible")) << error;
}

using TeamOverNodesWithNoise = CacheDirectory;

TEST_F(TeamOverNodesWithNoise, RefusesTeamsForTheTail) {
    NoiseTrace trace;
    trace.cpus = {{0, 1e6, {{1000, 20'000}}}};
    std::ofstream(cached_noise_path()) << to_json(trace);
    TeamOptions tail;
    tail.objective = "p99";
    const std::string error = refusal_of(tail);
    EXPECT_TRUE(has(error, "unsupported: TeamOptions::objective")) << error;
}

} // namespace
