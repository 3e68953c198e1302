// SPDX-License-Identifier: Apache-2.0
// src/channel/event_count.hpp: an owner that parks on a signal line is woken, whoever comes first,
// and so is each of many sleepers. Time limits never expire here, so a lost wake-up is a deadlock.
// (With an expiring limit it would only be late.)
#include "channel/event_count.hpp"
#include "channel/signal_line.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "worlds/parking_waiter.hpp"
#include "worlds/payload.hpp"

#include <array>

namespace {

using namespace corymb::verify;
using Line = corymb::channel::SignalLine<ExplorerEnv>;

/// One that looks before it announces, and not after.
struct AnnouncesTooLate {
    Spot& spot;

    template <class A, class P, class T>
    bool await(const A& word, std::memory_order order, const P& holds, T& seen) {
        for (;;) {
            seen = word.load(order);
            if (holds(seen)) {
                return true;
            }
            spot.sleep(spot.announce(), 1);
        }
    }
};

using corymb::channel::Fencing;

/// The owner waits for `Signals` signals of each of `Wakers` wakers; each brings a letter.
template <std::size_t Wakers, std::size_t Signals, class Waiter = ParkingWaiter<0>,
          Fencing fencing = Fencing::sleeper>
struct Parking {
    static constexpr int threads = 1 + static_cast<int>(Wakers);
    Spot spot{corymb::Reach::process, fencing};
    Line line[Wakers];
    Letter letter[Wakers][Signals];

    Parking() {
        Explorer::current().name(&spot, sizeof spot, "event count");
        Explorer::current().name(line, sizeof line, "line");
        Explorer::current().name(letter, sizeof letter, "letter");
    }
    void run(int thread) {
        if (thread == 0) {
            own();
            return;
        }
        std::uint64_t sent = 0;
        for (auto& to_write : letter[thread - 1]) {
            to_write.write(sent);
            line[thread - 1].signal(sent);
            spot.wake_if_parked();
        }
    }
    void own() {
        Waiter waiter{spot};
        std::uint64_t received[Wakers] = {};
        for (std::size_t i = 0; i < Signals; ++i) {
            for (std::size_t waker = 0; waker < Wakers; ++waker) {
                require(line[waker].wait(waiter, received[waker]), "the owner is not told to stop");
                require(letter[waker][i].read() == i, "the letter came with the signal");
            }
        }
    }
};

/// Both sides pay for the sleep.
template <std::size_t Wakers, std::size_t Signals>
using Fenced = Parking<Wakers, Signals, ParkingWaiter<0>, Fencing::both>;

/// The owner changes who pays for its sleeps.
template <std::size_t Wakers, std::size_t Signals>
struct Changing : Parking<Wakers, Signals> {
    using Parking<Wakers, Signals>::spot;
    using Parking<Wakers, Signals>::line;
    void run(int thread) {
        if (thread != 0) {
            Parking<Wakers, Signals>::run(thread);
            return;
        }
        ParkingWaiter<0> waiter{spot};
        std::uint64_t received[Wakers] = {};
        int waits = 0;
        for (std::size_t i = 0; i < Signals; ++i) {
            for (std::size_t waker = 0; waker < Wakers; ++waker) {
                spot.set_fencing(waits++ % 3 == 2 ? Fencing::sleeper : Fencing::both);
                require(line[waker].wait(waiter, received[waker]), "the owner is not told to stop");
            }
        }
    }
};

enum class Names { awaited, nobody, another };

/// The owner sleeps for one waker after the other, and each wakes only an owner that waits for it
/// or for anybody. Seeded bug: with `another` the owner names the next one.
template <std::int32_t Wakers, Names names = Names::awaited>
struct Keyed {
    static constexpr int threads = 1 + Wakers;
    Spot spot;
    std::array<Line, static_cast<std::size_t>(Wakers)> line;

    void run(int thread) {
        std::uint64_t count = 0;
        if (thread == 0) {
            ParkingWaiter<0> waiter{spot};
            for (std::int32_t waker = 0; waker < Wakers; ++waker) {
                waiter.expect(corymb::channel::Awaited(names == Names::awaited ? waker
                                                       : names == Names::nobody
                                                           ? -1
                                                           : (waker + 1) % Wakers));
                count = 0;
                require(line.at(static_cast<std::size_t>(waker)).wait(waiter, count),
                        "the owner is not told to stop");
            }
        } else {
            line.at(static_cast<std::size_t>(thread - 1)).signal(count);
            spot.wake_if_parked(corymb::channel::wake_key(thread - 1));
        }
    }
};

/// The owner awaits all wakers, whoever comes first, and sleeps for as many as are missing.
/// Seeded bug: with `too_many` it counts some that have come.
template <std::size_t Wakers, std::uint32_t too_many = 0>
struct Counted {
    static constexpr int threads = 1 + static_cast<int>(Wakers);
    Spot spot;
    std::array<Line, Wakers> line;

