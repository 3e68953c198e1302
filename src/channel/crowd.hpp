// SPDX-License-Identifier: Apache-2.0
// Purpose: tells a rank of an oversubscribed team whether its CPU is better given to a teammate.
// A rank that yields while everybody who could use its CPU has already done so wastes a turn of the
// scheduler, and one that spins while the awaited rank stands in line for this very CPU wastes its
// whole time slice.
//
// Roles: one Crowd per team; one Seat per rank, used by that rank's thread only.
//
// Layout:
//   line            bytes  field                 written by            read by
//   one per CPU     8      place[cpu].residents  ranks that move       ranks on that CPU
//   one per CPU     8      place[cpu].begun      ranks on that CPU     ranks on that CPU
//   one per rank    4      cpu_of[rank].cpu      the rank, when moved  its peers
//
// Protocol: a rank that begins an operation sees where it runs. If that has changed it takes itself
//   and its operations off the old place and puts them onto the new one. Then it adds one to
//   `begun`. begun < residents x own operations: somebody here has not begun this operation.
//
// Order: every access is relaxed. All of it is advice: a wrong answer costs time and nothing else,
// and whoever spins on it does so for a bounded time.
//
// Progress: wait-free.
//
// Checked by: tests/unit/channel/crowd_test.cpp.
#pragma once

#include "base/cache_line.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace corymb::channel {

class Crowd {
public:
    /// For `ranks` ranks on CPUs with numbers below `cpus`.
    Crowd(std::size_t ranks, std::size_t cpus) : places_(cpus), cpu_of_(ranks) {}

    /// One rank's private part.
    class Seat {
    public:
        Seat(Crowd& crowd, std::size_t rank) noexcept : crowd_(&crowd), rank_(rank) {}

        /// The rank begins an operation on `cpu`.
        void begin(int cpu) noexcept {
            if (cpu != cpu_) {
                move(cpu);
            }
            ++begun_;
            if (Place* place = crowd_->place(cpu_)) {
                place->begun.fetch_add(1, std::memory_order_relaxed);
            }
        }

        /// Whether a teammate may need this CPU: somebody who was here has not begun the operation,
        /// or the rank that is waited for was here last.
        [[nodiscard]] bool is_wanted(std::size_t awaited) const noexcept {
            const Place* place = crowd_->place(cpu_);
            return place == nullptr ||
                   crowd_->cpu_of_[awaited].cpu.load(std::memory_order_relaxed) == cpu_ ||
                   place->begun.load(std::memory_order_relaxed) <
                       place->residents.load(std::memory_order_relaxed) * begun_;
        }

    private:
        void move(int cpu) noexcept {
            if (Place* old = crowd_->place(cpu_)) {
                old->residents.fetch_sub(1, std::memory_order_relaxed);
                old->begun.fetch_sub(begun_, std::memory_order_relaxed);
            }
            cpu_ = cpu;
            crowd_->cpu_of_[rank_].cpu.store(cpu, std::memory_order_relaxed);
            if (Place* now = crowd_->place(cpu_)) {
                now->residents.fetch_add(1, std::memory_order_relaxed);
                now->begun.fetch_add(begun_, std::memory_order_relaxed);
            }
        }

        Crowd* crowd_;
        std::size_t rank_;
        int cpu_ = -1;
        std::int64_t begun_ = 0;
    };

private:
    struct alignas(line_pair_bytes) Place {
        std::atomic<std::int64_t> residents{0};
        std::atomic<std::int64_t> begun{0};
    };
    struct alignas(cache_line_bytes) Whereabouts {
        std::atomic<int> cpu{-1};
    };

    /// Null for a number that is not expected; then nothing is known.
    [[nodiscard]] Place* place(int cpu) noexcept {
        return cpu >= 0 && static_cast<std::size_t>(cpu) < places_.size()
                   ? &places_[static_cast<std::size_t>(cpu)]
                   : nullptr;
    }

    std::vector<Place> places_;
    std::vector<Whereabouts> cpu_of_;
};

} // namespace corymb::channel
