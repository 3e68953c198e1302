// SPDX-License-Identifier: Apache-2.0
// Purpose: tells a rank of an oversubscribed team whether its CPU is better given to a teammate. A
// rank wastes a turn of the scheduler if it yields after all ranks that could use its CPU have done
// so. It wastes its whole time slice if it spins while the awaited rank stands in line for this
// very CPU.
//
// Roles: one Crowd per team, in memory that all its ranks share; one Seat per rank, used by that
// rank's thread only.
//
// Layout, behind the numbers of CPUs and ranks, which do not change:
//   line            bytes  field                 written by            read by
//   one per CPU     8      place[cpu].residents  ranks that move       ranks on that CPU
//   one per CPU     8      place[cpu].begun      ranks on that CPU     ranks on that CPU
//   one per CPU     8      place[cpu].turns      ranks on that CPU     ranks on that CPU
//   one per CPU     16     place[cpu].stranger   ranks on that CPU     ranks on that CPU
//   one per rank    4      cpu_of[rank].cpu      the rank, when moved  its peers
//
// Protocol: a rank that begins an operation sees where it runs. If that has changed it takes itself
//   and its operations off the old place and puts them onto the new one. Then it adds one to
//   `begun`. begun < residents x own operations: somebody here has not begun this operation.
//   Whenever a rank that waits gets the CPU it adds one to `turns`.
//
// Order: every access is relaxed. All of it is advice: a wrong answer costs time and nothing else,
// and whoever spins on it does so for a bounded time.
//
// Progress: wait-free.
//
// Checked by: tests/unit/channel/crowd_test.cpp, tests/unit/team/crowded_requests_test.cpp.
#pragma once

#include "base/cache_line.hpp"
#include "channel/stranger.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace corymb::channel {

class alignas(line_pair_bytes) Crowd {
public:
    /// Bytes of the object and the tables that follow it.
    [[nodiscard]] static std::size_t bytes(std::size_t ranks, std::size_t cpus) noexcept {
        return sizeof(Crowd) + cpus * sizeof(Place) + ranks * sizeof(Whereabouts);
    }

    /// Constructed at the beginning of `bytes(ranks, cpus)` bytes, for `ranks` ranks on CPUs with
    /// numbers below `cpus`.
    Crowd(std::size_t ranks, std::size_t cpus) noexcept : cpus_(cpus) {
        std::uninitialized_value_construct_n(places(), cpus);
        std::uninitialized_value_construct_n(whereabouts(), ranks);
    }
    Crowd(const Crowd&) = delete;
    Crowd& operator=(const Crowd&) = delete;

    /// The private part of one rank.
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

        /// Whether a teammate may need this CPU: a rank that was here has not begun the operation,
        /// or the awaited rank was here last.
        [[nodiscard]] bool is_wanted(std::size_t awaited) const noexcept {
            const Place* place = crowd_->place(cpu_);
            return place == nullptr ||
                   crowd_->whereabouts()[awaited].cpu.load(std::memory_order_relaxed) == cpu_ ||
                   place->begun.load(std::memory_order_relaxed) <
                       place->residents.load(std::memory_order_relaxed) * begun_;
        }

        /// What the ranks of this CPU know of others that use it; null: nothing is known.
        [[nodiscard]] Stranger* stranger() noexcept {
            Place* place = crowd_->place(cpu_);
            return place == nullptr ? nullptr : &place->stranger;
        }

        /// The rank has the CPU again. How many turns ranks have had there so far.
        std::int64_t take_turn() noexcept {
            Place* place = crowd_->place(cpu_);
            return place == nullptr ? 0 : place->turns.fetch_add(1, std::memory_order_relaxed) + 1;
        }

    private:
        void move(int cpu) noexcept {
            if (Place* old = crowd_->place(cpu_)) {
                old->residents.fetch_sub(1, std::memory_order_relaxed);
                old->begun.fetch_sub(begun_, std::memory_order_relaxed);
            }
            cpu_ = cpu;
            crowd_->whereabouts()[rank_].cpu.store(cpu, std::memory_order_relaxed);
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
        std::atomic<std::int64_t> turns{0};
        Stranger stranger;
    };
    struct alignas(cache_line_bytes) Whereabouts {
        std::atomic<int> cpu{-1};
    };

    /// Null for a number that is not expected; then nothing is known.
    [[nodiscard]] Place* place(int cpu) noexcept {
        return cpu >= 0 && static_cast<std::size_t>(cpu) < cpus_ ? places() + cpu : nullptr;
    }
    // No addresses are stored: processes have the memory at different places.
    [[nodiscard]] Place* places() noexcept { return reinterpret_cast<Place*>(this + 1); }
    [[nodiscard]] Whereabouts* whereabouts() noexcept {
        return reinterpret_cast<Whereabouts*>(places() + cpus_);
    }

    std::size_t cpus_;
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free); // Between processes, too.

} // namespace corymb::channel
