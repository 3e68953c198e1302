// SPDX-License-Identifier: Apache-2.0
// Purpose: messages of any length up to a limit from one thread to another, written and read in
// place. Unlike the slot ring's, the number and the size of its slots are chosen at run time, a
// message says its length, and room is told in one direction only.
//
// Roles: one sender, one receiver. Each keeps its end (MessageSender, MessageReceiver) in private
// memory.
//
// Layout:
//   line          bytes     field          written by  read by
//   0             8         consumed       receiver    sender
//   2 + k*stride  8         slot[k].word   sender      receiver   number | length << 32
//                 stride-8  slot[k] after  sender      receiver   payload
//   A stride is whole lines (message_slots.hpp); a short message touches the first one only.
//
// Protocol:
//   sender    1. if all slots may be in use, look at `consumed` (P2); 2. fill the slot in place;
//             3. store its word: the message's number, from 1, and its length (P1).
//   receiver  1. look at the word of the next slot; the message is there when the word has its
//             number (P1); 2. use the payload in place; 3. count it as consumed and, every
//             quarter of the ring and when told to settle, store `consumed` (P2).
//   successor the holder of an end may have ended; who takes its place goes on with the ring. A
//             sender counts the words behind `consumed`. A receiver passes over what is there, and
//             stores `consumed`.
//   A batch is several messages of which only the last is followed by whatever notifies the
//   receiver; each is visible as soon as its word is.
//
// Order:
//   P1: release store of slot[k].word in commit -> acquire load in receive: publishes the payload.
//   P2: release store of `consumed` in settle -> acquire load in reserve and successor: the
//       receiver's reads of the slot come before the sender's next writes to it.
//   All that the holder of an end has done comes before its successor takes its place. So words
//   need no order there: a sender's are its own, and a receiver does not read what it passes over.
//
// Progress: wait-free but for the waiters that are passed in. After `settle` the sender finds all
// slots that are consumed. Numbers are 32 bits on the wire; a slot's last word has the number
// `slots` before, so that they cannot be mistaken.
//
// Checked by: verify/worlds/message_ring_world.cpp (slot reuse, batches, wrap, lengths).
#pragma once

#include "base/assert.hpp"
#include "base/cache_line.hpp"
#include "base/copy_bytes.hpp"
#include "channel/message_slots.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace corymb::channel {

template <class Env>
class MessageRing {
public:
    /// Bytes of a ring with its slots.
    static constexpr std::size_t bytes(const SlotShape& shape) noexcept {
        return sizeof(MessageRing) + shape.bytes();
    }
    /// Constructed in `bytes(shape)` bytes.
    explicit MessageRing(const SlotShape& shape) noexcept { slots(shape).construct(); }
    MessageRing(const MessageRing&) = delete;
    MessageRing& operator=(const MessageRing&) = delete;

    [[nodiscard]] MessageSlots<Env> slots(const SlotShape& shape) noexcept {
        return {reinterpret_cast<std::byte*>(this) + sizeof(MessageRing), shape};
    }
    /// Messages that have gone into the ring, at least, of which `first` were consumed.
    [[nodiscard]] std::uint64_t sent_after(const SlotShape& shape, std::uint64_t first) {
        const auto all = slots(shape);
        std::uint64_t sent = first;
        while (sent - first < all.count() &&
               static_cast<std::uint32_t>(all.word(sent).load(std::memory_order_relaxed)) ==
                   static_cast<std::uint32_t>(sent + 1)) {
            ++sent;
        }
        CORYMB_DEBUG_ASSERT(sent == first ||
                            static_cast<std::uint32_t>(Env::peek(all.word(sent - 1))) ==
                                static_cast<std::uint32_t>(sent));
        return sent;
    }

    /// The word of message `number`, counted from 1.
    [[nodiscard]] static constexpr std::uint64_t word_of(std::uint64_t number,
                                                         std::size_t length) noexcept {
        return (number & 0xffffffffU) | std::uint64_t{length} << 32U;
    }

    alignas(line_pair_bytes) typename Env::template Atomic<std::uint64_t> consumed;
};

/// The sender's private end.
template <class Env>
class MessageSender {
public:
    MessageSender() noexcept = default;
    /// `start` messages have gone through the ring already; checks begin near the wrap with it.
    MessageSender(MessageRing<Env>& ring, const SlotShape& shape, std::uint64_t start = 0) noexcept
        : ring_(&ring), slots_(ring.slots(shape)), sent_(start), credited_(start) {}
    /// Goes on where an earlier sender, which has ended, has stopped.
    [[nodiscard]] static MessageSender successor(MessageRing<Env>& ring, const SlotShape& shape) {
        MessageSender made(ring, shape,
                           ring.consumed.load(std::memory_order_acquire)); // P2 acquire
        made.sent_ = ring.sent_after(shape, made.credited_);
        return made;
    }

    [[nodiscard]] bool is_open() const noexcept { return ring_ != nullptr; }

