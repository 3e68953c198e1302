// SPDX-License-Identifier: Apache-2.0
// Purpose: FastForward (Giacomoni, Moseley, Vachharajani, PPoPP 2008), a queue for two threads, as
// a contestant. Ends share no index: a slot says by itself whether it is full. Without the paper's
// slipping, by which a receiver waits until the sender is some lines ahead.
//
// Roles: one sender, one receiver. Each has its index in a line of its own.
//
// Layout:
//   line  bytes  field         written by        read by
//   0     8      head          sender            sender
//   2     8      tail          receiver          receiver
//   4...  8      slot[k].mark  sender, receiver  the same   the first word of a message; 0: empty
//         rest   slot[k].rest  sender            receiver   the other words
//
// Protocol:
//   sender    1. wait until the mark of its slot is 0 (F2); 2. write the rest; 3. store the mark
//             (F1).
//   receiver  1. wait until the mark of its slot is not 0 (F1); 2. read the rest; 3. store 0 (F2).
//
// Order:
//   F1: release store of mark in push -> acquire load in pop: publishes the rest.
//   F2: release store of 0 in pop -> acquire load in push: the receiver has read the rest.
//
// Progress: wait-free but for the waiters that are passed in.
//
// Checked by: verify/worlds/fast_forward_world.cpp (slot reuse, one word and several).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace corymb::bench {

template <class Env, std::size_t Words, std::size_t Slots>
class FastForward {
    static_assert(Words >= 1 && Slots >= 1);

public:
    using Message = std::array<std::uint64_t, Words>;

    /// Sender; the first word is not 0. False: `waiter` gave up waiting for the slot.
    template <class Waiter>
    [[nodiscard]] bool push(Waiter& waiter, const Message& message) {
        Slot& slot = slots_[head_];
        std::uint64_t mark = 0;
        if (!waiter.await(
                slot.mark, std::memory_order_acquire, // F2 acquire
                [](std::uint64_t seen) { return seen == 0; }, mark)) {
            return false;
        }
        if constexpr (Words > 1) {
            slot.rest.put(message.data() + 1, rest_bytes);
        }
        slot.mark.store(message[0], std::memory_order_release); // F1 release
        head_ = (head_ + 1) % Slots;
        return true;
    }
    /// Receiver. False: `waiter` gave up waiting for a message.
    template <class Waiter>
    [[nodiscard]] bool pop(Waiter& waiter, Message& message) {
        Slot& slot = slots_[tail_];
        if (!waiter.await(
                slot.mark, std::memory_order_acquire, // F1 acquire
                [](std::uint64_t seen) { return seen != 0; }, message[0])) {
            return false;
        }
        if constexpr (Words > 1) {
            std::memcpy(message.data() + 1, slot.rest.view(rest_bytes), rest_bytes);
        }
        slot.mark.store(0, std::memory_order_release); // F2 release
        tail_ = (tail_ + 1) % Slots;
        return true;
    }

private:
    static constexpr std::size_t rest_bytes = (Words - 1) * sizeof(std::uint64_t);
    struct OneWord {
        typename Env::template Atomic<std::uint64_t> mark;
    };
    struct SeveralWords {
        typename Env::template Atomic<std::uint64_t> mark;
        typename Env::template Bytes<rest_bytes> rest;
    };
    using Slot = std::conditional_t<(Words > 1), SeveralWords, OneWord>;

    alignas(128) std::size_t head_ = 0;
    alignas(128) std::size_t tail_ = 0;
    alignas(128) std::array<Slot, Slots> slots_;
};

} // namespace corymb::bench
