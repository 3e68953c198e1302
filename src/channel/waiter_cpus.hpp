// SPDX-License-Identifier: Apache-2.0
// Purpose: tells a thread that waits whether another one of its group runs on its CPU. To spin then
// keeps that one from running, which may be the one that is waited for.
//
// Roles: one WaiterCpus per group, in memory that all its threads share, of one process or several;
// one CpuMates per waiter, used by the waiting thread only.
//
// Layout of WaiterCpus: 256 words in lines by CPU; neighbouring CPUs have different lines. A word
// records the last wait on its CPU: mark of the thread, CPU, time in units of 8 ms. Behind them are
// 32 Strangers, each in a line of its own, of CPU number modulo 32.
//
// Protocol: two things show that the CPU is shared.
//   1. A waiter whose first looks have failed reads the word of the CPU that it is on, and writes
//      itself there. Another thread's mark, not older than 17 ms: that one is here, too. Threads
//      that share a CPU find each other's marks in turn, one that has its CPU alone finds its own.
//   2. A waiter that has slept learns on which CPU its waker ran. If that is where it waited, to
//      wait awake there kept the waker from running. This holds for 10 ms, for the waker need not
//      wait for anything itself.
//   Both are looked at anew in each wait, so a set of CPUs that shrinks or grows, a thread that is
//   moved, and neighbours that come and go are followed.
//
// Order: every access is relaxed. All of it is advice: a wrong answer costs time and nothing else.
//
// Progress: wait-free.
//
// Checked by: tests/unit/channel/waiter_cpus_test.cpp.
#pragma once

#include "base/arena.hpp"
#include "base/cache_line.hpp"
#include "channel/patience.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace corymb::channel {

class alignas(line_pair_bytes) WaiterCpus {
public:
    /// The one of a group, which lives in its arena.
    [[nodiscard]] static WaiterCpus& of(Arena& arena);

    /// A thread with this mark, which is not 0 and has 24 bits, waits on `cpu`. Whether another one
    /// did so lately.
    [[nodiscard]] bool meet(int cpu, std::uint32_t mark, std::int64_t now_ns) noexcept {
        std::atomic<std::uint64_t>& place = place_of(cpu);
        const std::uint64_t before = place.load(std::memory_order_relaxed);
        const auto on = static_cast<std::uint64_t>(cpu) & 0xffffU;
        const auto time = static_cast<std::uint64_t>(now_ns >> unit_bits) & 0xff'ffffU;
        const std::uint64_t now = (std::uint64_t{mark} << 40U) | (on << 24U) | time;
        if (before != now) { // An unchanged line is not written.
            place.store(now, std::memory_order_relaxed);
        }
        const std::uint64_t who = before >> 40U;
        return who != 0 && who != mark && ((before >> 24U) & 0xffffU) == on &&
               ((time - before) & 0xff'ffffU) <= 1;
    }

    /// What the waiters of a CPU know of others that use it.
    [[nodiscard]] Stranger& stranger_on(int cpu) noexcept {
        return strangers_[static_cast<std::size_t>(cpu) % lines].is;
    }

private:
    static constexpr unsigned unit_bits = 23; ///< Nanoseconds, 8.4 ms.
    static constexpr std::size_t lines = 32;
    static constexpr std::size_t per_line = cache_line_bytes / sizeof(std::uint64_t);

    [[nodiscard]] std::atomic<std::uint64_t>& place_of(int cpu) noexcept {
        const auto number = static_cast<std::size_t>(cpu);
        return places_[number % lines * per_line + number / lines % per_line];
    }

    struct alignas(cache_line_bytes) OwnLine {
        Stranger is;
    };

    std::array<std::atomic<std::uint64_t>, lines * per_line> places_{};
    std::array<OwnLine, lines> strangers_{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free); // Between processes, too.

/// The other waiters of the group on a waiter's CPU.
class CpuMates final : public Teammates {
public:
    /// Null: no group is known.
    explicit CpuMates(WaiterCpus* cpus) noexcept : cpus_(cpus) {}
    /// The waits that follow are with ranks of another group.
    void be_among(WaiterCpus& cpus) noexcept { cpus_ = &cpus; }
    /// Null: no group is known.
    [[nodiscard]] WaiterCpus* cpus() const noexcept { return cpus_; }

    [[nodiscard]] bool are_here(std::int64_t now_ns) noexcept override;
    [[nodiscard]] bool want_the_cpu() noexcept override { return true; }
    std::int64_t take_turn() noexcept override { return 0; }
    [[nodiscard]] Stranger* stranger() noexcept override {
        return cpus_ == nullptr || cpu_ < 0 ? nullptr : &cpus_->stranger_on(cpu_);
    }

    /// The thread has slept and was woken from that CPU; -1: by nobody.
    void note_waker(int cpu, std::int64_t now_ns) noexcept;

private:
    WaiterCpus* cpus_;
    int cpu_ = -1; ///< The CPU of the last wait.
    int shared_cpu_ = -1;
    std::int64_t shared_until_ns_ = 0;
};

} // namespace corymb::channel
