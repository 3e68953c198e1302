// SPDX-License-Identifier: Apache-2.0
#include "remote/among.hpp"

#include <corymb/distributed.hpp>
#include <corymb/error.hpp>
#include <corymb/object_group.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

namespace corymb {
namespace {

using std::chrono_literals::operator""ms;

class Tally {
public:
    explicit Tally(long start = 0) : value_(start) { ++alive; }
    Tally(const Tally&) = delete;
    Tally& operator=(const Tally&) = delete;
    ~Tally() { --alive; }
    long add(long amount) {
        steps_.push_back(amount);
        return value_ += amount;
    }
    [[nodiscard]] std::vector<long> steps() const { return steps_; }
    [[nodiscard]] long value() const noexcept { return value_; }
    Task<> reach(long wanted) {
        while (value_ < wanted) {
            co_await this_task::yield();
        }
    }
    static inline std::atomic<int> alive{0};

private:
    long value_;
    std::vector<long> steps_;
};

Task<std::optional<Errc>> refusal_of(Task<> task) {
    try {
        co_await std::move(task);
    } catch (const Error& error) {
        co_return error.code();
    }
    co_return std::nullopt;
}
Task<> ask(Remote<Tally> of) {
    co_await of.call<&Tally::value>();
}

TEST(Distributed, EachRankReachesTheObjectsOfTheOthers) {
    constexpr int size = 4;
    among(size, [](Rank rank) -> Task<> {
        Distributed<Tally> tallies("tallies", 100L * rank);
        for (Rank to = 0; to < size; ++to) {
            co_await tallies.on(to).call<&Tally::add>(1L);
        }
        co_await tallies->reach(100L * rank + size);
        EXPECT_EQ(tallies.local().value(), 100 * rank + size);
        EXPECT_EQ(tallies.on(rank).local(), &tallies.local());
        co_await at(0, [](Remote<Tally> of) { EXPECT_EQ(of.rank(), here()); }, tallies.on(0));
    });
    EXPECT_EQ(Tally::alive, 0);
}

TEST(Distributed, CallsWaitForTheObjectInTheirOrder) {
    among(2, [](Rank rank) -> Task<> {
        if (rank == 1) {
            co_await this_task::sleep_for(5ms);
            Distributed<Tally> late("late");
            co_await late->reach(1 + 2 + 3);
            EXPECT_EQ(late->steps(), (std::vector<long>{1, 2, 3}));
            co_return;
        }
        Distributed<Tally> early("late");
        co_await early.on(1).post<&Tally::add>(1L);
        co_await early.on(1).tell<&Tally::add>(2L);
        co_await early.on(1).call<&Tally::add>(3L);
    });
}

TEST(Distributed, NamesAndNotTheOrderBelongTogether) {
    among(2, [](Rank rank) -> Task<> {
        std::optional<Distributed<Tally>> a;
        std::optional<Distributed<Tally>> b;
        if (rank == 0) {
            a.emplace("a", 1L);
            b.emplace("b", 2L);
        } else {
            b.emplace("b", 2L);
            a.emplace("a", 1L);
        }
        EXPECT_EQ(co_await a->on(1 - rank).call<&Tally::value>(), 1);
        EXPECT_EQ(co_await b->on(1 - rank).call<&Tally::value>(), 2);
        co_await a->on(1 - rank).call<&Tally::add>(10L);
        co_await (*a)->reach(11);
    });
}

TEST(Distributed, AnotherObjectOfOneNameIsNotTheFirst) {
    among(2, [](Rank rank) -> Task<> {
        if (rank == 0) {
            Distributed<Tally> first("again", 1L);
            const Remote<Tally> other = first.on(1);
            co_await first->reach(2);
            first = Distributed<Tally>("elsewhere");
            const Distributed<Tally> second("again", 10L);
            EXPECT_EQ(co_await second.on(1).call<&Tally::value>(), 20);
            EXPECT_EQ(co_await refusal_of(ask(other)), Errc::invalid_argument);
            co_await second.on(1).call<&Tally::add>(1L);
            co_return;
        }
        const Distributed<Tally> elsewhere("elsewhere");
        {
            const Distributed<Tally> first("again", 1L);
            co_await this_task::sleep_for(2ms);
            co_await first.on(0).call<&Tally::add>(1L);
        }
        const Distributed<Tally> second("again", 20L);
        co_await second->reach(21);
    });
}

TEST(Distributed, OneNameIsTakenOnce) {
    among(1, [](Rank) -> Task<> {
        const Distributed<Tally> first("one");
        try {
            const Distributed<Tally> second("one");
            ADD_FAILURE() << "a name was taken twice";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
            EXPECT_NE(std::string(error.what()).find("'one'"), std::string::npos) << error.what();
        }
        EXPECT_EQ(co_await first.on(0).call<&Tally::value>(), 0);
        EXPECT_EQ(co_await refusal_of([](Remote<Tally> of) -> Task<> {
                      co_await of.destroy();
                  }(first.on(0))),
                  Errc::invalid_argument);
    });
    EXPECT_EQ(Tally::alive, 0);
}

TEST(Distributed, ARankThatNeverMakesItIsNamed) {
    among(3, [](Rank rank) -> Task<> {
        if (rank == 0) {
            const Distributed<Tally> lonely("lonely");
            for (Rank to = 1; to < 3; ++to) {
                try {
                    co_await lonely.on(to).call<&Tally::value>();
                    ADD_FAILURE() << "there is no such object";
                } catch (const Error& error) {
                    EXPECT_EQ(error.code(), Errc::invalid_argument);
                    EXPECT_EQ(error.ranks(), std::vector<int>{to}) << error.what();
                }
            }
        }
        if (rank == 1) {
            co_await this_task::sleep_for(2ms); // The call is there before the end.
        }
    });
}

TEST(Distributed, AStoppedCallIsDropped) {
    among(2, [](Rank rank) -> Task<> {
        const Distributed<Tally> go("go");
        if (rank == 1) {
            co_await go->reach(1);
            const Distributed<Tally> late("stopped");
            co_await late->reach(1);
            EXPECT_EQ(late->steps(), std::vector<long>{1});
            co_return;
        }
        const Distributed<Tally> early("stopped");
        EXPECT_EQ(co_await refusal_of(within(1ms,
                                             [](Remote<Tally> of) -> Task<> {
                                                 co_await of.call<&Tally::add>(5L);
                                             }(early.on(1)))),
                  Errc::timeout);
        co_await go.on(1).call<&Tally::add>(1L);
        co_await early.on(1).call<&Tally::add>(1L);
    });
}

TEST(Distributed, ARankThatLeavesEndsTheWait) {
    RemoteGroup group(2);
    std::jthread leaver([&group] {
        RemoteRank own = group.join(1);
        own.scheduler().poll();
    });
    RemoteRank own = group.join(0);
    own.run([]() -> Task<> {
        const Distributed<Tally> lonely("left");
        EXPECT_EQ(co_await refusal_of(ask(lonely.on(1))), Errc::team_broken);
    }());
}

TEST(Distributed, ARunServesTheObjectsOfTheNext) {
    constexpr int size = 3;
    RemoteGroup group(size);
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < size; ++rank) {
        threads.emplace_back([&group, rank] {
            RemoteRank own = group.join(rank);
            for (int run = 0; run < 50; ++run) {
                own.run([](int number) -> Task<> {
                    const Distributed<Tally> now("run " + std::to_string(number));
                    for (Rank to = 0; to < size; ++to) {
                        co_await now.on(to).call<&Tally::add>(1L);
                    }
                    co_await now->reach(size);
                }(run));
            }
        });
    }
}

TEST(Distributed, AGroupOfThemIsCalledAtOnceAndWaitsForThem) {
    among(3, [](Rank rank) -> Task<> {
        if (rank == 2) {
            co_await this_task::sleep_for(std::chrono::milliseconds(20));
        }
        const Distributed<Tally> parts("parts", rank + 1L);
        if (rank == 0) {
            std::vector<Remote<Tally>> members{parts.on(0), parts.on(1), parts.on(2)};
            const auto all = co_await make_group(std::move(members));
            EXPECT_EQ(co_await all.reduce<&Tally::value>(std::plus<long>()), 6);
            co_await all.step<&Tally::add>(10L);
        }
        co_await parts->reach(11);
    });
}

} // namespace
} // namespace corymb
