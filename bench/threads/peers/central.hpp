// SPDX-License-Identifier: Apache-2.0
// Central barriers: every rank adds to one counter, the last one opens the next phase.
#pragma once

#include "padded.hpp"
#include "waiting.hpp"

#include <atomic>
#include <cstdint>

namespace corymb::bench {

/// The sense-reversing barrier with a counter and a flag (Mellor-Crummey and Scott, TOCS 1991,
/// algorithm 7).
class CentralSenseBarrier {
public:
    CentralSenseBarrier(int size, Waiting waiting) : size_(size), waiting_(waiting) {
        count_.value.store(size, std::memory_order_relaxed);
    }

    class Member {
    public:
        void arrive_and_wait() noexcept {
            sense_ = !sense_;
            // Acquire and release: the last arriver has seen what all others wrote before, and
            // hands it on through the flag.
            if (home_->count_.value.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                // Relaxed: published to the others by the release store of the flag.
                home_->count_.value.store(home_->size_, std::memory_order_relaxed);
                home_->sense_.value.store(sense_, std::memory_order_release);
                return;
            }
            wait_until(home_->waiting_, [this] {
                return home_->sense_.value.load(std::memory_order_acquire) == sense_;
            });
        }

    private:
        friend class CentralSenseBarrier;
        explicit Member(CentralSenseBarrier& home) : home_(&home) {}
        CentralSenseBarrier* home_;
        bool sense_ = false;
    };
    Member join(int /*rank*/) { return Member(*this); }

private:
    Padded<std::atomic<int>> count_;
    Padded<std::atomic<bool>> sense_;
    int size_;
    Waiting waiting_;
};

/// The same idea with one word that only grows: arrival k belongs to phase k / size.
class CentralTicketBarrier {
public:
    CentralTicketBarrier(int size, Waiting waiting)
        : size_(static_cast<std::uint64_t>(size)), waiting_(waiting) {}

    class Member {
    public:
        void arrive_and_wait() noexcept {
            goal_ += home_->size_;
            // Release: what this rank wrote; acquire: for the last one, which does not poll.
            if (home_->arrivals_.value.fetch_add(1, std::memory_order_acq_rel) + 1 == goal_) {
                return;
            }
            // Every later arrival continues the release sequence, so the final value carries all.
            wait_until(home_->waiting_, [this] {
                return home_->arrivals_.value.load(std::memory_order_acquire) >= goal_;
            });
        }

    private:
        friend class CentralTicketBarrier;
        explicit Member(CentralTicketBarrier& home) : home_(&home) {}
        CentralTicketBarrier* home_;
        std::uint64_t goal_ = 0;
    };
    Member join(int /*rank*/) { return Member(*this); }

private:
    Padded<std::atomic<std::uint64_t>> arrivals_;
    std::uint64_t size_;
    Waiting waiting_;
};

} // namespace corymb::bench
