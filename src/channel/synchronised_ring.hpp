// SPDX-License-Identifier: Apache-2.0
// Purpose: messages from many threads to one through a single ring, so that the receiver looks at
// one word however many senders there are. After the synchronised receive-buffer protocol (SRBP)
// of "In-Memory Communication Mechanisms for Many-Cores" (Rotta, Prescher, Traue, Nolte, 2012);
// the quota, which makes a failed send possible after a ticket is none, is our own.
//
// Roles: a fixed number of senders; one receiver. Each keeps its end (SynchronisedSender,
// SynchronisedReceiver) in private memory.
//
// Layout:
//   line          bytes     field          written by  read by
//   0             8         tickets        senders     senders; the receiver, as advice
//   2 + s         8         consumed[s]    receiver    sender s
//   after those   8         slot[k].word   senders     receiver   number | source << 20 |
//                                                                 length << 40
//                 stride-8  slot[k] after  senders     receiver   payload
//   There are at least senders * quota slots.
//
// Protocol:
//   sender    1. if a quota of its messages may be unconsumed, look at consumed[s] (P2); 2. take a
//             ticket (A1): the number of the message among those of all senders, and so the slot;
//             3. fill the slot in place; 4. store its word (P1). A message that was given up after
//             the ticket is stored as void, and the receiver passes over it.
//   receiver  1. look at the word of the next slot (P1); 2. use the payload in place; 3. count it
//             as consumed and, every quarter of the quota and when told to settle, store
//             consumed[source] (P2).
//   The slot of ticket t is free: t + 1 messages are at most `slots` more than all senders saw
//   consumed, so one of them saw a message consumed that is not before t - slots, and the receiver
//   consumes in the order of tickets.
//
// Order:
//   P1: release store of slot[k].word in store_word -> acquire load in receive: publishes the
//       payload.
//   P2: release store of consumed[s] in tell -> acquire load in reserve: the receiver's reads of
//       all earlier slots come before what this sender does next.
//   A1: read-modify-writes of `tickets`: what an earlier ticket's sender saw consumed, the sender
//       of a later one may rely on, too.
//
// Progress: wait-free but for the waiters that are passed in. A sender between ticket and word
// holds up the messages of all others. Numbers have 20 bits, more than there are slots; a slot's
// last word has the number `slots` before.
//
// Checked by: verify/worlds/synchronised_ring_world.cpp (two senders, slot reuse through the other
// one's look, asleep).
#pragma once

#include "base/cache_line.hpp"
#include "base/copy_bytes.hpp"
#include "channel/message_slots.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace corymb::channel {

/// Senders and quota of a ring, and from these its slots.
struct SynchronisedShape {
    static constexpr std::uint64_t slots_most = std::uint64_t{1} << 19U;

    std::size_t senders = 1;
    std::uint64_t quota = 1; ///< Messages of one sender that may be unconsumed.
    SlotShape slots;

    /// senders * quota may be at most `slots_most`.
    static constexpr SynchronisedShape of(std::size_t senders, std::uint64_t quota,
                                          std::size_t bytes) noexcept {
        return {senders, quota, SlotShape::of(senders * quota, bytes)};
    }
};

template <class Env>
class SynchronisedRing {
public:
    using Word = typename Env::template Atomic<std::uint64_t>;
    struct alignas(cache_line_bytes) Line {
        Word consumed;
    };

    /// Bytes of a ring with its lines and slots.
    static constexpr std::size_t bytes(const SynchronisedShape& shape) noexcept {
        return sizeof(SynchronisedRing) + shape.senders * sizeof(Line) + shape.slots.bytes();
    }
    /// Constructed in `bytes(shape)` bytes.
    explicit SynchronisedRing(const SynchronisedShape& shape) noexcept {
        for (std::size_t sender = 0; sender < shape.senders; ++sender) {
            new (lines() + sender * sizeof(Line)) Line;
        }
        slots(shape).construct();
    }
    SynchronisedRing(const SynchronisedRing&) = delete;
    SynchronisedRing& operator=(const SynchronisedRing&) = delete;

