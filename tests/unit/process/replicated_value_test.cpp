// SPDX-License-Identifier: Apache-2.0
// Copies of what other processes have, and ranks that are killed.
#include "remote_children.hpp"

#include <corymb/error.hpp>
#include <corymb/rank_barrier.hpp>
#include <corymb/remote.hpp>
#include <corymb/replicated_value.hpp>
#include <corymb/shared_array.hpp>
#include <corymb/this_task.hpp>

#include <cstddef>
#include <functional>
#include <gtest/gtest.h>
#include <signal.h>
#include <vector>

namespace corymb {
namespace {

using namespace process_test;
using Words = std::vector<int>;
using Value = Replicated<Words, ReplicatedMode::invalidate>;

/// How often ranks have met, in the process of rank 0.
struct Meetings {
    static inline int of_first = 0;
    static inline int of_other = 0;
    static Task<> come(int& own, const int& others) {
        const int times = ++own;
        while (!has_come(others, times)) {
            co_await this_task::sleep_for(1ms);
        }
    }
    static bool has_come(const int& others, int times) { return others >= times; }
};

/// Runs `life(rank)` in three processes; that of `victim` is killed at its end.
void among_three(Rank victim, const std::function<Task<>(Rank)>& life) {
    Meetings::of_first = Meetings::of_other = 0;
    Children children;
    RemoteGroup group(3, shared());
    const Descriptor descriptor(group);
    std::size_t number = 0;
    for (const Rank rank : {1, 2}) {
        const std::size_t child =
            start_rank(children, descriptor, rank, [&life, rank] { return life(rank); });
        number = rank == victim ? child : number;
    }
    {
        RemoteRank own = group.join(0);
        own.run(life(0));
    }
    EXPECT_EQ(children.wait(number), SIGKILL);
    children.expect_all_good();
}

/// Throws unless it ends with the news that `rank` has gone.
template <class Await>
Task<> require_broken(Await await, Rank rank) {
    bool is_broken = false;
    try {
        static_cast<void>(co_await std::move(await));
    } catch (const Error& error) {
        is_broken = error.code() == Errc::team_broken && !error.ranks().empty() &&
                    error.ranks().front() == rank;
    }
    require(is_broken, "it names the rank that has gone");
}

/// Returns on the two others when both have come.
Task<> meet_alive(Rank rank) {
    if (rank != 0) {
        co_await at(0, [] { return Meetings::come(Meetings::of_other, Meetings::of_first); });
    } else {
        co_await Meetings::come(Meetings::of_first, Meetings::of_other);
    }
}
/// Returns on the others when the victim is known to be dead. All have left the barrier before.
Task<> see_killed(Rank victim, Rank rank) {
    if (rank == victim) {
        co_await sleep_on();
    }
    co_await meet_alive(rank);
    const auto kill = [](Rank on) -> Task<bool> {
        co_await at(on, [] { ::raise(SIGKILL); });
        co_return true;
    };
    co_await require_broken(kill(victim), victim);
}

constexpr auto size_of = [](const Words& words) {
    return words.size();
};
constexpr auto append = [](Words& words) {
    words.push_back(1);
    return words.size();
};

TEST(CopiesOfProcesses, ARankThatIsKilledHasNone) {
    among_three(1, [](Rank rank) -> Task<> {
        auto words = co_await Value::make("words", Words(10));
        RankBarrier meeting("meeting");
        require(co_await words.read_latest(size_of) == 10, "all have a copy");
        co_await meeting.arrive();
        co_await see_killed(1, rank);
        for (int i = 0; i < 3; ++i) {
            co_await words.update(append);
        }
        while (co_await words.read_latest(size_of) != 16) {
            co_await this_task::sleep_for(1ms);
        }
        co_await meet_alive(rank);
    });
}

TEST(CopiesOfProcesses, OutliveTheirHome) {
    among_three(1, [](Rank rank) -> Task<> {
        auto words = co_await Value::make("words", Words(10), {.home = 1});
        RankBarrier meeting("meeting");
        if (rank == 2) {
            require(co_await words.read_latest(size_of) == 10, "it has a copy");
        }
        co_await meeting.arrive();
        co_await see_killed(1, rank);
        if (rank == 2) {
            require(co_await words.read_latest(size_of) == 10, "it has its copy");
        } else {
            co_await require_broken(words.read_latest(size_of), 1);
        }
        co_await require_broken(words.update(append), 1);
        co_await meet_alive(rank);
    });
}

TEST(CopiesOfProcesses, OfElementsDoNotWaitForTheDead) {
    among_three(2, [](Rank rank) -> Task<> {
        SharedArrayOptions<long> options;
        options.placement = Placement::cached;
        options.by_calls = true;
        auto array = co_await SharedArray<long>::make("array", 9, options);
        RankBarrier meeting("meeting");
        std::vector<long> all(9);
        co_await array.get(0, all);
        co_await meeting.arrive();
        co_await see_killed(2, rank);
        if (rank == 0) {
            co_await array.put(0, 5);
            co_await array.put(3, 6);
            require(co_await array.get(0) == 5 && co_await array.get(3) == 6, "it is written");
            require(co_await array.get(8) == 0, "copies outlive their owner");
            co_await require_broken(array.put(8, 1), 2);
            co_await array.put(1, 7);
        }
        while (rank == 1 && co_await array.get(1) != 7) { // Its copy is dropped then.
            co_await this_task::sleep_for(1ms);
        }
        co_await meet_alive(rank);
    });
}

} // namespace
} // namespace corymb
