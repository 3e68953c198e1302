// SPDX-License-Identifier: Apache-2.0
// Objects that move among processes, some of which are killed meanwhile.
#include "remote_children.hpp"

#include <corymb/error.hpp>
#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/this_task.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <gtest/gtest.h>
#include <random>
#include <signal.h>
#include <utility>
#include <vector>

namespace corymb {
namespace {

using namespace process_test;
using namespace std::chrono_literals;

/// Ranks 1 and on are processes that serve until the end of the others; rank 0 runs `main`. The
/// last one is the victim.
void with_victim(int size, const std::function<Task<>(const std::function<void()>& kill)>& main) {
    RemoteGroup group(size, shared());
    const Descriptor descriptor(group);
    Children children;
    std::size_t victim = 0;
    for (Rank rank = 1; rank < size; ++rank) {
        victim = children.start([&, rank] {
            RemoteRank own = RemoteGroup::open(descriptor.number()).join(rank);
            own.run([](bool is_victim) -> Task<> {
                if (is_victim) {
                    co_await this_task::sleep_for(1h);
                }
            }(rank == size - 1));
        });
    }
    RemoteRank own = group.join(0);
    own.run(main([&] { children.signal(victim, SIGKILL); }));
    children.wait(victim);
    children.expect_all_good();
}

struct Counter {
    long value = 0;
    long add(long more) { return value += more; }
    [[nodiscard]] Rank place() const { return here(); }
};
using Counters = std::vector<Remote<Counter>>;

/// Whether the object is reached; if not, rank `dead` is named.
Task<bool> is_reached(Remote<Counter> counter, Rank dead) {
    try {
        co_await counter.call<&Counter::place>();
    } catch (const Error& error) {
        require(error.code() == Errc::team_broken, error.what());
        require(error.ranks() == std::vector<Rank>{dead}, error.what());
        co_return false;
    }
    co_return true;
}
Task<> until_dead(Rank rank) {
    for (;;) {
        try {
            co_await at(rank, [] {});
        } catch (const Error&) {
            break;
        }
    }
}

/// Until this rank has given up what the rank has begun. An error of a new call may come before.
Task<> until_lost(Rank rank) {
    try {
        co_await at(rank, []() -> Task<> { co_await this_task::sleep_for(1h); });
    } catch (const Error&) {
        co_return;
    }
}

TEST(MigrationProcesses, AnObjectOutlivesItsMaker) {
    with_victim(4, [](const std::function<void()>& kill) -> Task<> {
        const auto known = co_await create<Counter>(3);
        const auto unknown = co_await create<Counter>(3);
        const auto lost = co_await create<Counter>(1);
        const auto back = co_await create<Counter>(1);
        for (const Remote<Counter>& counter : {known, unknown}) {
            co_await counter.call<&Counter::add>(5);
            co_await counter.migrate(1);
        }
        co_await known.call<&Counter::add>(1); // So this rank learns where it is.
        co_await lost.migrate(3);
        co_await back.migrate(3);
        co_await back.migrate(2);
        kill();
        co_await until_dead(3);
        EXPECT_EQ(co_await known.call<&Counter::add>(1), 7);
        EXPECT_FALSE(co_await is_reached(unknown, 3)) << "only its maker knew";
        EXPECT_FALSE(co_await is_reached(lost, 3));
        EXPECT_FALSE(co_await is_reached(lost, 3));
        EXPECT_TRUE(co_await is_reached(back, 3));
        co_await at(
            2,
            [](Remote<Counter> one, Remote<Counter> other) -> Task<> {
                co_await until_dead(3);
                require(co_await is_reached(one, 3), "it is here");
                require(!co_await is_reached(other, 3), "it ended with its rank");
            },
            back, lost);
        try {
            co_await back.migrate(3);
            ADD_FAILURE() << "the rank has gone";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::team_broken) << error.what();
        }
        EXPECT_EQ(co_await back.call<&Counter::place>(), 2);
    });
}

/// A counter whose calls wait for each other.
struct Till : Counter {
    static constexpr bool is_exclusive = true;
    Task<> run() {
        while (!is_let_go) {
            co_await this_task::yield();
        }
    }
    static inline bool is_let_go = false;
};

TEST(MigrationProcesses, ACallThatIsKeptBackEndsWithItsCaller) {
    with_victim(3, [](const std::function<void()>& kill) -> Task<> {
        const auto till = co_await create<Till>(1);
        co_await finish([&]() -> Task<> {
            spawn([](Remote<Till> of) -> Task<> {
                co_await of.call<&Till::run>();
            }(till));
            co_await at(1, [] {});
            spawn([](Remote<Till> of) -> Task<> {
                bool is_refused = false;
                try {
                    co_await of.migrate(2);
                } catch (const Error& error) {
                    is_refused = error.code() == Errc::team_broken;
                }
                EXPECT_TRUE(is_refused) << "the rank has gone";
            }(till));
            co_await at(1, [] {});
            co_await post(
                2, [](Remote<Till> of) -> Task<> { co_await of.call<&Till::add>(1); }, till);
            co_await at(2, []() -> Task<> { co_await at(1, [] {}); }); // The call has come first.
            Spawned<void> has_seen = spawn([]() -> Task<> {
                co_await at<&until_lost>(1, 2);
            }());
            co_await at(1, [] {});
            co_await at(1, []() -> Task<> { co_await at(2, [] {}); });
            kill();
            co_await until_dead(2);
            co_await has_seen;
            co_await at(1, [] { Till::is_let_go = true; });
        });
        EXPECT_EQ(co_await till.call<&Till::add>(0), 0);
    });
}

/// What a caller knows of its calls of an object.
struct Tally {
    long done = 0;
    long failed = 0;
};
constexpr std::size_t objects = 12;

/// Calls the objects in turn, `count` times.
Task<std::vector<Tally>> call_all(Counters counters, int count) {
    std::vector<Tally> all(counters.size());
    for (int i = 0; i < count; ++i) {
        const std::size_t one = static_cast<std::size_t>(i) % counters.size();
        try {
            co_await counters[one].call<&Counter::add>(1);
            ++all[one].done;
        } catch (const Error& error) {
            require(error.code() == Errc::team_broken, error.what());
            require(error.ranks() == std::vector<Rank>{3}, error.what());
            ++all[one].failed;
        }
    }
    co_return all;
}
Task<> move_all(Counters counters, int count, unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < count; ++i) {
        try {
            co_await counters[random() % counters.size()].migrate(static_cast<Rank>(random() % 4));
        } catch (const Error& error) {
            require(error.code() == Errc::team_broken, error.what());
            require(error.ranks() == std::vector<Rank>{3}, error.what());
        }
    }
}

