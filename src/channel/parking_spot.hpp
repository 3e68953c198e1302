// SPDX-License-Identifier: Apache-2.0
// Purpose: lets a thread sleep in the kernel until other threads make a condition true, at the
// price of one load of a usually shared line for them.
//
// Roles: one owner, which parks; any number of wakers. Each waker makes the condition true first
// and then calls wake_if_parked. The condition is some other atomic word.
//
// Layout:
//   line  bytes  field    written by      read by
//   0     4      parked   owner, wakers   wakers, kernel   0, or the key of whom the owner awaits
//   0     4      reach    at the start    owner, wakers    whether wakers are in other processes
//   0     4      fencing  owner           wakers           which fences both sides execute
//   0     4      waker    owner, wakers   owner            CPU of who woke it last: advice
//
// Protocol:
//   owner  1. parked = key; 2. own fence; 3. look at the condition once more; 4. if it does not
//          hold: sleep while parked == key, look again, and go to 1 unless it holds; 5. parked = 0.
//   waker  1. make the condition true; 2. own fence; 3. if parked is `anybody` or the waker's own
//          key, or the waker has none: exchange it for 0 and, if it was not 0, wake the owner.
//   Only the waker with the key can make the condition of that sleep true, so that all others leave
//   the owner asleep.
//   A waker that comes late can find a newer announcement and take it back: the owner's sleep then
//   returns at once, it looks at the condition and announces again. Wake-ups are never lost,
//   sometimes idle.
//
// Order: store-then-load on both sides (Dekker), decided by the fence pair:
//   F1: light_fence between the waker's condition store and its load of `parked` <-> heavy_fence
//       between the owner's store of `parked` and its load of the condition. At least one of the
//       two loads sees the other side's store. All accesses to `parked` are relaxed: nothing is
//       published through it, the condition word carries its own release/acquire pair. Between
//       processes the heavy fence is the one that reaches all of them (base/membarrier.hpp);
//       a team in which one process cannot be reached has full light fences. With Fencing::both the
//       two are full_fence <-> full_fence instead. When the owner goes over to that, its next fence
//       is still heavy: a waker whose light fence came before it has made its condition true by
//       then, and one whose light fence comes after it sees the new value of `fencing`.
//
// Progress: wake_if_parked is wait-free but for the system call when the owner sleeps.
//
// Checked by: verify/worlds/parking_world.cpp (no lost wake-up: deadlock detection).
#pragma once

#include "base/cache_line.hpp"
#include "base/reach.hpp"

#include <atomic>
#include <cstdint>
#include <sched.h>

namespace corymb::channel {

/// Says which side pays for a sleep. The heavy fence interrupts other CPUs, which takes
/// microseconds: too much for an owner that sleeps again and again because it has no CPU of its
/// own.
enum class Fencing : std::uint32_t {
    owner, ///< A heavy fence before each sleep, a light one for each wake-up.
    both,  ///< A full fence each.
};

/// Names a waker.
using WakeKey = std::uint32_t;
inline constexpr WakeKey anybody = 0xffff'ffff;
/// Ranks below 0 stand for anybody.
constexpr WakeKey wake_key(std::int32_t rank) noexcept {
    return rank < 0 ? anybody : static_cast<WakeKey>(rank) + 1;
}

template <class Env>
class alignas(line_pair_bytes) ParkingSpot {
public:
    ParkingSpot() noexcept = default;
    explicit ParkingSpot(Reach reach, Fencing fencing = Fencing::owner) noexcept
        : reach_(reach), fencing_(number(fencing)), wakers_pay_(fencing == Fencing::both),
          is_fixed_(fencing == Fencing::both) {}