    /// Whether there is room for a message. False: the ring is full, and `waiter` gave up waiting
    /// for room.
    template <class Waiter>
    [[nodiscard]] bool has_room(Waiter& waiter) {
        return sent_ - credited_ < slots_.count() || wait_for_room(waiter);
    }
    /// The place for the next message of up to `bytes` bytes, which stays until `commit`. Null: the
    /// ring is full, and `waiter` gave up waiting for room.
    template <class Waiter>
    [[nodiscard]] std::byte* reserve(Waiter& waiter, std::size_t bytes) {
        if (!has_room(waiter)) {
            return nullptr;
        }
        CORYMB_ASSERT(sent_ - credited_ < slots_.count());
        CORYMB_ASSERT(bytes <= slots_.payload_bytes());
        std::byte* const place = slots_.payload(sent_);
        Env::note_write(place, bytes);
        return place;
    }
    /// The message that was written where `reserve` said is `length` bytes long.
    void commit(std::size_t length) {
        CORYMB_ASSERT(sent_ - credited_ < slots_.count());
        CORYMB_ASSERT(length <= slots_.payload_bytes());
        CORYMB_DEBUG_ASSERT(announces(sent_ < slots_.count() ? 0 : sent_ + 1 - slots_.count()));
        slots_.word(sent_).store(MessageRing<Env>::word_of(sent_ + 1, length),
                                 std::memory_order_release); // P1 release
        CORYMB_DEBUG_ASSERT(announces(sent_ + 1));
        ++sent_;
    }
    /// `reserve` and `commit`, with a copy in between.
    template <class Waiter>
    [[nodiscard]] bool send(Waiter& waiter, const void* from, std::size_t bytes) {
        std::byte* const place = reserve(waiter, bytes);
        if (place == nullptr) {
            return false;
        }
        copy_bytes(place, from, bytes);
        CORYMB_DEBUG_ASSERT(bytes == 0 || std::memcmp(place, from, bytes) == 0);
        commit(bytes);
        return true;
    }

private:
    /// For assertions of the sender, which alone stores the word of its next slot.
    [[nodiscard]] bool announces(std::uint64_t number) const {
        return static_cast<std::uint32_t>(Env::peek(slots_.word(sent_))) ==
               static_cast<std::uint32_t>(number);
    }
    template <class Waiter>
    [[nodiscard]] bool wait_for_room(Waiter& waiter) {
        const std::uint64_t enough = sent_ + 1 - slots_.count();
        std::uint64_t seen = 0;
        if (!waiter.await(
                ring_->consumed, std::memory_order_acquire, // P2 acquire
                [enough](std::uint64_t value) { return value >= enough; }, seen)) {
            return false;
        }
        credited_ = seen;
        return true;
    }

    MessageRing<Env>* ring_ = nullptr;
    MessageSlots<Env> slots_;
    std::uint64_t sent_ = 0; ///< Invariant: the number in the word of the slot filled last.
    /// Invariant: at most the messages that the receiver has consumed, and at most a ring behind
    /// sent_.
    std::uint64_t credited_ = 0;
};

/// The receiver's private end.
template <class Env>
class MessageReceiver {
public:
    MessageReceiver() noexcept = default;
    MessageReceiver(MessageRing<Env>& ring, const SlotShape& shape,
                    std::uint64_t start = 0) noexcept
        : ring_(&ring), slots_(ring.slots(shape)),
          credit_every_(std::max<std::uint64_t>(slots_.count() / 4, 1)), consumed_(start),
          told_(start) {}
    /// In the place of an earlier receiver, which has ended: passes over the messages that are
    /// there.
    [[nodiscard]] static MessageReceiver successor(MessageRing<Env>& ring, const SlotShape& shape) {
        MessageReceiver made(ring, shape, ring.consumed.load(std::memory_order_relaxed));
        made.consumed_ = ring.sent_after(shape, made.told_);
        made.settle();
        return made;
    }

    [[nodiscard]] bool is_open() const noexcept { return ring_ != nullptr; }
    [[nodiscard]] std::uint64_t slots() const noexcept { return slots_.count(); }

    /// The next message, which stays the next and where it is until `release`; false: there is none
    /// and `waiter` gave up.
    template <class Waiter>
    [[nodiscard]] bool receive(Waiter& waiter, SlotMessage& message) const {
        CORYMB_ASSERT(consumed_ - told_ < credit_every_);
        CORYMB_DEBUG_ASSERT(Env::peek(ring_->consumed) == told_);
        std::uint64_t seen = 0;
        if (!waiter.await(
                slots_.word(consumed_), std::memory_order_acquire, // P1 acquire
                [this](std::uint64_t word) { return is_next(word); }, seen)) {
            return false;
        }
        message.bytes = slots_.payload(consumed_);
        message.length = seen >> 32U;
        CORYMB_ASSERT(seen == MessageRing<Env>::word_of(consumed_ + 1, message.length));
        CORYMB_ASSERT(message.length <= slots_.payload_bytes());
        Env::note_read(message.bytes, message.length);
        return true;
    }
    /// The last message is no longer needed.
    void release() noexcept {
        ++consumed_;
        if (consumed_ - told_ >= credit_every_) {
            settle();
        }
    }
    /// Tells the sender of all that is consumed.
    void settle() noexcept {
        if (told_ != consumed_) {
            ring_->consumed.store(consumed_, std::memory_order_release); // P2 release
            told_ = consumed_;
        }
    }

private:
    [[nodiscard]] bool is_next(std::uint64_t word) const noexcept {
        return static_cast<std::uint32_t>(word) == static_cast<std::uint32_t>(consumed_ + 1);
    }

    MessageRing<Env>* ring_ = nullptr;
    MessageSlots<Env> slots_;
    std::uint64_t credit_every_ = 1;
    std::uint64_t consumed_ = 0;
    /// Invariant: the count in `consumed`, less than credit_every_ behind consumed_.
    std::uint64_t told_ = 0;
};

} // namespace corymb::channel
