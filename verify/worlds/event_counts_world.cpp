// SPDX-License-Identifier: Apache-2.0
// src/channel/event_counts.hpp: a thread that sleeps in several event counts at once is woken by
// whoever makes its condition true, through any of them. Time limits never expire here, so a lost
// wake-up is a deadlock.
#include "channel/event_counts.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace {

using namespace corymb::verify;
using Events = corymb::channel::EventCount<ExplorerEnv>;
using corymb::channel::Fencing;

/// Thread 0 sleeps in its own event count and in one that thread 1 shares; thread 2 makes a word
/// true, and wakes those of the shared one.
struct Shared {
    static constexpr int threads = 3;
    Events own;
    corymb::channel::EventCount<ExplorerEnv, corymb::channel::Sleepers::many> shared;
    ExplorerEnv::Atomic<std::uint32_t> word;

    void run(int thread) {
        if (thread == 2) {
            word.store(1, std::memory_order_relaxed);
            shared.wake_if_parked();
            return;
        }
        const auto look = [&] {
            return word.load(std::memory_order_relaxed) != 0;
        };
        const auto never = [] {
            return false;
        };
        const auto long_enough = [] {
            return 1'000'000'000;
        };
        if (thread == 1) {
            require(shared.park(look, never, long_enough), "nobody says stop");
            return;
        }
        corymb::channel::EventCounts<ExplorerEnv> all;
        all.add(own);
        all.add(shared);
        require(all.park(look, never, long_enough), "nobody says stop");
    }
};

/// Each waker has a word and an event count of its own; thread 0 sleeps until it has seen `Rounds`
/// in the words of all. Seeded bug: it forgets the event count of the last waker.
template <std::size_t Wakers, std::uint32_t Rounds, bool forgets = false,
          Fencing fencing = Fencing::sleeper>
struct Several {
    static constexpr int threads = 1 + static_cast<int>(Wakers);
    std::array<Events, Wakers> events;
    std::array<ExplorerEnv::Atomic<std::uint32_t>, Wakers> word;

    Several() : events(make_events(std::make_index_sequence<Wakers>())) {}
    template <std::size_t... I>
    static std::array<Events, Wakers> make_events(std::index_sequence<I...> /*all*/) {
        return {((void)I, Events(corymb::Reach::process, fencing))...};
    }

    void run(int thread) {
        if (thread != 0) {
            const auto own = static_cast<std::size_t>(thread - 1);
            for (std::uint32_t round = 1; round <= Rounds; ++round) {
                word.at(own).store(round, std::memory_order_relaxed);
                events.at(own).wake_if_parked();
            }
            return;
        }
        corymb::channel::EventCounts<ExplorerEnv> all;
        for (std::size_t waker = 0; waker < Wakers - (forgets ? 1 : 0); ++waker) {
            all.add(events.at(waker));
        }
        std::array<std::uint32_t, Wakers> seen{};
        std::uint32_t total = 0;
        while (total < Wakers * Rounds) {
            const auto look = [&] { // Anything new.
                bool is_new = false;
                for (std::size_t waker = 0; waker < Wakers; ++waker) {
                    const std::uint32_t now = word.at(waker).load(std::memory_order_relaxed);
                    is_new = is_new || now > seen.at(waker);
                    total += now - seen.at(waker);
                    seen.at(waker) = now;
                }
                return is_new;
            };
            require(all.park(
                        look, [] { return false; }, [] { return 1'000'000'000; }),
                    "nobody says stop");
        }
    }
};

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<Several<1, 2>>("several: one event count, 2 events"),
            holds<Several<2, 1>>("several: two event counts, 1 event each, 1 preemption",
                                 {.preemptions_max = 1}),
            holds<Several<2, 1>>("several: two event counts, 1 idle wake-up, random walks",
                                 {.executions_max = 5'000, .random = true, .spurious_wakeups = 1}),
            holds<Several<2, 1, false, Fencing::both>>(
                "several: two event counts with full fences, 2 preemptions",
                {.preemptions_max = 2}),
            holds<Shared>("several: one is shared, 1 preemption", {.preemptions_max = 1}),
            holds_large<Several<2, 2>>("several: two event counts, 2 events each, random walks",
                                       {.executions_max = 20'000, .random = true}),
            holds_large<Several<3, 1>>("several: three event counts, random walks",
                                       {.executions_max = 20'000, .random = true}),
            caught<Several<2, 1, true>>("several: one event count is forgotten"),
            caught<Shared>("several: one is shared, no heavy fence", Fault::no_heavy_fence),
            caught<Several<2, 1>>("several: no light fence", Fault::no_light_fence),
            caught<Several<2, 1>>("several: no heavy fence", Fault::no_heavy_fence),
            caught<Several<2, 1>>("several: sleeps without comparing", Fault::no_futex_compare),
            caught<Several<2, 1, false, Fencing::both>>("several: no full fence",
                                                        Fault::no_full_fence),
        });
}