    [[nodiscard]] Word& consumed(std::size_t sender) noexcept {
        return std::launder(reinterpret_cast<Line*>(lines() + sender * sizeof(Line)))->consumed;
    }
    [[nodiscard]] MessageSlots<Env> slots(const SynchronisedShape& shape) noexcept {
        return {lines() + shape.senders * sizeof(Line), shape.slots};
    }

    alignas(line_pair_bytes) Word tickets;

    // Parts of a slot's word.
    static constexpr unsigned source_at = 20, length_at = 40;
    static constexpr std::uint64_t number_mask = (std::uint64_t{1} << source_at) - 1;
    static constexpr std::uint64_t length_of_void = message_bytes_most + 1;

private:
    [[nodiscard]] std::byte* lines() noexcept {
        return reinterpret_cast<std::byte*>(this) + sizeof(SynchronisedRing);
    }
};

/// A sender's private end.
template <class Env>
class SynchronisedSender {
    using Ring = SynchronisedRing<Env>;

public:
    SynchronisedSender() noexcept = default;
    SynchronisedSender(Ring& ring, const SynchronisedShape& shape, std::size_t source) noexcept
        : ring_(&ring), slots_(ring.slots(shape)), quota_(shape.quota), source_(source) {}

    [[nodiscard]] bool is_open() const noexcept { return ring_ != nullptr; }

    /// Whether there is room for a message. False: the quota is used up, and `waiter` gave up
    /// waiting for room.
    template <class Waiter>
    [[nodiscard]] bool has_room(Waiter& waiter) {
        return sent_ - credited_ < quota_ || wait_for_room(waiter);
    }
    /// The place for the next message of up to `bytes` bytes. Null: there is no room, and `waiter`
    /// gave up waiting for it. `commit` or `give_up` must follow.
    template <class Waiter>
    [[nodiscard]] std::byte* reserve(Waiter& waiter, std::size_t bytes) {
        if (!has_room(waiter)) {
            return nullptr;
        }
        ticket_ = ring_->tickets.fetch_add(1, std::memory_order_acq_rel); // A1 acquire, A1 release
        std::byte* const place = slots_.payload(ticket_);
        Env::note_write(place, bytes);
        return place;
    }
    /// The message that was written where `reserve` said is `length` bytes long.
    void commit(std::size_t length) noexcept { store_word(length); }
    /// Ends a `reserve` without a message.
    void give_up() noexcept { store_word(Ring::length_of_void); }

    /// `reserve` and `commit`, with a copy in between.
    template <class Waiter>
    [[nodiscard]] bool send(Waiter& waiter, const void* from, std::size_t bytes) {
        std::byte* const place = reserve(waiter, bytes);
        if (place == nullptr) {
            return false;
        }
        copy_bytes(place, from, bytes);
        commit(bytes);
        return true;
    }

private:
    void store_word(std::uint64_t length) noexcept {
        const std::uint64_t word = ((ticket_ + 1) & Ring::number_mask) |
                                   std::uint64_t{source_} << Ring::source_at |
                                   length << Ring::length_at;
        slots_.word(ticket_).store(word, std::memory_order_release); // P1 release
        ++sent_;
    }

    template <class Waiter>
    [[nodiscard]] bool wait_for_room(Waiter& waiter) {
        const std::uint64_t enough = sent_ + 1 - quota_;
        std::uint64_t seen = 0;
        if (!waiter.await(
                ring_->consumed(source_), std::memory_order_acquire, // P2 acquire
                [enough](std::uint64_t value) { return value >= enough; }, seen)) {
            return false;
        }
        credited_ = seen;
        return true;
    }

    Ring* ring_ = nullptr;
    MessageSlots<Env> slots_;
    std::uint64_t quota_ = 0;
    std::size_t source_ = 0;
    std::uint64_t ticket_ = 0; // The ticket of the message that is being written.
    std::uint64_t sent_ = 0;
    std::uint64_t credited_ = 0; // Invariant: credited_ <= own messages that are consumed.
};

