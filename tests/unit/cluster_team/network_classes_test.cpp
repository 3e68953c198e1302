// SPDX-License-Identifier: Apache-2.0
// Classes of nodes are found where they differ, and only there.
#include "cluster/network_classes.hpp"
#include "cluster_team/slow_line.hpp"
#include "limits.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <set>
#include <thread>
#include <utility>

namespace {

using namespace corymb;
using namespace std::chrono_literals;
using cluster::Meeting;
using cluster::Probe;
using cluster_test::SlowLine;
using cluster_test::Switchboard;

constexpr Network fast{20'000, 2'000, 1, 2};
constexpr Network slow{80'000, 5'000, 0.25, 0.5};

TEST(Meetings, AreOneForEachNodeInARound) {
    for (int nodes = 2; nodes <= 40; ++nodes) {
        const auto rounds = cluster::meetings_of(nodes);
        EXPECT_LE(rounds.size(), 6U);
        std::set<Meeting> all;
        for (const auto& round : rounds) {
            std::set<int> busy;
            for (const auto& [one, other] : round) {
                EXPECT_LT(one, other);
                EXPECT_GE(one, 0);
                EXPECT_LT(other, nodes);
                EXPECT_TRUE(busy.insert(one).second && busy.insert(other).second);
                EXPECT_TRUE(all.insert({one, other}).second) << "they have met before";
            }
            EXPECT_GE(busy.size() + 1, static_cast<std::size_t>(nodes)) << "more than one idles";
        }
        if (nodes <= 6) {
            EXPECT_EQ(all.size(), static_cast<std::size_t>(nodes * (nodes - 1) / 2));
        }
    }
}

/// What nodes see in their meetings, each number worse than it is by up to `noise`.
std::vector<Network> seen(const std::vector<Network>& nodes, double noise, unsigned seed) {
    std::mt19937 dice(seed);
    std::uniform_real_distribution<double> worse(1, noise);
    std::vector<Network> best(nodes.size(), Network{1e12, 1e12, 1e-12, 1e-12});
    for (const auto& round : cluster::meetings_of(static_cast<int>(nodes.size()))) {
        for (const auto& [first, second] : round) {
            const auto one = static_cast<std::size_t>(first);
            const auto other = static_cast<std::size_t>(second);
            Network pair = network_between(nodes[one], nodes[other]);
            pair.start_up_ns *= worse(dice);
            pair.message_gap_ns *= worse(dice);
            pair.stream_gbs /= worse(dice);
            pair.node_gbs = pair.stream_gbs;
            best[one] = cluster::best_of(best[one], pair);
            best[other] = cluster::best_of(best[other], pair);
        }
    }
    return best;
}

TEST(NetworkClasses, AreOneWhereNothingIsLikeAnything) {
    std::vector<Network> best;
    for (double start_up_ns = 10'000; best.size() < 9; start_up_ns *= 4) {
        best.push_back({start_up_ns, 100, 1, 1});
    }
    EXPECT_EQ(cluster::classes_of(best), std::vector<int>(9, 0));
}

/// From meetings to costs, as all ranks do it. Noise only before the classes are measured.
Networks found(const std::vector<Network>& nodes, double noise, unsigned seed) {
    const auto best = seen(nodes, noise, seed);
    const auto classes = cluster::classes_of(best);
    const auto probes = cluster::probes_of(classes, best);
    std::vector<Network> measured;
    for (const Probe& probe : probes) {
        EXPECT_NE(probe.nodes.first, probe.nodes.second);
        measured.push_back(network_between(nodes[static_cast<std::size_t>(probe.nodes.first)],
                                           nodes[static_cast<std::size_t>(probe.nodes.second)]));
    }
    return cluster::networks_of(classes, best, probes, measured);
}

/// Where much noise makes nodes look different, they measure the same after all.
TEST(NetworkClasses, AreOneWhereNodesAreEqual) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        const double noise = 1 + seed % 4;
        EXPECT_EQ(found(std::vector<Network>(2 + seed % 30, fast), noise, seed),
                  (Networks{{fast}, {}}))
            << "seed " << seed;
    }
}

TEST(NetworkClasses, AreFoundWhereverNodesStand) {
    for (int size = 3; size <= 6; ++size) {
        for (unsigned mask = 0; mask < 1U << size; ++mask) {
            std::vector<Network> nodes;
            for (int node = 0; node < size; ++node) {
                nodes.push_back((mask >> node & 1U) != 0 ? fast : slow);
            }
            if (std::ranges::count(nodes, fast) < 2) {
                continue; // Nobody is as fast as it, so nobody can tell how fast it is.
            }
            const Networks networks = found(nodes, 1.2, mask);
            for (std::size_t node = 0; node < nodes.size(); ++node) {
                const auto number = networks.of_node.empty() ? 0 : networks.of_node[node];
                EXPECT_EQ(networks.classes[static_cast<std::size_t>(number)], nodes[node])
                    << "node " << node << ", mask " << mask << " of " << size;
            }
        }
    }
}