    /// Owner: says that it is about to sleep. It must look at its condition after this call, which
    /// nobody but the waker `key` may make true.
    void announce(WakeKey key = anybody) noexcept {
        parked_.store(key, std::memory_order_relaxed);
        if (wakers_pay_) {
            Env::full_fence(); // F1
        } else {
            Env::heavy_fence(reach_); // F1
            wakers_pay_ = fencing_.load(std::memory_order_relaxed) == number(Fencing::both);
        }
    }
    /// Owner, awake: who pays for the sleeps that follow. A spot that was made with `both` stays
    /// so, because heavy fences may not reach its wakers.
    void set_fencing(Fencing fencing) noexcept {
        if (!is_fixed_ && fencing_.load(std::memory_order_relaxed) != number(fencing)) {
            fencing_.store(number(fencing), std::memory_order_relaxed);
            wakers_pay_ = false; // Until the next heavy fence, a waker may not know of it.
        }
    }
    /// Owner: sleeps until woken or `timeout_ns` has passed; may return early. `key` as announced.
    void sleep(std::int64_t timeout_ns, WakeKey key = anybody) noexcept {
        Env::futex_wait(parked_, key, timeout_ns, reach_);
    }
    /// Owner: is awake and will not sleep.
    void retract() noexcept { parked_.store(0, std::memory_order_relaxed); }

    /// Owner: sleeps until `done` or `stop`, which are looked at after each announcement;
    /// `time_left_ns` gives the longest sleep. Returns whether it was `done`. A thread that makes
    /// `stop` true must wake without a key. After a wake-up the owner looks at `done` before it
    /// announces again, because another heavy fence would make it late.
    template <class Done, class Stop, class TimeLeft>
    bool park(const Done& done, const Stop& stop, const TimeLeft& time_left_ns,
              WakeKey key = anybody) noexcept {
        waker_cpu_.store(-1, std::memory_order_relaxed);
        for (;;) {
            announce(key);
            const bool is_done = done();
            if (is_done || stop()) {
                retract();
                return is_done;
            }
            sleep(time_left_ns(), key);
            if (done()) {
                retract();
                return true;
            }
        }
    }

    /// Owner, after `park`: on which CPU its waker ran, -1 when nobody had to wake it.
    [[nodiscard]] int waker_cpu() const noexcept {
        return waker_cpu_.load(std::memory_order_relaxed);
    }

    /// Anybody, for people: whether the owner sleeps or is about to.
    [[nodiscard]] bool is_parked() const noexcept {
        return parked_.load(std::memory_order_relaxed) != 0;
    }

    /// Waker: to be called after the store that makes the owner's condition true.
    void wake_if_parked(WakeKey own = anybody) noexcept {
        Env::light_fence(); // F1
        if (fencing_.load(std::memory_order_relaxed) == number(Fencing::both)) {
            Env::full_fence(); // F1
        }
        const WakeKey awaited = parked_.load(std::memory_order_relaxed);
        if (awaited != 0 && (own == anybody || awaited == anybody || awaited == own)) [[unlikely]] {
            wake();
        }
    }

private:
    static constexpr std::uint32_t number(Fencing fencing) noexcept {
        return static_cast<std::uint32_t>(fencing);
    }
    /// Out of line, because the registers that a system call needs are then free for messages that
    /// wake nobody.
    [[gnu::noinline]] void wake() noexcept {
        if (parked_.exchange(0, std::memory_order_relaxed) != 0) {
            waker_cpu_.store(::sched_getcpu(), std::memory_order_relaxed);
            Env::futex_wake(parked_, 1, reach_);
        }
    }

    typename Env::template Atomic<std::uint32_t> parked_;
    Reach reach_ = Reach::process; ///< Reach of the wakers; never changes.
    typename Env::template Atomic<std::uint32_t> fencing_{number(Fencing::owner)};
    std::atomic<std::int32_t> waker_cpu_{-1};
    // The owner's own:
    bool wakers_pay_ = false; ///< All wakers know that they execute full fences.
    bool is_fixed_ = false;   ///< Never changes.
};

} // namespace corymb::channel
