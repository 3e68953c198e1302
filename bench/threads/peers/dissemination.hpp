// SPDX-License-Identifier: Apache-2.0
// The dissemination barrier (Hensgen, Finkel, Manber 1988) in the form of Mellor-Crummey and Scott,
// TOCS 1991, algorithm 9: in round k rank r signals rank r + 2^k; parity and sense make it
// reusable.
#pragma once

#include "padded.hpp"
#include "waiting.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <vector>

namespace corymb::bench {

class DisseminationBarrier {
public:
    DisseminationBarrier(int size, Waiting waiting)
        : size_(static_cast<std::size_t>(size)),
          rounds_(static_cast<int>(std::bit_width(size_ - 1))),
          flags_(size_ * static_cast<std::size_t>(rounds_)), waiting_(waiting) {}

    class Member {
    public:
        void arrive_and_wait() noexcept {
            std::size_t distance = 1;
            for (int round = 0; round < home_->rounds_; ++round, distance *= 2) {
                const std::size_t partner = (rank_ + distance) % home_->size_;
                home_->flag(partner, round, parity_).store(sense_, std::memory_order_release);
                const auto& mine = home_->flag(rank_, round, parity_);
                wait_until(home_->waiting_,
                           [&] { return mine.load(std::memory_order_acquire) == sense_; });
            }
            if (parity_ == 1) {
                sense_ = !sense_;
            }
            parity_ = 1 - parity_;
        }

    private:
        friend class DisseminationBarrier;
        Member(DisseminationBarrier& home, std::size_t rank) : home_(&home), rank_(rank) {}
        DisseminationBarrier* home_;
        std::size_t rank_;
        std::size_t parity_ = 0;
        bool sense_ = true;
    };
    Member join(int rank) { return Member(*this, static_cast<std::size_t>(rank)); }

private:
    using Flag = Padded<std::atomic<bool>>;
    std::atomic<bool>& flag(std::size_t rank, int round, std::size_t parity) noexcept {
        const auto index =
            rank * static_cast<std::size_t>(rounds_) + static_cast<std::size_t>(round);
        return flags_[index][parity].value;
    }

    std::size_t size_;
    int rounds_;
    std::vector<std::array<Flag, 2>> flags_;
    Waiting waiting_;
};

} // namespace corymb::bench
