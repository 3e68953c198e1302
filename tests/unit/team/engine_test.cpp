// SPDX-License-Identifier: Apache-2.0
// Every step kind over every mechanism, by whole operations on real threads.
#include "limits.hpp"
#include "sample_plans.hpp"

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace corymb {
namespace {

using namespace team_test;

TeamOptions with_plans(const PlanSource& plans) {
    TeamOptions options;
    options.deadline = test_limit();
    options.plans = plans;
    return options;
}

PlanSource barriers(Plan (*make)(int)) {
    return [make](const PlanNeed& need) {
        return make(need.size);
    };
}

/// No rank may leave barrier k before every rank has come to it.
void expect_barrier(Plan (*make)(int), int size, int rounds) {
    std::vector<std::atomic<int>> arrived(static_cast<std::size_t>(size));
    std::atomic<int> early{0};
    threads(
        size,
        [&](Team& team) {
            for (int round = 1; round <= rounds; ++round) {
                arrived[static_cast<std::size_t>(team.rank())].store(round,
                                                                     std::memory_order_relaxed);
                team.barrier();
                for (const auto& other : arrived) {
                    early += other.load(std::memory_order_relaxed) < round;
                }
            }
        },
        with_plans(barriers(make)));
    EXPECT_EQ(early, 0);
}

TEST(EngineTest, DisseminationHoldsEverybody) {
    for (const int size : {1, 2, 3, 5, 8}) {
        expect_barrier(dissemination, size, 300);
    }
}

TEST(EngineTest, CentralBarrierHoldsEverybody) {
    for (const int size : {1, 2, 3, 5, 8}) {
        expect_barrier(central, size, 300);
    }
}

void expect_broadcast(const PlanSource& plans, int size, std::size_t bytes, int rounds) {
    std::atomic<int> wrong{0};
    threads(
        size,
        [&](Team& team) {
            std::vector<std::uint8_t> data(bytes);
            for (int round = 0; round < rounds; ++round) {
                const Rank root = round % team.size();
                const auto fill = [&](std::size_t i) {
                    return static_cast<std::uint8_t>(i * 7 + static_cast<std::size_t>(round));
                };
                for (std::size_t i = 0; i < bytes; ++i) {
                    data[i] = team.rank() == root ? fill(i) : std::uint8_t{0xee};
                }
                team.broadcast(std::span(data), root);
                for (std::size_t i = 0; i < bytes; ++i) {
                    wrong += data[i] != fill(i);
                }
            }
        },
        with_plans(plans));
    EXPECT_EQ(wrong, 0) << size << " ranks, " << bytes << " bytes";
}

TEST(EngineTest, BroadcastArrivesByEveryMechanism) {
    for (const int size : {1, 2, 3, 6}) {
        for (const std::size_t bytes : {1u, 8u, 56u}) {
            for (const auto via : {Mechanism::line, Mechanism::cells, Mechanism::pull}) {
                expect_broadcast(
                    [via](const PlanNeed& n) {
                        return star_broadcast(n.size, n.root, n.bytes, via);
                    },
                    size, bytes, 50);
                if (via != Mechanism::cells) {
                    expect_broadcast(
                        [via](const PlanNeed& n) {
                            return shared_broadcast(n.size, n.root, n.bytes, via);
                        },
                        size, bytes, 50);
                }
            }
        }
    }
}

TEST(EngineTest, BlocksOfLargePayloadsArrive) {
    for (const std::size_t bytes : {57u, 8192u, 8193u, 100'003u, 262'144u}) {
        for (const std::uint32_t blocks : {1u, 3u, 8u}) {
            for (const auto via : {Mechanism::cells, Mechanism::pull}) {
                expect_broadcast(
                    [via, blocks](const PlanNeed& n) {
                        return star_broadcast(n.size, n.root, n.bytes, via, blocks);
                    },
                    3, bytes, 4);
            }
        }
    }
}

/// Concatenation of short texts: associative, not commutative, so it shows the order of combining.
struct Text {
    char letters[16] = {};
};
struct concatenate {
    Text operator()(const Text& a, const Text& b) const {
        Text joined = a;
        std::size_t end = std::strlen(a.letters);
        for (const char* letter = b.letters; *letter != 0 && end + 1 < sizeof joined.letters;) {
            joined.letters[end++] = *letter++;
        }
        return joined;
    }
};

TEST(EngineTest, ReductionsKeepRankOrderWhenThePlanDoes) {
    const auto plans = [](const PlanNeed& need) {
        EXPECT_TRUE(need.ordered);
        return chain_reduce(need.size, need.bytes, Mechanism::line);
    };
    threads(
        5,
        [](Team& team) {
            Text mine;
            mine.letters[0] = static_cast<char>('a' + team.rank());
            Text all;
            for (int round = 0; round < 20; ++round) {
                team.reduce(std::span<const Text>(&mine, 1), std::span(&all, 1), concatenate{});
            }
            if (team.rank() == 0) {
                EXPECT_STREQ(all.letters, "abcde");
            }
        },
        with_plans(plans));
}

TEST(EngineTest, FoldsEveryElementOnceByEveryMechanism) {
    for (const auto via : {Mechanism::cells, Mechanism::pull}) {
        for (const std::uint32_t blocks : {1u, 4u}) {
            const auto plans = [=](const PlanNeed& need) {
                return chain_reduce(need.size, need.bytes, via, blocks);
            };
            threads(
                4,
                [](Team& team) {
                    for (const std::size_t count : {1u, 1000u, 4099u}) {
                        std::vector<double> in(count), out(count, -1);
                        std::iota(in.begin(), in.end(), team.rank());
                        team.reduce(std::span<const double>(in), std::span(out));
                        for (std::size_t i = 0; team.rank() == 0 && i < count; ++i) {
                            ASSERT_EQ(out[i], 4 * static_cast<double>(i) + 6);
                        }
                    }
                },
                with_plans(plans));
        }
    }
}

TEST(EngineTest, RanksWriteIntoTheRootsOutput) {
    for (const bool folds : {false, true}) {
        const auto plans = [=](const PlanNeed& need) {
            return halves_reduce(need.bytes, folds);
        };
        threads(
            2,
            [](Team& team) {
                for (int round = 0; round < 200; ++round) {
                    const std::size_t count = round % 2 == 0 ? 4099 : 1;
                    std::vector<std::int64_t> in(count), out(count, -1);
                    std::iota(in.begin(), in.end(), round + team.rank());
                    const bool in_place = round % 3 == 0;
                    team.reduce(std::span<const std::int64_t>(in), std::span(in_place ? in : out));
                    for (std::size_t i = 0; team.rank() == 0 && i < count; ++i) {
                        ASSERT_EQ((in_place ? in : out)[i],
                                  2 * (static_cast<std::int64_t>(i) + round) + 1);
                    }
                }
            },
            with_plans(plans));
    }
}

TEST(EngineTest, KeepsRankOrderInWhatIsWrittenThere) {
    for (const bool folds : {false, true}) {
        const auto plans = [=](const PlanNeed& need) {
            return halves_reduce(need.bytes, folds);
        };
        threads(
            2,
            [](Team& team) {
                std::vector<Text> mine(64);
                for (Text& text : mine) {
                    text.letters[0] = static_cast<char>('a' + team.rank());
                }
                std::vector<Text> all(mine.size());
                team.reduce(std::span<const Text>(mine), std::span(all), concatenate{});
                for (const Text& text : all) {
                    EXPECT_TRUE(team.rank() != 0 || std::string(text.letters) == "ab");
                }
            },
            with_plans(plans));
    }
}

TEST(EngineTest, ElementsThatDoNotDivideACellArrive) {
    struct Triple {
        std::uint64_t value[3];
    };
    struct add {
        Triple operator()(const Triple& a, const Triple& b) const {
            return {{a.value[0] + b.value[0], a.value[1] + b.value[1], a.value[2] + b.value[2]}};
        }
    };
    const auto plans = [](const PlanNeed& need) {
        return chain_reduce(need.size, need.bytes, Mechanism::cells, 2);
    };
    threads(
        3,
        [](Team& team) {
            std::vector<Triple> in(5001), out(5001);
            for (std::size_t i = 0; i < in.size(); ++i) {
                in[i] = {{i, 2 * i, static_cast<std::uint64_t>(team.rank())}};
            }
            team.reduce(std::span<const Triple>(in), std::span(out), add{});
            for (std::size_t i = 0; team.rank() == 0 && i < in.size(); ++i) {
                ASSERT_EQ(out[i].value[0], 3 * i);
                ASSERT_EQ(out[i].value[1], 6 * i);
                ASSERT_EQ(out[i].value[2], 3u);
            }
        },
        with_plans(plans));
}

} // namespace
} // namespace corymb