TEST(NetworkClasses, AreOneAfterAllWhereTheyMeasureTheSame) {
    const std::vector<Probe> probes{{1, {1, 2}, false}, {0, {0, 3}, false}};
    const std::vector<int> classes{0, 1, 1, 0};
    const std::vector<Network> best{slow, fast, fast, slow};
    const Network like_fast{30'000, 2'500, 0.8, 2};
    const Networks one = cluster::networks_of(classes, best, probes, std::vector{fast, like_fast});
    EXPECT_EQ(one, (Networks{{fast}, {}}));
    // They differ, but the other way round; or by something else than before.
    const Networks turned = cluster::networks_of(classes, best, probes, std::vector{slow, fast});
    EXPECT_EQ(turned, (Networks{{slow}, {}}));
    std::vector<Network> late{fast, fast, fast, fast};
    late[0].start_up_ns = late[3].start_up_ns = 90'000;
    const Network narrow{20'000, 2'000, 0.1, 0.1};
    EXPECT_EQ(cluster::networks_of(classes, late, probes, std::vector{fast, narrow}),
              (Networks{{fast}, {}}));
}

TEST(NetworkClasses, HaveTheirOwnHalfOfAStartUp) {
    const std::vector<Probe> probes{{0, {0, 1}, false}, {1, {2, 0}, true}};
    const std::vector<Network> best{fast, fast, network_between(fast, slow)};
    const std::vector<int> classes{0, 0, 1};
    const Networks networks =
        cluster::networks_of(classes, best, probes, std::vector{fast, best[2]});
    EXPECT_EQ(networks, (Networks{{fast, slow}, {0, 0, 1}}));
}

TEST(NetworkClasses, HaveTheGapOfAllNodesAtOnceIfThatIsLonger) {
    const Networks networks{{fast, slow}, {0, 0, 0, 0, 1, 1}};
    // The fourth node was left alone; the others of the first class have a median of 9 us.
    const Networks crowded =
        cluster::with_gaps(networks, std::vector<double>{9'000, 3'000, 9'500, 0, 100, 400});
    EXPECT_EQ(crowded.classes[0], (Network{20'000, 9'000, 1, 2}));
    EXPECT_EQ(crowded.classes[1], slow);
    EXPECT_EQ(crowded.of_node, networks.of_node);
    EXPECT_EQ(cluster::with_gaps({{fast}, {}}, std::vector<double>{0, 0}), (Networks{{fast}, {}}));
}

/// What ranks find with messages that take as long as their nodes say.
Networks measured_with(const std::vector<int>& node_of_rank, const std::vector<Network>& nodes) {
    Switchboard board;
    std::vector<Network> network_of_rank;
    for (const int node : node_of_rank) {
        network_of_rank.push_back(nodes[static_cast<std::size_t>(node)]);
    }
    std::vector<Networks> results(node_of_rank.size());
    {
        std::vector<std::jthread> threads;
        for (std::size_t rank = 0; rank < results.size(); ++rank) {
            threads.emplace_back([&, rank] {
                SlowLine line(board, static_cast<Rank>(rank), network_of_rank);
                results[rank] = measure_networks(line, node_of_rank, static_cast<Rank>(rank), 1ms);
            });
        }
    }
    EXPECT_TRUE(board.is_empty());
    for (const Networks& other : results) {
        EXPECT_EQ(other, results.front());
    }
    return results.front();
}

/// So slow that a machine which is not busy adds little; `times` as slow on one that is.
Network near(int times) {
    return {6e6 * times, 0, 0.0006 / times, 0.0006 / times};
}
Network far(int times) {
    return {6e6 * times, 0, 0.0002 / times, 0.0002 / times};
}

/// Threads wait longer than messages take: nothing can be found out then.
bool is_busy(const Networks& networks, const Network& least) {
    return networks.classes[0].start_up_ns > 2 * least.start_up_ns ||
           networks.classes[0].stream_gbs < least.stream_gbs / 1.3;
}

/// What is found where the first node is near and the others are as given, and how slow that was
/// made until the machine was not too busy to find it.
std::pair<Networks, int> found(const std::vector<int>& node_of_rank, Network (&second)(int)) {
    for (int times = slowness();; times *= 2) {
        Networks networks = measured_with(node_of_rank, {near(times), second(times), near(times)});
        if (!is_busy(networks, near(times)) || times > 64 * slowness()) {
            return {std::move(networks), times};
        }
    }
}

TEST(NetworkClasses, AreMeasuredWithMessages) {
    const auto [networks, times] = found({0, 0, 1, 2, 2}, far);
    ASSERT_EQ(networks.classes.size(), 2U) << to_text(networks);
    EXPECT_EQ(networks.of_node, (std::vector<int>{0, 1, 0}));
    EXPECT_GE(networks.classes[0].start_up_ns, near(times).start_up_ns);
    EXPECT_LE(networks.classes[0].stream_gbs, 1.5 * near(times).stream_gbs);
    EXPECT_LE(networks.classes[1].stream_gbs, 1.5 * far(times).stream_gbs);
}

TEST(NetworkClasses, AreNotMadeUp) {
    const Networks networks = found({0, 1, 2, 2}, near).first;
    EXPECT_EQ(networks.classes.size(), 1U) << to_text(networks);
    EXPECT_TRUE(networks.of_node.empty());
}

} // namespace
