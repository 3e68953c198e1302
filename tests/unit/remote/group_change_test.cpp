// SPDX-License-Identifier: Apache-2.0
// Groups whose members come and go, copies of groups, and ranks that end.
#include "remote/among.hpp"

#include <corymb/object_group.hpp>
#include <corymb/this_task.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace corymb {
namespace {

struct Box {
    explicit Box(long of) : value(of) {}
    void add(long by) { value += by; }
    [[nodiscard]] long get() const { return value; }
    long value;
};

TEST(GroupChange, CallsSeeTheMembersThatThereAre) {
    among(4, [](Rank rank) -> Task<> {
        const auto group = co_await make_group(std::vector<Remote<Box>>());
        std::vector<Remote<Box>> boxes;
        std::vector<long> expected;
        for (long value = 0; value < 12; ++value) {
            boxes.push_back(co_await create<Box>(static_cast<Rank>(value % 4), value));
            co_await group.add(boxes.back());
            expected.push_back(value);
            EXPECT_EQ(co_await group.gather<&Box::get>(), expected) << rank;
        }
        co_await group.add(boxes[3]); // A second time.
        expected.push_back(3);
        EXPECT_EQ(co_await group.gather<&Box::get>(), expected);
        for (const std::size_t gone : {3U, 8U, 0U}) {
            const std::size_t places = gone == 3 ? 2 : 1;
            EXPECT_EQ(co_await group.remove(boxes[gone]), places);
            std::erase(expected, static_cast<long>(gone));
            EXPECT_EQ(co_await group.gather<&Box::get>(), expected);
        }
        EXPECT_EQ(co_await group.remove(boxes[8]), 0U);
        EXPECT_EQ(co_await group.remove(Rank{2}), 3U);
        std::erase_if(expected, [](long value) { return value % 4 == 2; });
        EXPECT_EQ(co_await group.gather<&Box::get>(), expected);
    });
}

TEST(GroupChange, IsSeenByATaskElsewhereThatHasMadeIt) {
    among(4, [](Rank rank) -> Task<> {
        const auto group = co_await create_group<Box>(all_ranks(), 1L);
        co_await at((rank + 1) % 4,
                    [](ObjectGroup<Box> of) -> Task<> {
                        for (long i = 1; i <= 5; ++i) {
                            co_await of.add(co_await create<Box>(here(), 1L));
                            const long sum = co_await of.reduce<&Box::get>(std::plus<long>());
                            EXPECT_EQ(sum, 4 + i);
                        }
                    },
                    group);
        EXPECT_EQ((co_await group.members()).size(), 9U);
    });
}

/// Waits in a call of the group until the caller lets it go on.
struct Waiter {
    std::shared_ptr<bool> is_free = std::make_shared<bool>(false);
    Task<int> wait() {
        const auto held = is_free;
        while (!*held) {
            co_await this_task::yield();
        }
        co_return 1;
    }
    void let_go() { *is_free = true; }
};

TEST(GroupChange, ACallThatRunsKeepsItsMembers) {
    among(4, [](Rank) -> Task<> {
        const auto group = co_await create_group<Waiter>(all_ranks());
        const auto members = co_await group.members();
        auto running = spawn(group.gather<&Waiter::wait>());
        co_await this_task::yield(); // It begins.
        EXPECT_EQ(co_await group.remove(members[3]), 1U);
        EXPECT_EQ(co_await group.remove(members[0]), 1U);
        co_await group.step<&Waiter::let_go>(); // The others alone.
        co_await members[0].call<&Waiter::let_go>();
        co_await members[3].call<&Waiter::let_go>();
        EXPECT_EQ(co_await running, std::vector<int>(4, 1));
        EXPECT_EQ(co_await group.gather<&Waiter::wait>(), std::vector<int>(2, 1));
    });
}

TEST(GroupChange, HoldsWhileAllChangeAndCall) {
    among(4, [](Rank rank) -> Task<> {
        const auto group = co_await create_group<Box>(all_ranks(), 0L);
        // Tasks of all ranks add members, call and remove them.
        const auto work = [](ObjectGroup<Box> of) -> Task<> {
            for (long i = 0; i < 20; ++i) {
                const auto mine = co_await create<Box>((here() + 1) % ranks(), 1'000L);
                co_await of.add(mine);
                const auto kept = co_await of.where([](const Box& c) { return c.value >= 1'000; })
                                      .gather<&Box::get>();
                EXPECT_GE(kept.size(), 1U);
                EXPECT_EQ(co_await of.remove(mine), 1U);
                co_await of.step<&Box::add>(1L);
            }
        };
        co_await finish([&]() -> Task<> {
            for (Rank on = 0; on < ranks(); ++on) {
                co_await tell(on, work, group);
            }
        });
        EXPECT_EQ((co_await group.members()).size(), 4U) << rank;
        EXPECT_EQ(co_await group.gather<&Box::get>(), std::vector<long>(4, 80));
    });
}

TEST(GroupChange, ADissolvedGroupIsRefused) {
    among(3, [](Rank) -> Task<> {
        const auto group = co_await create_group<Box>(all_ranks(), 7L);
        const auto members = co_await group.members();
        co_await group.step<&Box::add>(1L);
        co_await group.dissolve();
        EXPECT_EQ(co_await members[2].call<&Box::get>(), 8); // Its members live on.
        for (const bool is_change : {false, true}) {
            std::optional<Errc> code;
            try {
                if (is_change) {
                    co_await group.add(members[0]);
                } else {
                    co_await group.step<&Box::add>(1L);
                }
            } catch (const Error& error) {
                code = error.code();
            }
            EXPECT_EQ(code, Errc::invalid_argument);
        }
    });
}

TEST(GroupChange, ACloneHasObjectsOfItsOwnInTheSamePlaces) {
    among(3, [](Rank) -> Task<> {
        const auto on = spread(7, ArrayMapping::cyclic(), all_ranks());
        const auto group = co_await create_group<Box>(on, 1L);
        co_await group.where([](const Box&) { return here() == 1; }).step<&Box::add>(10L);
        const auto before = co_await group.gather<&Box::get>();
        const auto copy = co_await group.clone();
        EXPECT_EQ(co_await copy.gather<&Box::get>(), before);
        EXPECT_EQ(co_await copy.gather([](Box&) { return here(); }), on);
        co_await copy.step<&Box::add>(100L);
        EXPECT_EQ(co_await group.gather<&Box::get>(), before);
    });
}

TEST(GroupChange, ARepartitionMovesTheMembersAndKeepsTheGroup) {
    among(4, [](Rank) -> Task<> {
        const auto rank_of = [](Box&) {
            return here();
        };
        const auto group =
            co_await create_group<Box>(spread(9, ArrayMapping::cyclic(), all_ranks()), 0L);
        const auto members = co_await group.members();
        std::vector<long> expected(9);
        for (std::size_t i = 0; i < 9; ++i) {
            expected[i] = static_cast<long>(i);
            co_await members[i].template call<&Box::add>(expected[i]);
        }
        co_await group.step<&Box::add>(0L); // Branches are told.
        const std::vector<Rank> some(2, 3);
        for (const auto& on : {spread(9, ArrayMapping::block(), all_ranks()),
                               spread(9, ArrayMapping::cyclic(), some),
                               spread(9, ArrayMapping::tiled(2), all_ranks())}) {
            co_await group.repartition(on);
            EXPECT_EQ(co_await group.gather(rank_of), on);
            EXPECT_EQ(co_await group.gather<&Box::get>(), expected);
            co_await members[4].template call<&Box::add>(1L); // Pointers stay good.
            ++expected[4];
            const auto kept = co_await group.select([](const Box& box) { return box.value > 5; });
            EXPECT_EQ((co_await kept.gather(rank_of)).size(),
                      static_cast<std::size_t>(
                          std::ranges::count_if(expected, [](long value) { return value > 5; })));
        }
        co_await members[0].migrate((members[0].rank() + 1) % 4); // By itself.
        EXPECT_EQ(co_await group.gather<&Box::get>(), expected);
        EXPECT_EQ((co_await (co_await group.clone()).gather(rank_of)),
                  co_await group.gather(rank_of));
        std::optional<Errc> code;
        try {
            co_await group.repartition(all_ranks());
        } catch (const Error& error) {
            code = error.code();
        }
        EXPECT_EQ(code, Errc::invalid_argument);
    });
}

/// In the middle of a change its numbers differ.
struct Twins {
    static constexpr bool is_exclusive = true;
    Task<> change() {
        ++one;
        co_await this_task::sleep_for(std::chrono::microseconds(50));
        ++other;
    }
    [[nodiscard]] long difference() const { return one - other; }
    long one = 0;
    long other = 0;
};

TEST(GroupChange, ACloneHasNoMemberInTheMiddleOfAMethod) {
    among(3, [](Rank) -> Task<> {
        const auto group = co_await create_group<Twins>(all_ranks());
        const auto look_at_clone = [](ObjectGroup<Twins> of) -> Task<> {
            const auto copy = co_await of.clone();
            EXPECT_EQ(co_await copy.gather<&Twins::difference>(), std::vector<long>(3, 0));
        };
        co_await finish([&]() -> Task<> {
            for (int i = 0; i < 10; ++i) {
                spawn(group.step<&Twins::change>());
                co_await this_task::sleep_for(std::chrono::microseconds(20)); // It begins.
                spawn(look_at_clone(group));
            }
        });
    });
}

std::atomic<int> alive{0};
/// Cannot be copied on rank 1.
struct Stubborn {
    Stubborn() { ++alive; }
    Stubborn(const Stubborn& /*other*/) {
        if (here() == 1) {
            throw std::out_of_range("not here");
        }
        ++alive;
    }
    Stubborn& operator=(const Stubborn&) = delete;
    ~Stubborn() { --alive; }
};

TEST(GroupChange, AFailedCloneLeavesNothing) {
    alive = 0;
    among(3, [](Rank rank) -> Task<> {
        if (rank != 0) {
            co_return;
        }
        const auto group = co_await create_group<Stubborn>(all_ranks());
        EXPECT_EQ(alive, 3);
        try {
            co_await group.clone();
            ADD_FAILURE() << "nothing thrown";
        } catch (const std::out_of_range& error) {
            EXPECT_STREQ(error.what(), "not here");
        }
        EXPECT_EQ(alive, 3);
    });
    EXPECT_EQ(alive, 0);
}

/// The code of what the call throws; none if it succeeds.
template <class T>
Task<std::optional<Errc>> refused(Task<T> call) {
    try {
        co_await std::move(call);
    } catch (const Error& error) {
        co_return error.code();
    }
    co_return std::nullopt;
}

std::atomic<int> slow_begun{0};
std::atomic<int> slow_alive{0};
std::atomic<bool> slow_go_on{false};
/// Its constructors last until they may go on.
struct Slow {
    Slow() {
        ++slow_begun;
        while (!slow_go_on) {
            std::this_thread::yield();
        }
        ++slow_alive;
    }
    Slow(const Slow& /*other*/) : Slow() {}
    Slow& operator=(const Slow&) = delete;
    ~Slow() { --slow_alive; }
};

Task<> stop_making(Task<ObjectGroup<Slow>> making) {
    slow_begun = 0;
    slow_go_on = false;
    std::stop_source stop;
    auto made = spawn(refused(std::move(making)), stop.get_token());
    while (slow_begun != 2) {
        co_await this_task::yield();
    }
    stop.request_stop();
    co_await this_task::yield();
    slow_go_on = true;
    EXPECT_EQ(co_await made, Errc::interrupted);
    for (const Rank rank : {1, 2}) {
        co_await at(rank, [] {}); // Behind all others.
    }
}

TEST(GroupChange, AStoppedMakingLeavesNothing) {
    slow_alive = 0;
    among(3, [](Rank rank) -> Task<> {
        if (rank != 0) {
            co_return;
        }
        const std::vector<Rank> on{1, 2};
        co_await stop_making(create_group<Slow>(on));
        EXPECT_EQ(slow_alive, 0);
        const auto group = co_await create_group<Slow>(on);
        co_await stop_making(group.clone());
        EXPECT_EQ(slow_alive, 2);
    });
}

/// Stays where it is while it is held.
struct Held {
    Task<> hold() {
        while (is_held) {
            co_await this_task::yield();
        }
    }
    [[nodiscard]] Rank where() const { return here(); }
    bool is_held = true;
};

TEST(GroupChange, AStoppedRepartitionKnowsWhatHasMoved) {
    among(2, [](Rank rank) -> Task<> {
        if (rank != 0) {
            co_return;
        }
        const auto group = co_await create_group<Held>(std::vector<Rank>(3, 0));
        const auto members = co_await group.members();
        auto holding = spawn([](Remote<Held> one) -> Task<> {
            co_await one.call<&Held::hold>();
        }(members[0]));
        co_await this_task::yield(); // It begins.
        std::stop_source stop;
        auto moving = spawn(refused(group.repartition(std::vector<Rank>(3, 1))), stop.get_token());
        for (const std::size_t free : {1U, 2U}) {
            Rank at_last = 0;
            while (at_last != 1) {
                at_last = co_await members[free].call<&Held::where>();
            }
        }
        for (int i = 0; i < 20; ++i) {
            co_await at(1, [] {}); // The moves have their answers.
        }
        stop.request_stop();
        EXPECT_EQ(co_await moving, Errc::interrupted);
        EXPECT_EQ(co_await group.remove(Rank{1}), 2U);
        members[0].local()->is_held = false;
        co_await holding;
    });
}

TEST(GroupChange, MembersAreFoundByKeys) {
    among(3, [](Rank) -> Task<> {
        const auto group = co_await create_group<Box>(all_ranks(), 0L);
        const auto members = co_await group.members();
        std::set<Rank> on;
        for (int key = 0; key < 30; ++key) {
            const auto& member = members.on(key);
            EXPECT_EQ(member, members.on(key));
            co_await member.call<&Box::add>(1L);
            on.insert(member.rank());
        }
        EXPECT_EQ(on.size(), 3U);
        EXPECT_EQ(co_await group.reduce<&Box::get>(std::plus<long>()), 30);
    });
}

/// The ranks that the call blames; none if it succeeds.
Task<std::vector<Rank>> blamed(Task<> call) {
    try {
        co_await std::move(call);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::team_broken);
        co_return error.ranks();
    }
    co_return {};
}

/// Ranks 1 and 2 are not needed in order to reach rank 3.
TEST(GroupChange, MembersOfRanksThatHaveLeftAreNamedAndTakenOut) {
    RemoteGroup group(4);
    std::atomic<bool> is_told{false};
    std::vector<std::jthread> leavers;
    for (const Rank rank : {1, 2}) {
        leavers.emplace_back([&, rank] {
            RemoteRank own = group.join(rank);
            while (!is_told) {
                own.scheduler().poll();
            }
        });
    }
    const std::jthread other([&group] {
        group.join(3).run([]() -> Task<> {
            co_return;
        }());
    });
    group.join(0).run([](std::atomic<bool>& leave, std::vector<std::jthread>& all) -> Task<> {
        const auto on = spread(8, ArrayMapping::cyclic(), all_ranks());
        const auto boxes = co_await create_group<Box>(on, 1L);
        EXPECT_EQ(co_await boxes.reduce<&Box::get>(std::plus<long>()), 8);
        leave = true;
        all.clear();
        const std::vector<Rank> gone{1, 2};
        EXPECT_EQ(co_await blamed(boxes.step<&Box::add>(0L)), gone);
        EXPECT_EQ(co_await boxes.remove(Rank{1}), 2U);
        EXPECT_EQ(co_await boxes.remove(Rank{2}), 2U);
        EXPECT_EQ(co_await boxes.reduce<&Box::get>(std::plus<long>()), 4);
    }(is_told, leavers));
}

} // namespace
} // namespace corymb