/// The receiver's private end. Allocates when it is made.
template <class Env>
class SynchronisedReceiver {
    using Ring = SynchronisedRing<Env>;

public:
    SynchronisedReceiver() noexcept = default;
    SynchronisedReceiver(Ring& ring, const SynchronisedShape& shape)
        : ring_(&ring), slots_(ring.slots(shape)),
          credit_every_(std::max<std::uint64_t>(shape.quota / 4, 1)), counts_(shape.senders) {
        owed_.reserve(shape.senders);
    }

    [[nodiscard]] bool is_open() const noexcept { return ring_ != nullptr; }
    [[nodiscard]] std::uint64_t slots() const noexcept { return slots_.count(); }

    /// The next message of any sender, which stays the next and where it is until `release`; false:
    /// there is none and `waiter` gave up.
    template <class Waiter>
    [[nodiscard]] bool receive(Waiter& waiter, SlotMessage& message) {
        for (;;) {
            std::uint64_t seen = 0;
            if (!waiter.await(
                    slots_.word(consumed_), std::memory_order_acquire, // P1 acquire
                    [this](std::uint64_t word) { return is_next(word); }, seen)) {
                return false;
            }
            message.source = static_cast<std::uint32_t>(seen >> Ring::source_at & 0xfffffU);
            message.length = seen >> Ring::length_at;
            source_ = message.source;
            if (message.length != Ring::length_of_void) {
                message.bytes = slots_.payload(consumed_);
                Env::note_read(message.bytes, message.length);
                return true;
            }
            release();
        }
    }
    /// Whether there is no message and the senders know the consumed counts: `receive` and `settle`
    /// would do nothing.
    [[nodiscard]] bool is_idle() const noexcept {
        return owed_.empty() && !is_next(slots_.word(consumed_).load(std::memory_order_relaxed));
    }
    /// Whether a ticket is out whose message was not taken, be it there or not.
    [[nodiscard]] bool has_more() const noexcept {
        return ring_->tickets.load(std::memory_order_relaxed) != consumed_;
    }
    /// Whether a ticket is out whose message has not come: its sender is about to write it, or is
    /// dead.
    [[nodiscard]] bool is_held_up() const noexcept {
        return has_more() && !is_next(slots_.word(consumed_).load(std::memory_order_relaxed));
    }
    /// The last message is no longer needed.
    void release() noexcept {
        ++consumed_;
        Count& count = counts_[source_];
        ++count.consumed;
        if (count.consumed - count.told >= credit_every_) {
            tell(source_);
        } else if (!count.is_owed) {
            count.is_owed = true;
            owed_.push_back(source_);
        }
    }
    /// Tells all senders their consumed counts.
    void settle() noexcept {
        for (const std::uint32_t source : owed_) {
            counts_[source].is_owed = false;
            tell(source);
        }
        owed_.clear();
    }

private:
    struct Count {
        std::uint64_t consumed = 0;
        std::uint64_t told = 0; // The count in consumed[source].
        bool is_owed = false;   // The source is in `owed_`.
    };
    [[nodiscard]] bool is_next(std::uint64_t word) const noexcept {
        return (word & Ring::number_mask) == ((consumed_ + 1) & Ring::number_mask);
    }
    void tell(std::uint32_t source) noexcept {
        Count& count = counts_[source];
        if (count.told != count.consumed) {
            count.told = count.consumed;
            ring_->consumed(source).store(count.told, std::memory_order_release); // P2 release
        }
    }

    Ring* ring_ = nullptr;
    MessageSlots<Env> slots_;
    std::uint64_t credit_every_ = 1;
    std::uint64_t consumed_ = 0;
    std::uint32_t source_ = 0; // The source of the last message.
    std::vector<Count> counts_;
    std::vector<std::uint32_t> owed_; // Senders whose count in `consumed` may be too low.
};

} // namespace corymb::channel