TEST(MigrationProcesses, NoCallIsLostOrDoneTwiceWhenARankIsKilled) {
    for (unsigned round = 0; round < 12; ++round) {
        with_victim(4, [round](const std::function<void()>& kill) -> Task<> {
            Counters counters;
            for (std::size_t i = 0; i < objects; ++i) {
                counters.push_back(co_await create<Counter>(static_cast<Rank>(i % 4)));
            }
            std::vector<Tally> near;
            std::vector<Tally> far;
            co_await finish([&]() -> Task<> {
                spawn([](const Counters& all, std::vector<Tally>& into) -> Task<> {
                    into = co_await call_all(all, 1500);
                }(counters, near));
                spawn([](const Counters& all, std::vector<Tally>& into) -> Task<> {
                    into = co_await at<&call_all>(1, all, 1500);
                }(counters, far));
                spawn(move_all(counters, 300, round));
                co_await tell<&move_all>(2, counters, 300, round + 100);
                co_await this_task::sleep_for((round % 6) * 1ms);
                kill();
            });
            co_await until_dead(3);
            for (std::size_t i = 0; i < objects; ++i) {
                if (co_await is_reached(counters[i], 3)) {
                    const long value = co_await counters[i].call<&Counter::add>(0);
                    EXPECT_GE(value, near[i].done + far[i].done);
                    EXPECT_LE(value, near[i].done + far[i].done + near[i].failed + far[i].failed);
                }
            }
        });
    }
}

} // namespace
} // namespace corymb
