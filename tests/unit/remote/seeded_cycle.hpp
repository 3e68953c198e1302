// SPDX-License-Identifier: Apache-2.0
// Deadlocks that a seed makes: calls that hold one object each and need the next one. The way from
// a call to the next object differs.
#pragma once

#include "base/random.hpp"

#include <corymb/call_rule.hpp>
#include <corymb/finish.hpp>
#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/this_task.hpp>
#include <corymb/waits.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace corymb::cycle_test {

/// What ends the run of the rank of this thread.
inline thread_local std::stop_source end_of_run;
/// On rank 0: calls that hold their object.
inline thread_local int holding = 0;

inline void note_holding() {
    ++holding;
}
inline int count_holding() {
    return holding;
}
inline void end_run() {
    end_of_run.request_stop();
}

/// How a call comes to the next object.
enum class Way : std::uint8_t { direct, over_a_rank, spawned, told };

class Link;
inline Task<> take_next(Remote<Link> next);

class Link {
public:
    static constexpr bool is_exclusive = true;

    /// Holds this object and, when all `count` calls hold theirs, needs the next one.
    Task<> hold(int count, Way way, Rank over, Remote<Link> next) {
        co_await at<&note_holding>(0);
        for (int all = 0; all < count;) {
            co_await this_task::sleep_for(std::chrono::microseconds(100));
            all = co_await at<&count_holding>(0);
        }
        switch (way) {
        case Way::direct: co_await take_next(next); break;
        case Way::over_a_rank: co_await at<&take_next>(over, next); break;
        case Way::spawned: {
            Spawned<void> taking = spawn(take_next(next));
            co_await taking;
            break;
        }
        case Way::told:
            co_await finish([next]() -> Task<> { co_await next.tell<&Link::take>(); });
            break;
        }
    }
    void take() {}
};

inline Task<> take_next(Remote<Link> next) {
    co_await next.call<&Link::take>();
}

inline Task<> begin_holding(Remote<Link> first, int count, Way way, Rank over, Remote<Link> next) {
    co_await first.call<&Link::hold>(count, way, over, next);
}

/// Where the objects are, and how their calls go on.
struct Cycle {
    Cycle(std::uint64_t seed, int ranks) {
        Random random(seed);
        const auto below = [&random](int count) {
            return static_cast<int>(random.below(static_cast<std::uint32_t>(count)));
        };
        const int length = 2 + below(7);
        for (int i = 0; i < length; ++i) {
            homes.push_back(below(ranks));
            roots.push_back(below(ranks));
            ways.push_back(static_cast<Way>(below(4)));
            over.push_back(below(ranks));
        }
    }
    [[nodiscard]] std::size_t length() const { return homes.size(); }
    [[nodiscard]] std::size_t behind(std::size_t i) const { return (i + 1) % length(); }

    /// The rank of each step, and what it waits for.
    using Steps = std::vector<std::pair<Rank, std::string>>;
    [[nodiscard]] Steps steps() const {
        const auto answer = [](Rank of) {
            return "the answer of rank " + std::to_string(of);
        };
        std::vector<int> made(8);
        std::vector<int> slots;
        for (const Rank home : homes) {
            slots.push_back(made[static_cast<std::size_t>(home)]++);
        }
        Steps all;
        for (std::size_t i = 0; i < length(); ++i) {
            const Rank next = homes[behind(i)];
            switch (ways[i]) {
            case Way::direct: all.emplace_back(homes[i], answer(next)); break;
            case Way::over_a_rank:
                all.emplace_back(homes[i], answer(over[i]));
                all.emplace_back(over[i], answer(next));
                break;
            case Way::spawned:
                all.emplace_back(homes[i], "the end of another task");
                all.emplace_back(homes[i], answer(next));
                break;
            case Way::told: all.emplace_back(homes[i], "the end of the tasks of a finish"); break;
            }
            all.emplace_back(next, "object " + std::to_string(slots[behind(i)]) +
                                       " (corymb::cycle_test::Link), which other calls hold");
        }
        return all;
    }

    std::vector<Rank> homes;
    std::vector<Rank> roots;
    std::vector<Way> ways;
    std::vector<Rank> over;
};

/// Whether they are the same cycle, wherever they begin.
inline bool is_rotation(const Cycle::Steps& expected, const Deadlock& found) {
    Cycle::Steps steps;
    for (const Deadlock::Step& step : found.steps) {
        steps.emplace_back(step.rank, step.waits_for);
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (steps == expected) {
            return true;
        }
        std::ranges::rotate(steps, steps.begin() + (steps.empty() ? 0 : 1));
    }
    return false;
}

inline Task<> run_chain(Rank root, Remote<Link> first, int count, Way way, Rank over,
                        Remote<Link> next) {
    co_await at<&begin_holding>(root, first, count, way, over, next);
}

/// The task of rank 0: makes the cycle, looks until it is there, and ends the runs of all ranks.
inline Task<> find(Cycle cycle, std::optional<Deadlock>& found) {
    holding = 0;
    std::vector<Remote<Link>> objects;
    for (const Rank home : cycle.homes) {
        objects.push_back(co_await create<Link>(home));
    }
    const auto length = static_cast<int>(cycle.length());
    for (std::size_t i = 0; i < cycle.length(); ++i) {
        spawn(run_chain(cycle.roots[i], objects[i], length, cycle.ways[i], cycle.over[i],
                        objects[cycle.behind(i)]));
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!found.has_value() && std::chrono::steady_clock::now() < end) {
        found = co_await find_deadlock();
        co_await this_task::sleep_for(std::chrono::microseconds(200));
    }
    for (Rank rank = ranks(); rank-- != 0;) {
        co_await at<&end_run>(rank);
    }
}
inline Task<> serve_others() {
    co_return;
}

/// Two calls of rank 0 hold one object each and need the other one.
inline Task<> cross() {
    holding = 0;
    const auto one = co_await create<Link>(1);
    const auto other = co_await create<Link>(2);
    spawn(begin_holding(one, 2, Way::direct, 0, other));
    spawn(begin_holding(other, 2, Way::direct, 0, one));
}

/// Runs three ranks, of which rank 0 makes that deadlock and looks for it. Gives what the run of
/// each rank has thrown.
inline std::vector<std::optional<Error>> run_cross() {
    RemoteOptions options;
    options.deadlock_after = std::chrono::milliseconds(20);
    RemoteGroup group(3, options);
    std::vector<std::optional<Error>> thrown(3);
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < 3; ++rank) {
        threads.emplace_back([&group, &of_rank = thrown[static_cast<std::size_t>(rank)], rank] {
            RemoteRank own = group.join(rank);
            try {
                own.run(rank == 0 ? cross() : serve_others());
            } catch (const Error& error) {
                of_rank = error;
            }
        });
    }
    threads.clear();
    return thrown;
}

/// The life of a rank. The stop is what ends it.
inline void live(RemoteRank& own, const Cycle& cycle, std::optional<Deadlock>& found) {
    end_of_run = std::stop_source();
    try {
        own.run(own.rank() == 0 ? find(cycle, found) : serve_others(), end_of_run.get_token());
    } catch (const Error& error) {
        if (error.code() != Errc::interrupted) {
            throw;
        }
    }
}

} // namespace corymb::cycle_test
