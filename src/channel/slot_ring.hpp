// SPDX-License-Identifier: Apache-2.0
// Purpose: messages with payload from one thread to another through a ring of slots. With 56 bytes
// of payload a slot is one cache line ("line"); with more it is a cell of a copying channel
// ("cells").
//
// Roles: one sender, one receiver. Each keeps its end (SlotSender, SlotReceiver) in private memory.
//
// Layout (Payload = 56):
//   line         bytes  field             written by  read by
//   0..slots-1   56     slot[i].payload   sender      receiver
//   0..slots-1   8      slot[i].word      sender      receiver   sequence | signature << 16 |
//                                                                credit << 32
//   slots        8      consumed          receiver    sender
//   A LongSlotRing has `consumed` first, then the number of slots, which never changes, then the
//   words, each in a pair of lines of its own, and then the payloads. A payload of up to 56 bytes
//   lies in the line of its word: both ends know how long it is.
//
// Protocol:
//   sender    1. wait until fewer than `slots` messages are unconsumed, as far as it knows; if not,
//             look at `consumed` (P2); 2. fill the slot; 3. store its word: the message's number,
//             the signature of what it belongs to (signature.hpp), and how many messages of the
//             opposite ring this thread has consumed (P1).
//   receiver  1. wait for the word with the number of the next message (P1); 2. hand the credit in
//             it to its own sender of the opposite ring (P3); 3. use the payload in place; 4. count
//             the message as consumed and, every `credit_every` messages, store `consumed` (P2).
//   Credits ride on the opposite traffic when there is any; the `consumed` line is only for streams
//   in one direction. A sender that looks at it finds room for at least slots - credit_every + 1.
//   Where no ring is opposite, the sender may say something else in the place of the credit.
//
// Order:
//   P1: release store of slot[i].word in send -> acquire load in the receiver's wait: publishes the
//       payload. A Writer that has written past the caches has fenced its stores itself.
//   P2: release store of `consumed` in release -> acquire load in the sender's wait for room: the
//       receiver's reads of the slot come before the sender's next writes to it.
//   P3: as P2, through the credit in P1's word of the opposite ring.
//
// Progress: send waits only when the ring is full; receive waits for the sender. Credits are 32
// bits on the wire and compared by difference; private counts have 64. The lower 16 bits of a
// message's number are enough: a slot's last word has the number `slots` before.
//
// Checked by: verify/worlds/slot_ring_world.cpp (slot reuse, both kinds of credit, wrap).
#pragma once

#include "base/assert.hpp"
#include "base/cache_line.hpp"
#include "channel/signature.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace corymb::channel {

template <class Env, std::size_t Payload, std::size_t Slots, std::size_t CreditEvery>
struct SlotRing {
    static_assert(Slots > 0 && CreditEvery > 0 && CreditEvery <= Slots);
    static_assert(Slots < 1U << 16U);

    static constexpr std::size_t payload_bytes = Payload;
    static constexpr std::size_t credit_every = CreditEvery;

    struct alignas(cache_line_bytes) Slot {
        typename Env::template Bytes<Payload> payload;
        typename Env::template Atomic<std::uint64_t> word;
    };

    [[nodiscard]] static constexpr std::uint64_t slots() noexcept { return Slots; }
    [[nodiscard]] Slot& at(std::uint64_t message) noexcept { return slot[message % Slots]; }

    alignas(line_pair_bytes) Slot slot[Slots];
    alignas(line_pair_bytes) typename Env::template Atomic<std::uint64_t> consumed;
};

/// A slot ring for long payloads, with a number of slots that is known when the ring is made.
/// Making the ring touches only the words, which lie together.
template <class Env, std::size_t Payload, std::size_t CreditEvery>
class LongSlotRing {
public:
    static constexpr std::size_t payload_bytes = Payload;
    static constexpr std::size_t credit_every = CreditEvery;
    static constexpr std::size_t brief_bytes = cache_line_bytes - sizeof(std::uint64_t);
    /// Whether a payload of `count` bytes lies beside the word.
    [[nodiscard]] static constexpr bool is_brief(std::size_t count) noexcept {
        return count <= brief_bytes;
    }

    using Bytes = typename Env::template Bytes<Payload>;
    using Brief = typename Env::template Bytes<brief_bytes>;
    using Word = typename Env::template Atomic<std::uint64_t>;
    static_assert(Payload % line_pair_bytes == 0 && sizeof(Bytes) == Payload);

    struct Slot {
        Bytes& payload;
        Brief& brief; ///< Instead of it, if that is enough.
        Word& word;
    };