    /// From a line on, as far as the owner has come.
    struct Ahead {
        const std::array<Line, Wakers>& line;
        std::size_t from = 0;
        [[nodiscard]] std::uint32_t missing() const noexcept {
            std::uint32_t missing = 0;
            for (std::size_t waker = from; waker < Wakers; ++waker) {
                missing += line.at(waker).has_come(0) ? 0U : 1U;
            }
            return missing + (missing == 0 ? 0 : too_many);
        }
    };
    void run(int thread) {
        std::uint64_t count = 0;
        if (thread != 0) {
            line.at(static_cast<std::size_t>(thread - 1)).signal(count);
            spot.wake_if_parked(corymb::channel::wake_key(thread - 1));
            return;
        }
        ParkingWaiter<0> waiter{spot};
        Ahead ahead{line};
        for (ahead.from = 0; ahead.from < Wakers; ++ahead.from) {
            waiter.expect(corymb::channel::Awaited(static_cast<std::int32_t>(ahead.from), ahead));
            count = 0;
            require(line.at(ahead.from).wait(waiter, count), "the owner is not told to stop");
        }
    }
};

/// One waker wakes `Owners` owners together.
template <std::size_t Owners>
struct Together {
    static constexpr int threads = 1 + static_cast<int>(Owners);
    std::array<Spot, Owners + 1> spot;
    std::array<Line, Owners> line;

    void run(int thread) {
        std::uint64_t count = 0;
        const auto own = static_cast<std::size_t>(thread);
        if (own < Owners) {
            ParkingWaiter<0> waiter{spot.at(own)};
            require(line.at(own).wait(waiter, count), "the owner is not told to stop");
            return;
        }
        std::array<Spot*, Owners> owners{};
        for (std::size_t owner = 0; owner < Owners; ++owner) {
            count = 0;
            line.at(owner).signal(count);
            owners.at(owner) = &spot.at(owner);
        }
        spot.at(own).wake_those_parked(owners);
    }
};

/// Two threads that take turns and both park.
template <int Rounds>
struct PingPong {
    static constexpr int threads = 2;
    Spot spot[2];
    Line line[2];
    Letter letter;

    void run(int thread) {
        ParkingWaiter<0> waiter{spot[thread]};
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
        for (std::uint64_t round = 0; round < Rounds; ++round) {
            const std::uint64_t turn = 2 * round + static_cast<std::uint64_t>(thread);
            if (turn > 0) {
                require(line[1 - thread].wait(waiter, received), "nobody says stop");
                require(letter.read() == turn - 1, "the other's letter");
            }
            letter.write(turn);
            line[thread].signal(sent);
            spot[1 - thread].wake_if_parked();
        }
    }
};

/// The signal never comes, but the team breaks: the owner must not sleep through that, also while
/// it waits for one waker. Who says so wakes it without a key.
template <std::int32_t Rank>
struct Broken {
    static constexpr int threads = 2;
    Spot spot;
    Line line;
    ExplorerEnv::Atomic<std::uint32_t> broken;

    void run(int thread) {
        if (thread == 0) {
            ParkingWaiter<0> waiter{spot, &broken};
            waiter.expect(corymb::channel::Awaited(Rank));
            std::uint64_t received = 0;
            require(!line.wait(waiter, received), "there was no signal");
        } else {
            broken.store(1, std::memory_order_relaxed);
            spot.wake_if_parked();
        }
    }
};

/// Seeded bug: the waker looks for sleepers before it makes the condition true.
struct WakesTooEarly {
    static constexpr int threads = 2;
    Spot spot;
    Line line;

    void run(int thread) {
        std::uint64_t count = 0;
        if (thread == 0) {
            ParkingWaiter<0> waiter{spot};
            require(line.wait(waiter, count), "nobody says stop");
        } else {
            spot.wake_if_parked();
            line.signal(count);
        }
    }
};

/// Thread 0 counts up and wakes each time; the others sleep until each count is there.
template <int Count, std::uint64_t Events>
struct Many {
    static constexpr int threads = 1 + Count;
    ExplorerEnv::Atomic<std::uint64_t> count;
    corymb::channel::EventCount<ExplorerEnv, corymb::channel::Sleepers::many> events;

