// SPDX-License-Identifier: Apache-2.0
#include "communicator/call_board.hpp"

#include "below/clock.hpp"
#include "communicator/account.hpp"

#include <exception>
#include <sys/mman.h>

namespace corymb::mpi {

namespace {

/// Between two looks of a rank that waits: it reads a line of each other rank.
constexpr std::int64_t looks_apart_ns = 20'000'000;

/// The lower bits of a slot's `operation`; above them lies the number of the last call that the MPI
/// has performed.
constexpr int operation_bits = 8;

Operation operation_in(const std::atomic<std::uint64_t>& word) noexcept {
    return static_cast<Operation>(word.load(std::memory_order_relaxed) &
                                  ((1U << operation_bits) - 1));
}

std::uint64_t last_left(const std::atomic<std::uint64_t>& word) noexcept {
    return word.load(std::memory_order_relaxed) >> operation_bits;
}

} // namespace

CallBoard::~CallBoard() {
    if (slots_ != nullptr) {
        ::munmap(slots_, bytes(size_));
    }
}

void CallBoard::open(int descriptor) noexcept {
    if (descriptor >= 0) {
        void* const mapped =
            ::mmap(nullptr, bytes(size_), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        slots_ = mapped != MAP_FAILED ? static_cast<Slot*>(mapped) : nullptr;
    }
}

void CallBoard::leave(std::uint64_t bytes) noexcept {
    if (slots_ != nullptr) {
        Slot& own = slots_[rank_];
        own.operation.store(number_ << operation_bits | static_cast<std::uint64_t>(operation_),
                            std::memory_order_relaxed);
        own.bytes.store(bytes, std::memory_order_relaxed);
        own.number.store(number_, std::memory_order_relaxed);
    }
}

void CallBoard::come_back() noexcept {
    if (slots_ != nullptr) {
        slots_[rank_].number.store(0, std::memory_order_relaxed);
    }
}

std::string CallBoard::describe(int rank, const Slot& slot) const {
    const Operation theirs = operation_in(slot.operation);
    return "ranks of a communicator call different collectives: rank " + std::to_string(rank_) +
           " is in " + name_of(operation_, Form::blocking) + ", which corymb performs, and rank " +
           std::to_string(rank) + " in " + name_of(theirs, Form::blocking) + " of " +
           std::to_string(slot.bytes.load(std::memory_order_relaxed)) +
           " bytes, which the MPI performs";
}

bool CallBoard::is_contradicted() noexcept {
    // Behind a call that the MPI has performed others may be in it still, while this rank waits
    // for a request.
    if (slots_ == nullptr || number_ == last_left(slots_[rank_].operation)) {
        return false;
    }
    const std::int64_t now = now_ns();
    if (now < next_look_ns_) {
        return false;
    }
    next_look_ns_ = now + looks_apart_ns;
    for (int rank = 0; rank < size_; ++rank) {
        if (rank == rank_ || slots_[rank].number.load(std::memory_order_relaxed) != number_) {
            continue;
        }
        try {
            contradiction_ = describe(rank, slots_[rank]);
            return true;
        } catch (const std::exception&) { // No memory: it looks again.
            return false;
        }
    }
    return false;
}

} // namespace corymb::mpi
