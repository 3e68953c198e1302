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
//   2     8      sleepers   event_count.hpp
//
// Protocol:
//   arrive    subtract from the arrivals to come (A1); who takes the last one is last, runs the
//             completion function, and calls complete.
//   complete  1. arrivals = next phase | expected; 2. store the phase (P1); 3. wake who sleeps.
//   wait      look at the phase (P1), awake for a while; then asleep in `sleepers`.
//   drop      subtract one from expected, before the dropper's own arrival.
//
// Order:
//   A1: release and acquire of the read-modify-writes of `arrivals`: the last arrival comes after
//       everything before all others' arrivals, drops included.
//   P1: release store of `phase` in complete -> acquire load in wait: releases the waiters after
//       the completion function. `expected` and `arrivals` in complete are relaxed: they are next
//       used after A1 or P1.
//
// Progress: arrive and complete are wait-free; wait waits for the other participants.
//
// Checked by: verify/worlds/central_barrier_world.cpp; tests/stress.
#pragma once

#include "base/cache_line.hpp"
#include "channel/event_count.hpp"

#include <atomic>
#include <cstdint>

namespace corymb::team {

template <class Env>
class CentralBarrier {
public:
    using Sleepers = channel::EventCount<Env, channel::Sleepers::many>;

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
        sleepers_.wake_if_parked();
    }

    /// One participant fewer from the next phase on.
    void drop() noexcept { expected_.fetch_sub(1, std::memory_order_relaxed); }

    [[nodiscard]] bool is_complete(std::uint32_t phase) const noexcept {
        return phase_.load(std::memory_order_acquire) != phase; // P1 acquire
    }

    /// For participants that sleep until their phase is complete.
    [[nodiscard]] Sleepers& sleepers() noexcept { return sleepers_; }

private:
    static constexpr std::uint64_t pack(std::uint32_t phase, std::uint32_t to_come) noexcept {
        return phase | (std::uint64_t{to_come} << 32);
    }

    alignas(line_pair_bytes) typename Env::template Atomic<std::uint64_t> arrivals_;
    typename Env::template Atomic<std::uint32_t> expected_;
    alignas(line_pair_bytes) typename Env::template Atomic<std::uint32_t> phase_;
    Sleepers sleepers_;
};

} // namespace corymb::team