    /// Memory for a ring of so many slots, a power of two below 2^16.
    [[nodiscard]] static constexpr std::size_t bytes(std::size_t slots) noexcept {
        return sizeof(LongSlotRing) + slots * (sizeof(WordLine) + Payload);
    }
    /// Constructed in `bytes(slots)` bytes.
    explicit LongSlotRing(std::size_t slots) noexcept : slots_(slots) {
        for (std::size_t i = 0; i < slots; ++i) {
            new (words() + i) WordLine;
            new (payloads() + i) Bytes;
        }
    }
    [[nodiscard]] std::uint64_t slots() const noexcept { return slots_; }
    [[nodiscard]] Slot at(std::uint64_t message) noexcept {
        const std::uint64_t place = message & (slots_ - 1);
        WordLine& line = *std::launder(words() + place);
        return {*std::launder(payloads() + place), line.brief, line.word};
    }

    alignas(line_pair_bytes) Word consumed;

private:
    struct alignas(line_pair_bytes) WordLine {
        Brief brief;
        Word word;
    };

    [[nodiscard]] WordLine* words() noexcept { return reinterpret_cast<WordLine*>(this + 1); }
    [[nodiscard]] Bytes* payloads() noexcept { return reinterpret_cast<Bytes*>(words() + slots_); }

    alignas(line_pair_bytes) std::uint64_t slots_;
};

/// The sender's private end.
template <class Env, class Ring>
class SlotSender {
public:
    SlotSender() noexcept = default;
    /// `start` messages have gone through the ring already; checks begin near the wrap with it.
    explicit SlotSender(Ring& ring, std::uint64_t start = 0) noexcept
        : ring_(&ring), slots_(ring.slots()), sent_(start), credited_(start) {}

    /// Whether the next message will not wait, as far as the sender knows.
    [[nodiscard]] bool has_room() const noexcept { return sent_ - credited_ < slots_; }

    /// Sends `count` <= payload_bytes bytes; `credit` is the opposite receiver's `consumed()`.
    /// False: `waiter` gave up waiting for room and nothing was sent.
    template <class Waiter>
    [[nodiscard]] bool send(Waiter& waiter, const void* from, std::size_t count,
                            std::uint64_t credit, Signature signature = 0) {
        if (!has_room() && !wait_for_room(waiter)) {
            return false;
        }
        CORYMB_ASSERT(sent_ - credited_ < slots_);
        CORYMB_ASSERT(count <= Ring::payload_bytes);
        auto&& slot = ring_->at(sent_);
        CORYMB_DEBUG_ASSERT(announces(slot, sent_ < slots_ ? 0 : sent_ + 1 - slots_));
        fill(slot, from, count);
        CORYMB_DEBUG_ASSERT(holds(slot, from, count));
        ++sent_;
        slot.word.store(numbered(sent_ & number_mask, signature) | (credit << 32U),
                        std::memory_order_release); // P1 release, P3 release
        CORYMB_DEBUG_ASSERT(announces(ring_->at(sent_ - 1), sent_));
        // Messages in a row would each wait until the receiver's cache has let go of the line. Not
        // the next one's, which it may be looking at.
        if (slots_ > 2) {
            Env::prefetch_for_write(&ring_->at(sent_ + 1).word);
        }
        return true;
    }

    /// Slots of the ring.
    [[nodiscard]] std::uint64_t slots() const noexcept { return slots_; }

    [[nodiscard]] const Ring* ring() const noexcept { return ring_; }
    /// Messages that have gone into the ring.
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }

    /// Takes the credit out of a word that the opposite receiver saw.
    void accept_credit(std::uint64_t word) {
        const auto ahead = static_cast<std::int32_t>(static_cast<std::uint32_t>(word >> 32) -
                                                     static_cast<std::uint32_t>(credited_));
        if (ahead > 0) {
            credited_ += static_cast<std::uint32_t>(ahead);
            CORYMB_ASSERT(sent_ - credited_ <= slots_);
        }
    }

