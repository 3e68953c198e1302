// SPDX-License-Identifier: Apache-2.0
// Purpose: the counting core of corymb::barrier, for threads without ranks.
//
// Roles: any number of participants, each of whom arrives and waits; the last arrival of a phase
// completes it.
//
// Layout:
//   line  bytes  field      written by        read by
//   0     8      arrivals   participants      participants   phase | arrivals to come << 32
//   0     4      expected   droppers          the last arrival
//   1     4      phase      the last arrival  waiters
//   1     4      sleepers   waiters           the last arrival
//   1     4      waker      the last arrival  waiters        CPU of who woke them last: advice
//
// Protocol:
//   arrive    subtract from the arrivals to come (A1); who takes the last one is last, runs the
//             completion function, and calls complete.
//   complete  1. arrivals = next phase | expected; 2. store the phase (P1); 3. light fence;
//             4. if there are sleepers, wake all.
//   wait      look at the phase (P1), awake for a while; then 1. sleepers + 1; 2. heavy fence;
//             3. sleep while the phase is the old one; 4. sleepers - 1.
//   drop      subtract one from expected, before the dropper's own arrival.
//
// Order:
//   A1: release and acquire of the read-modify-writes of `arrivals`: the last arrival comes after
//       everything before all others' arrivals, drops included.
//   P1: release store of `phase` in complete -> acquire load in wait: releases the waiters after
//       the completion function. `expected` and `arrivals` in complete are relaxed: they are next
//       used after A1 or P1.
//   F1: light_fence between the store of `phase` and the load of `sleepers` <-> heavy_fence
//       between the addition to `sleepers` and the kernel's look at `phase`: no wake-up is lost.
//
// Progress: arrive and complete are wait-free; wait waits for the other participants.
//
// Checked by: verify/worlds/central_barrier_world.cpp; tests/stress.
#pragma once

#include "base/cache_line.hpp"

#include <atomic>
#include <cstdint>
#include <sched.h>

namespace corymb::team {

template <class Env>
class CentralBarrier {
public:
    explicit CentralBarrier(std::uint32_t expected) noexcept
        : arrivals_(pack(0, expected)), expected_(expected) {}

    struct Arrival {
        std::uint32_t phase;
        bool last;
    };

    /// Counts `update` arrivals; at most as many as are to come.
    Arrival arrive(std::uint32_t update) noexcept {
        const std::uint64_t before = arrivals_.fetch_sub(
            pack(0, update), std::memory_order_acq_rel); // A1 release, A1 acquire
        return {static_cast<std::uint32_t>(before), before >> 32 == update};
    }

    /// Opens the phase after `phase`; only the last arrival calls it.
    void complete(std::uint32_t phase) noexcept {
        const std::uint32_t next = phase + 1;
        arrivals_.store(pack(next, expected_.load(std::memory_order_relaxed)),
                        std::memory_order_relaxed);
        phase_.store(next, std::memory_order_release); // P1 release
        Env::light_fence();                            // F1
        if (sleepers_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
            waker_cpu_.store(::sched_getcpu(), std::memory_order_relaxed);
            Env::futex_wake(phase_, everybody);
        }
    }

    /// One participant fewer from the next phase on.
    void drop() noexcept { expected_.fetch_sub(1, std::memory_order_relaxed); }

    [[nodiscard]] bool is_complete(std::uint32_t phase) const noexcept {
        return phase_.load(std::memory_order_acquire) != phase; // P1 acquire
    }

    /// Sleeps until `phase` is complete or `timeout_ns` has passed; may return early.
    void sleep(std::uint32_t phase, std::int64_t timeout_ns) noexcept {
        sleepers_.fetch_add(1, std::memory_order_relaxed);
        Env::heavy_fence(); // F1
        Env::futex_wait(phase_, phase, timeout_ns);
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }

    /// On which CPU the last arrival ran when it last woke somebody; -1: never.
    [[nodiscard]] int waker_cpu() const noexcept {
        return waker_cpu_.load(std::memory_order_relaxed);
    }

private:
    static constexpr int everybody = 0x7fffffff;
    static constexpr std::uint64_t pack(std::uint32_t phase, std::uint32_t to_come) noexcept {
        return phase | (std::uint64_t{to_come} << 32);
    }

    alignas(line_pair_bytes) typename Env::template Atomic<std::uint64_t> arrivals_;
    typename Env::template Atomic<std::uint32_t> expected_;
    alignas(line_pair_bytes) typename Env::template Atomic<std::uint32_t> phase_;
    typename Env::template Atomic<std::uint32_t> sleepers_;
    std::atomic<std::int32_t> waker_cpu_{-1};
};

} // namespace corymb::team
