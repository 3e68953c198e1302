// SPDX-License-Identifier: Apache-2.0
// Deadlocks among the tasks of several ranks are found, and nothing else is taken for one.
#include "remote/among.hpp"
#include "remote/over_nodes.hpp"
#include "remote/seeded_cycle.hpp"

#include <corymb/when.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace corymb {
namespace {

using namespace std::chrono_literals;
using cycle_test::Cycle;
using cycle_test::is_rotation;

std::string text_of(const std::optional<Deadlock>& found) {
    return found.has_value() ? found->text() : "no deadlock";
}

class SeededCycle : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(SeededCycle, AmongThreadsIsFoundAsItIs) {
    const int size = 2 + static_cast<int>(GetParam() % 3);
    const Cycle cycle(GetParam(), size);
    std::optional<Deadlock> found;
    RemoteGroup group(size);
    {
        std::vector<std::jthread> threads;
        for (Rank rank = 0; rank < size; ++rank) {
            threads.emplace_back([&, rank] {
                RemoteRank own = group.join(rank);
                cycle_test::live(own, cycle, found);
            });
        }
    }
    EXPECT_TRUE(found.has_value() && is_rotation(cycle.steps(), *found)) << text_of(found);
}

TEST_P(SeededCycle, OverNodesIsFoundAsItIs) {
    const Nodes nodes = GetParam() % 2 == 0 ? Nodes{0, 1} : Nodes{0, 1, 0, 2};
    const Cycle cycle(GetParam(), static_cast<int>(nodes.size()));
    std::optional<Deadlock> found;
    cluster_test::Switchboard board;
    {
        std::vector<std::jthread> threads;
        for (Rank rank = 0; rank < static_cast<Rank>(nodes.size()); ++rank) {
            threads.emplace_back([&, rank] {
                cluster_test::Line line(board, rank);
                RemoteRank own = join_over_nodes(line, nodes, rank);
                cycle_test::live(own, cycle, found);
            });
        }
    }
    EXPECT_TRUE(found.has_value() && is_rotation(cycle.steps(), *found)) << text_of(found);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SeededCycle, ::testing::Range<std::uint64_t>(0, 20));

class Box;
Task<> open_one(Remote<Box> first, std::vector<Remote<Box>> rest, std::uint64_t seed);

/// Opens boxes one after the other, each while those before are held.
class Box {
public:
    static constexpr bool is_exclusive = true;
    Task<> open(std::vector<Remote<Box>> rest, std::uint64_t seed) {
        Random random(seed);
        if (random.below(3) == 0) {
            co_await this_task::sleep_for(std::chrono::microseconds(random.below(50)));
        }
        if (rest.empty()) {
            co_return;
        }
        const Remote<Box> next = rest.front();
        rest.erase(rest.begin());
        const std::uint64_t of_next = random.next();
        const auto way = static_cast<cycle_test::Way>(random.below(4));
        if (way == cycle_test::Way::direct) {
            co_await next.call<&Box::open>(rest, of_next);
        } else if (way == cycle_test::Way::over_a_rank) {
            const auto over = static_cast<Rank>(of_next % static_cast<std::uint64_t>(ranks()));
            co_await at<&open_one>(over, next, rest, of_next);
        } else if (way == cycle_test::Way::spawned) {
            Spawned<void> opening = spawn(open_one(next, rest, of_next));
            co_await opening;
        } else {
            co_await finish([&]() -> Task<> {
                co_await next.tell<&Box::open>(rest, of_next);
                co_await next.tell<&Box::look_in>();
            });
        }
    }
    Task<> look_in() const { co_await this_task::yield(); }
};

Task<> open_one(Remote<Box> first, std::vector<Remote<Box>> rest, std::uint64_t seed) {
    co_await first.call<&Box::open>(rest, seed);
}

Task<> open_within(std::chrono::microseconds limit, Remote<Box> first,
                   std::vector<Remote<Box>> rest, std::uint64_t seed) {
    try {
        co_await within(limit, open_one(first, rest, seed));
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::timeout) << error.what();
    }
}