    void run(int thread) {
        for (std::uint64_t i = 1; i <= Events; ++i) {
            if (thread == 0) {
                count.store(i, std::memory_order_relaxed);
                events.wake_if_parked();
                continue;
            }
            const auto done = [this, i] {
                return count.load(std::memory_order_relaxed) >= i;
            };
            require(events.park(
                        done, [] { return false; }, [] { return 1'000'000'000; }),
                    "it is woken");
        }
    }
};

/// Two wakers at once, each with a condition of its own; the other threads sleep for both.
template <int Count>
struct ManyOfTwo {
    static constexpr int threads = 2 + Count;
    std::array<ExplorerEnv::Atomic<std::uint64_t>, 2> flag;
    corymb::channel::EventCount<ExplorerEnv, corymb::channel::Sleepers::many> events;

    void run(int thread) {
        if (thread < 2) {
            flag.at(static_cast<std::size_t>(thread)).store(1, std::memory_order_relaxed);
            events.wake_if_parked();
            return;
        }
        const auto done = [this] {
            return flag[0].load(std::memory_order_relaxed) != 0 &&
                   flag[1].load(std::memory_order_relaxed) != 0;
        };
        require(
            events.park(done, [] { return false; }, [] { return 1'000'000'000; }), "it is woken");
    }
};

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<Parking<1, 2>>("parking: 1 waker, 2 signals"),
            holds<Parking<1, 2, ParkingWaiter<1>>>("parking: 1 waker, 2 signals, 1 look awake"),
            holds<Parking<1, 2>>("parking: 1 waker, 2 signals, 2 idle wake-ups or timeouts",
                                 {.spurious_wakeups = 2}),
            holds_large<Parking<2, 1>>("parking: 2 wakers, 1 signal each"),
            holds_large<Parking<2, 2>>("parking: 2 wakers, 2 signals each, random walks",
                                       {.executions_max = 20'000, .random = true}),
            holds<Fenced<1, 2>>("parking with full fences: 1 waker, 2 signals"),
            holds<Fenced<1, 2>>("parking with full fences: 1 waker, 2 signals, 2 idle wake-ups",
                                {.spurious_wakeups = 2}),
            holds<Fenced<2, 1>>("parking with full fences: 2 wakers, 1 signal each"),
            holds<Changing<1, 2>>("parking with fences that change: 1 waker, 2 signals"),
            holds<Changing<1, 3>>("parking with fences that change: 1 waker, 3 signals",
                                  {.preemptions_max = 2}),
            holds_large<Changing<2, 1>>("parking with fences that change: 2 wakers"),
            holds<Keyed<2>>("parking: each waker wakes only who waits for it, 2 wakers"),
            holds_large<Keyed<2>>("parking: each waker wakes only who waits for it, 1 idle wake-up",
                                  {.spurious_wakeups = 1}),
            holds<Keyed<2, Names::nobody>>("parking: each waker wakes who waits for anybody"),
            holds<Counted<2>>("parking: for two wakers at once, 1 preemption",
                              {.preemptions_max = 1}),
            holds<Counted<2>>("parking: for two wakers at once, random walks",
                              {.executions_max = 5'000, .random = true}),
            holds_large<Counted<3>>("parking: for three wakers at once, random walks",
                                    {.executions_max = 20'000, .random = true}),
            holds<Together<1>>("parking: one is woken by a list"),
            holds<Together<2>>("parking: two are woken together"),
            holds<Broken<5>>("parking: the team breaks while one waker is awaited"),
            holds<PingPong<2>>("parking: two threads take turns and both park, 2 rounds"),
            holds<Broken<-1>>("parking: the team breaks"),
            holds<Many<1, 2>>("many: 1 sleeper, 2 events"),
            holds<Many<2, 1>>("many: 2 sleepers, 1 event, 2 preemptions", {.preemptions_max = 2}),
            holds_large<Many<2, 1>>("many: 2 sleepers, 1 event"),
            holds_large<Many<2, 2>>("many: 2 sleepers, 2 events, random walks",
                                    {.executions_max = 10'000, .random = true}),
            holds<ManyOfTwo<1>>("many: 1 sleeper, 2 wakers at once"),
            caught<Many<1, 1>>("many: no light fence", Fault::no_light_fence),
            caught<Many<1, 1>>("many: no heavy fence", Fault::no_heavy_fence),
            caught<Many<1, 1>>("many: no comparison", Fault::no_futex_compare),
            caught<Parking<1, 1>>("parking: no light fence", Fault::no_light_fence),
            caught<Parking<1, 1>>("parking: no heavy fence", Fault::no_heavy_fence),
            caught<Fenced<1, 1>>("parking with full fences: none", Fault::no_full_fence),
            caught<Changing<1, 2>>("parking with fences that change: none light",
                                   Fault::no_light_fence),
            caught<Changing<1, 2>>("parking with fences that change: none heavy",
                                   Fault::no_heavy_fence),
            caught<Changing<1, 3>>("parking with fences that change: none full",
                                   Fault::no_full_fence),
            caught<Parking<1, 1>>("parking: sleeps without comparing", Fault::no_futex_compare),
            caught<Parking<1, 1>>("parking: release is relaxed", Fault::release_is_relaxed),
            caught<Parking<1, 1>>("parking: acquire is relaxed", Fault::acquire_is_relaxed),
            caught<Parking<1, 1, AnnouncesTooLate>>("parking: announces after the look"),
            caught<Keyed<2, Names::another>>("parking: the owner names another waker"),
            caught<Counted<2, 1>>("parking: the owner counts one waker too many"),
            caught<Counted<2>>("parking: for two wakers, no light fence", Fault::no_light_fence),
            caught<Counted<2>>("parking: for two wakers, no heavy fence", Fault::no_heavy_fence),
            caught<Together<2>>("parking: two are woken together, no light fence",
                                Fault::no_light_fence),
            caught<WakesTooEarly>("parking: wakes before the signal"),
        });
}
