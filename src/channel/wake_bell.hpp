// SPDX-License-Identifier: Apache-2.0
// Purpose: lets any number of threads sleep in the kernel until one other thread has something new,
// at the price of one load of a usually shared line for that one.
//
// Roles: one ringer; any number of sleepers. They wait for other atomic words.
//
// Layout:
//   line  bytes  field  written by        read by
//   0     4      word   sleepers, ringer  ringer, kernel   2 * rings + whether somebody may sleep
//   0     4      reach  at the start      everybody        whether sleepers are in other processes
//   0     4      waker  ringer            sleepers         CPU of the ringer that woke: advice
//
// Protocol:
//   sleeper  1. set the lowest bit of the word and keep the value; 2. heavy fence; 3. look at the
//            condition once more; 4. if it does not hold: sleep while the word has that value, look
//            again, and go to 1 unless it holds.
//   ringer   1. make the condition true; 2. light fence; 3. if the bit is set: add 1, which clears
//            it and begins another count, and wake everybody.
//   Nobody takes the bit back: a sleeper that need not sleep after all costs one idle wake-up.
//   Because rings are counted, a sleeper that looked before a ring does not sleep after it, even if
//   another has set the bit again.
//
// Order: store-then-load on both sides (Dekker), decided by the fence pair:
//   F1: light_fence between the ringer's condition store and its load of the word <-> heavy_fence
//       between the sleeper's setting of the bit and its load of the condition. All accesses to the
//       word are relaxed: nothing is published through it. Between processes as in
//       parking_spot.hpp.
//
// Progress: ring is wait-free but for the system call when somebody may sleep. A sleeper that has
// missed 2^31 rings between looking and sleeping could sleep too long; it has a limit anyway.
//
// Checked by: verify/worlds/wake_bell_world.cpp (no lost wake-up: deadlock detection).
#pragma once

#include "base/cache_line.hpp"
#include "base/reach.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <sched.h>

namespace corymb::channel {

template <class Env>
class alignas(line_pair_bytes) WakeBell {
public:
    WakeBell() noexcept = default;
    explicit WakeBell(Reach reach) noexcept : reach_(reach) {}

    /// Sleeper: sleeps until `done` or `stop`, which are looked at before each sleep;
    /// `time_left_ns` gives the longest one. Returns whether it was `done`.
    template <class Done, class Stop, class TimeLeft>
    bool park(const Done& done, const Stop& stop, const TimeLeft& time_left_ns) noexcept {
        for (;;) {
            const std::uint32_t heard = word_.fetch_or(1, std::memory_order_relaxed) | 1U;
            Env::heavy_fence(reach_); // F1
            const bool is_done = done();
            if (is_done || stop()) {
                return is_done;
            }
            Env::futex_wait(word_, heard, time_left_ns(), reach_);
            if (done()) { // Without another heavy fence.
                return true;
            }
        }
    }

    /// Sleeper, after `park`: on which CPU the ringer ran when it last woke somebody; -1: never.
    [[nodiscard]] int waker_cpu() const noexcept {
        return waker_cpu_.load(std::memory_order_relaxed);
    }

    /// Ringer: to be called after the store that makes the sleepers' conditions true.
    void ring() noexcept {
        Env::light_fence(); // F1
        if ((word_.load(std::memory_order_relaxed) & 1U) != 0) [[unlikely]] {
            word_.fetch_add(1, std::memory_order_relaxed);
            waker_cpu_.store(::sched_getcpu(), std::memory_order_relaxed);
            Env::futex_wake(word_, std::numeric_limits<int>::max(), reach_);
        }
    }

private:
    typename Env::template Atomic<std::uint32_t> word_;
    Reach reach_ = Reach::process; ///< Never changes.
    std::atomic<std::int32_t> waker_cpu_{-1};
};

} // namespace corymb::channel