Task<> open_any(Remote<Box> first, std::vector<Remote<Box>> rest, std::uint64_t seed) {
    std::vector<Task<>> tasks;
    tasks.push_back(open_one(first, rest, seed));
    tasks.push_back(open_one(first, {}, seed + 1));
    co_await when_any(std::move(tasks));
}

Task<> tell_within(std::chrono::microseconds limit, Remote<Box> first,
                   std::vector<Remote<Box>> rest, std::uint64_t seed) {
    try {
        co_await within(limit,
                        finish([&]() -> Task<> { co_await first.tell<&Box::open>(rest, seed); }));
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::timeout) << error.what();
    }
}

/// Calls that take boxes in one order; some have a limit, and some of those take them in the other
/// order, so that they would wait for ever without.
Task<> open_some(const std::vector<Remote<Box>>& boxes, std::uint64_t seed, int& left) {
    Random random(seed);
    std::vector<Remote<Box>> some;
    for (const Remote<Box> box : boxes) {
        if (random.below(2) == 0) {
            some.push_back(box);
        }
    }
    if (!some.empty()) {
        const std::uint64_t of_boxes = random.next();
        const std::uint32_t kind = random.below(5);
        if (kind >= 3) {
            std::ranges::reverse(some);
        }
        const Remote<Box> first = some.front();
        some.erase(some.begin());
        switch (kind) {
        case 0: co_await open_one(first, some, of_boxes); break;
        case 1: co_await open_any(first, some, of_boxes); break;
        case 4:
            co_await tell_within(std::chrono::microseconds(100 + random.below(900)), first, some,
                                 of_boxes);
            break;
        default:
            co_await open_within(std::chrono::microseconds(100 + random.below(900)), first, some,
                                 of_boxes);
            break;
        }
    }
    --left;
}

Task<> look_until(const int& left, int& looks) {
    while (left != 0) {
        const auto found = co_await find_deadlock();
        EXPECT_FALSE(found.has_value()) << text_of(found);
        ++looks;
    }
}

Task<> storm_here(std::vector<Remote<Box>> boxes, std::uint64_t seed) {
    static constexpr int chains = 6;
    int left = chains;
    int looks = 0;
    co_await finish([&] {
        for (int chain = 0; chain < chains; ++chain) {
            spawn(open_some(boxes, seed + static_cast<std::uint64_t>(chain), left));
        }
        spawn(look_until(left, looks));
    });
    EXPECT_GT(looks, 0);
}

Task<> storm(std::uint64_t seed) {
    Random random(seed);
    std::vector<Remote<Box>> boxes;
    for (int i = 0; i < 6; ++i) {
        const auto home = static_cast<Rank>(random.below(static_cast<std::uint32_t>(ranks())));
        boxes.push_back(co_await create<Box>(home));
    }
    co_await finish([&]() -> Task<> {
        for (Rank rank = 0; rank < ranks(); ++rank) {
            co_await tell<&storm_here>(rank, boxes, random.next());
        }
    });
}

/// 1,000 runs with CORYMB_LONG_TESTS=1.
TEST(DeadlockStorm, WithoutADeadlockNoneIsFound) {
    const std::uint64_t runs = std::getenv("CORYMB_LONG_TESTS") != nullptr ? 1000 : 60;
    for (std::uint64_t seed = 0; seed < runs && !HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        among(2 + static_cast<int>(seed % 3), [seed](Rank rank) -> Task<> {
            if (rank == 0) {
                co_await storm(seed);
            }
        });
    }
}

TEST(Deadlock, EndsTheRunThatWaitsForItAndNoOther) {
    const auto thrown = cycle_test::run_cross();
    EXPECT_FALSE(thrown[1].has_value() || thrown[2].has_value());
    ASSERT_TRUE(thrown[0].has_value()) << "it has not waited for ever";
    const std::string text = thrown[0]->what();
    EXPECT_EQ(thrown[0]->code(), Errc::deadlock) << text;
    EXPECT_EQ(thrown[0]->ranks(), (std::vector<Rank>{1, 2}));
    EXPECT_TRUE(text.starts_with("4 tasks wait for each other: on rank 1 ")) << text;
    EXPECT_NE(text.find("on rank 1 corymb::cycle_test::Link::hold waits for the answer of rank 2; "
                        "on rank 2 corymb::cycle_test::Link::take waits for object 0"),
              std::string::npos)
        << text;
}