private:
    static constexpr std::uint64_t number_mask = 0xffff;
    /// `number` has 16 bits.
    static constexpr std::uint64_t numbered(std::uint64_t number, Signature signature) noexcept {
        return number | static_cast<std::uint64_t>(signature) << 16U;
    }

    template <class Slot>
    void fill(Slot& slot, const void* from, std::size_t count) {
        if constexpr (requires { slot.brief; }) {
            if (Ring::is_brief(count)) {
                slot.brief.put(from, count);
                return;
            }
        }
        slot.payload.put(from, count, writer_);
    }

    // For assertions; only the sender stores the word.
    template <class Slot>
    [[nodiscard]] static bool announces(const Slot& slot, std::uint64_t number) {
        return (Env::peek(slot.word) & number_mask) == (number & number_mask);
    }
    template <class Slot>
    [[nodiscard]] static bool holds(const Slot& slot, const void* from, std::size_t count) {
        const std::byte* payload = nullptr;
        if constexpr (requires { slot.brief; }) {
            payload = Ring::is_brief(count) ? slot.brief.view(count) : nullptr;
        }
        payload = payload == nullptr ? slot.payload.view(count) : payload;
        return count == 0 || std::memcmp(payload, from, count) == 0;
    }

    template <class Waiter>
    [[nodiscard]] bool wait_for_room(Waiter& waiter) {
        CORYMB_ASSERT(sent_ - credited_ == slots_);
        const std::uint64_t enough = sent_ + 1 - slots_;
        std::uint64_t seen = 0;
        if (!waiter.await(
                ring_->consumed, std::memory_order_acquire, // P2 acquire
                [enough](std::uint64_t value) { return value >= enough; }, seen)) {
            return false;
        }
        CORYMB_ASSERT(sent_ - seen < slots_);
        credited_ = seen;
        return true;
    }

    Ring* ring_ = nullptr;
    std::uint64_t slots_ = 0;
    std::uint64_t sent_ = 0; ///< Invariant: the number in the word of the slot filled last.
    /// Invariant: at most the messages that the receiver has consumed, and at most slots_ behind
    /// sent_.
    std::uint64_t credited_ = 0;
    [[no_unique_address]]
    typename Env::template Bytes<Ring::payload_bytes>::Writer writer_;
};

/// The receiver's private end.
template <class Env, class Ring>
class SlotReceiver {
public:
    SlotReceiver() noexcept = default;
    explicit SlotReceiver(Ring& ring, std::uint64_t start = 0) noexcept
        : ring_(&ring), consumed_(start) {}

    /// Waits for the next message and returns its payload, valid until `release`; null when
    /// `waiter` gave up. `word` receives the slot's word for SlotSender::accept_credit and
    /// `signature_of`.
    template <class Waiter>
    [[nodiscard]] const std::byte* receive(Waiter& waiter, std::size_t count, std::uint64_t& word) {
        CORYMB_DEBUG_ASSERT(count <= Ring::payload_bytes);
        const auto expected = static_cast<std::uint16_t>(consumed_ + 1);
        auto&& slot = ring_->at(consumed_);
        if (!waiter.await(
                slot.word, std::memory_order_acquire, // P1 acquire, P3 acquire
                [expected](std::uint64_t value) {
                    return static_cast<std::uint16_t>(value) == expected;
                },
                word)) {
            return nullptr;
        }
        CORYMB_ASSERT(static_cast<std::uint16_t>(word - consumed_) == 1);
        if constexpr (requires { slot.brief; }) {
            if (Ring::is_brief(count)) {
                return slot.brief.view(count);
            }
        }
        return slot.payload.view(count);
    }

    /// As advice: whether the next message has come.
    [[nodiscard]] bool has_come() const noexcept {
        auto&& slot = ring_->at(consumed_);
        return static_cast<std::uint16_t>(slot.word.load(std::memory_order_relaxed)) ==
               static_cast<std::uint16_t>(consumed_ + 1);
    }
    /// Whether the sender learns of the release of the next message.
    [[nodiscard]] bool gives_credit() const noexcept {
        return (consumed_ + 1) % Ring::credit_every == 0;
    }

    /// The call that the sender's message belongs to.
    static constexpr Signature signature_of(std::uint64_t word) noexcept {
        return static_cast<Signature>(word >> 16U);
    }

    /// The payload of the last message is no longer needed. True when the sender may be waiting for
    /// this and should be woken.
    bool release() {
        const bool is_due = gives_credit();
        ++consumed_;
        if (is_due) {
            ring_->consumed.store(consumed_, std::memory_order_release); // P2 release
        }
        CORYMB_DEBUG_ASSERT(consumed_ - Env::peek(ring_->consumed) < Ring::credit_every);
        return is_due;
    }

    [[nodiscard]] const Ring* ring() const noexcept { return ring_; }
    [[nodiscard]] std::uint64_t consumed() const noexcept { return consumed_; }
    /// Slots of the ring.
    [[nodiscard]] std::uint64_t slots() const noexcept { return ring_->slots(); }

private:
    Ring* ring_ = nullptr;
    /// Invariant: less than credit_every ahead of the ring's `consumed`.
    std::uint64_t consumed_ = 0;
};

} // namespace corymb::channel