TEST(Deadlock, IsNoneWhereSomethingElseCanEndIt) {
    among(1, [](Rank) -> Task<> {
        const auto slow = []() -> Task<> {
            co_await this_task::sleep_for(20ms);
        };
        Spawned<void> sleeping = spawn(slow());
        const auto joining = [](Spawned<void> of) -> Task<> {
            co_await of;
        };
        Spawned<void> waiting = spawn(joining(std::move(sleeping)));
        co_await this_task::yield();
        EXPECT_FALSE((co_await find_deadlock()).has_value());
        co_await waiting;
    });
}

TEST(Waits, ShowTasksCallsAndQueues) {
    among(2, [](Rank rank) -> Task<> {
        if (rank == 1) {
            co_return;
        }
        const auto sleep = []() -> Task<> {
            co_await this_task::sleep_for(1h);
        };
        std::stop_source stop;
        const auto call = [](auto what) -> Task<> {
            co_await at(1, what);
        };
        spawn(call(sleep), stop.get_token());
        const auto is_served_asleep = [](const TaskWait& task) {
            return task.serves.from == 0 && task.waits_for == "a time";
        };
        std::vector<RankWaits> all;
        do { // Until the call has come to its sleep.
            all = co_await waits_of_all();
        } while (std::ranges::none_of(all.at(1).tasks, is_served_asleep));
        EXPECT_EQ(all[0].rank, 0);
        EXPECT_EQ(all[0].calls.size(), 1U);
        EXPECT_EQ(all[0].calls.at(0).to, 1);
        std::string waits;
        for (const TaskWait& task : all[0].tasks) {
            waits += task.waits_for + "; ";
        }
        EXPECT_NE(waits.find("the answer of rank 1"), std::string::npos) << waits;
        stop.request_stop();
    });
}

TEST(Waits, ShowCallsAlone) {
    among(2, [](Rank rank) -> Task<> {
        if (rank == 1) { // It asks rank 0 before itself.
            const auto all = co_await waits_of_all();
            EXPECT_EQ(all.size(), 2U);
            for (const RankWaits& shown : all) {
                EXPECT_TRUE(shown.calls.empty());
            }
        }
    });
}

/// Stays open until it is closed.
struct Gate {
    Task<> keep_open() {
        while (is_open) {
            co_await this_task::yield();
        }
    }
    void close() { is_open = false; }
    bool is_open = true;
};
Task<> move_to(Remote<Gate> gate, Rank to) {
    co_await gate.migrate(to);
}

TEST(Waits, NameTheRankWhereAnObjectIs) {
    among(3, [](Rank rank) -> Task<> {
        if (rank != 0) {
            co_return;
        }
        const auto gate = co_await create<Gate>(1);
        co_await at<&move_to>(1, gate, 2); // This rank does not know.
        auto keeping = spawn([](Remote<Gate> of) -> Task<> {
            co_await of.call<&Gate::keep_open>();
        }(gate));
        std::vector<RankWaits> all;
        const auto serves_this_rank = [](const TaskWait& task) {
            return task.serves.from == 0;
        };
        do {
            all = co_await waits_of_all();
        } while (std::ranges::none_of(all.at(2).tasks, serves_this_rank));
        int answers = 0;
        for (const TaskWait& task : all[0].tasks) {
            if (task.kind == TaskWait::Kind::answer) {
                ++answers;
                EXPECT_EQ(task.waits_for, "the answer of rank 2");
                EXPECT_EQ(task.calls.at(0).to, 2);
            }
        }
        EXPECT_EQ(answers, 1);
        co_await gate.call<&Gate::close>();
        co_await keeping;
    });
}

} // namespace
} // namespace corymb
