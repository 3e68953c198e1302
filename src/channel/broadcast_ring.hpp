// SPDX-License-Identifier: Apache-2.0
// Purpose: messages of any length up to a limit from one thread to many, which join and leave while
// it
// runs. Publishing costs the same for any number of readers: they are looked at once a ring, not
// once
// a message.
//
// Roles: one publisher; any number of readers up to the number of lines, each with one of the
// policies of BroadcastKind. A line is given to one reader at a time (by the caller's lock).
//
// Layout:
//   line          bytes     field          written by  read by
//   0             8         published      publisher   joiners, overtaken readers   count
//   2             8         bound          everybody   everybody   what `published` was at the last
//                                                                  look at the readers
//   4 + 2 r       8         place[r]       reader r    publisher   position << 16 | tag
//   5 + 2 r       8         dropped[r]     publisher   reader r    tag of who was dropped
//   4 + 2 R + .   8         slot[k].word   publisher   readers     number | length << 40
//                 stride-8  slot[k] after  publisher   readers     payload, in words
//   A position is how many messages a reader has behind it. A tag is the generation of the line and
//   its reader's kind, 0 for none; it tells a reader from those that had its line before.
//
// Protocol:
//   publisher  1. if a ring is published since the bound that is known to hold: look anew, below;
//              2. store the slot's word as "being written"; 3. store the payload, word by word
//              (P3); 4. store the slot's word: the message's number, from 1, and its length (P1);
//              5. store `published`.
//   look anew  1. exchange `bound` for `published` (P4); 2. read the place of every reader (P2):
//              readers that drop and are a ring behind are dropped; the slots may be used again up
//              to the slowest other reader that does not overrun. While that reader has not moved,
//              its place alone is looked at.
//   reader     1. look at the word of the next slot (P1); a smaller number, or this one being
//              written: nothing yet; a larger one: overtaken; 2. copy the payload word by word
//              (P3); 3. look at the slot's word again: if it has changed, overtaken; 4. count the
//              message and, every quarter of the ring and when told to settle, store the place
//              (P2).
//   join       1. store the place with a position; 2. read `bound` with a read-modify-write (P4);
//              3. begin at the larger of the two.
//   last       after join: steps 1 to 3 of the reader for the message before its first. Nothing
//              protects that one: the publisher may overwrite it, and then there is none.
//   leave      store a place without a kind (P2).
//   succeed    a publisher whose process has ended is followed by another, which the caller's lock
//              puts after it. That one goes on behind the last whole message.
//   A dropped reader may still read the slots. It finds that it was overtaken at the latest when a
//   slot was used again, like a reader that overruns.
//
// Order:
//   P1: release store of slot[k].word in publish -> acquire load in receive: publishes the payload.
//   P2: release store of place[r] in settle and leave -> acquire load in look_anew: the reader's
//       use of the slots comes before the publisher's next.
//   P3: release stores of the payload's words -> acquire loads in receive: who has read a word of a
//       later message finds, with the second look, that the slot's word has changed; so no message
//       is accepted that is mixed of two. All accesses are atomic: no data race.
//   P4: release read-modify-write of `bound` in join -> acquire exchange in look_anew. Either the
//       exchange comes later: then that look sees the reader's place. Or it comes before: then the
//       reader sees the bound of that look, and begins there or later, which no slot that the look
//       set free can hold.
//   `published` and `dropped` are relaxed: both are advice, the slots' words say what is there.
//
// Progress: publish is wait-free once there is room, and there is always room but for readers that
// block it; receive, join and leave are wait-free but for the waiters that are passed in. Numbers
// are 40 bits and positions 48 on the wire and are compared by their differences.
//
// Checked by: verify/worlds/broadcast_ring_world.cpp (every policy, torn payloads, a join and a
// leave at any moment, a line that is used again).
#pragma once

#include "base/assert.hpp"
#include "base/cache_line.hpp"
#include "channel/look_once.hpp"
#include "channel/message_slots.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace corymb::channel {

/// The treatment of a reader that is a whole ring behind.
enum class BroadcastKind : std::uint8_t {
    none,    ///< No reader has the line.
    block,   ///< The publisher waits for it.
    drop,    ///< The publisher goes on without it.
    overrun, ///< The reader misses messages; the publisher never looks at it.
};

struct BroadcastShape {
    SlotShape slots;
    std::size_t readers = 1; ///< Lines.

    /// At least `slots` >= 2 slots for messages of up to `bytes` <= message_bytes_most.
    static constexpr BroadcastShape of(std::uint64_t slots, std::size_t bytes,
                                       std::size_t readers) noexcept {
        return {SlotShape::of(slots, bytes), readers};
    }
};

/// The position and the identity of a reader, in one word.
struct BroadcastPlace {
    std::uint64_t word = 0;

    static constexpr unsigned position_at = 16;
    static constexpr std::uint64_t tag_mask = (std::uint64_t{1} << position_at) - 1;

    static constexpr BroadcastPlace of(std::uint64_t position, std::uint64_t tag) noexcept {
        return {position << position_at | tag};
    }
    [[nodiscard]] constexpr std::uint64_t tag() const noexcept { return word & tag_mask; }
    [[nodiscard]] constexpr BroadcastKind kind() const noexcept {
        return static_cast<BroadcastKind>(word & 3U);
    }
    /// How many of `published` messages are before it.
    [[nodiscard]] constexpr std::uint64_t lag(std::uint64_t published) const noexcept {
        return ((published << position_at) - (word & ~tag_mask)) >> position_at;
    }
    /// Tag of the next reader of this line.
    [[nodiscard]] constexpr std::uint64_t next_tag(BroadcastKind kind) const noexcept {
        return (((word & tag_mask) / 4 + 1) * 4 & tag_mask) | static_cast<std::uint64_t>(kind);
    }
};

template <class Env>
class BroadcastRing {
public:
    using Word = typename Env::template Atomic<std::uint64_t>;

    struct ReaderLine {
        alignas(line_pair_bytes) Word place;
        alignas(cache_line_bytes) Word dropped;
    };

    /// Bytes of a ring with its lines and slots.
    static constexpr std::size_t bytes(const BroadcastShape& shape) noexcept {
        return sizeof(BroadcastRing) + shape.readers * sizeof(ReaderLine) + shape.slots.bytes();
    }
    /// Constructed in `bytes(shape)` bytes.
    explicit BroadcastRing(const BroadcastShape& shape) noexcept {
        for (std::size_t reader = 0; reader < shape.readers; ++reader) {
            new (lines() + reader * sizeof(ReaderLine)) ReaderLine;
        }
        auto all = slots(shape);
        all.construct();
        for (std::uint64_t slot = 0; slot < all.count(); ++slot) {
            for (std::size_t at = 0; at < shape.slots.payload_bytes(); at += sizeof(Word)) {
                new (all.payload(slot) + at) Word;
            }
        }
    }
    BroadcastRing(const BroadcastRing&) = delete;
    BroadcastRing& operator=(const BroadcastRing&) = delete;

    [[nodiscard]] ReaderLine& line(std::size_t reader) noexcept {
        return *std::launder(reinterpret_cast<ReaderLine*>(lines() + reader * sizeof(ReaderLine)));
    }
    [[nodiscard]] MessageSlots<Env> slots(const BroadcastShape& shape) noexcept {
        return {lines() + shape.readers * sizeof(ReaderLine), shape.slots};
    }
    /// Nobody has the line from now on; for its reader, or when that one has ended.
    static void leave(ReaderLine& line) noexcept {
        const BroadcastPlace place{line.place.load(std::memory_order_relaxed)};
        line.place.store(place.word & ~std::uint64_t{3}, std::memory_order_release); // P2 release
    }
    /// A word of the payload at `payload`.
    [[nodiscard]] static Word& payload_word(std::byte* payload, std::size_t index) noexcept {
        return *std::launder(reinterpret_cast<Word*>(payload + index * sizeof(Word)));
    }

    /// For assertions, while nobody stores into the payload.
    [[nodiscard]] static bool holds(std::byte* payload, const void* bytes, std::size_t length) {
        const auto* source = static_cast<const std::byte*>(bytes);
        for (std::size_t at = 0; at < length; at += sizeof(std::uint64_t)) {
            const std::uint64_t word = Env::peek(payload_word(payload, at / sizeof(std::uint64_t)));
            if (std::memcmp(&word, source + at, std::min(sizeof word, length - at)) != 0) {
                return false;
            }
        }
        return true;
    }

    alignas(line_pair_bytes) Word published;
    alignas(line_pair_bytes) Word bound;

    // Parts of a slot's word.
    static constexpr unsigned length_at = 40;
    static constexpr std::uint64_t number_mask = (std::uint64_t{1} << length_at) - 1;
    static constexpr std::uint64_t length_while_written = message_bytes_most + 1;

    static constexpr std::uint64_t word_of(std::uint64_t number, std::uint64_t length) noexcept {
        return (number & number_mask) | length << length_at;
    }
    static constexpr std::size_t words_of(std::size_t bytes) noexcept {
        return (bytes + sizeof(Word) - 1) / sizeof(Word);
    }

private:
    [[nodiscard]] std::byte* lines() noexcept {
        return reinterpret_cast<std::byte*>(this) + sizeof(BroadcastRing);
    }
};

/// The publisher's private end.
template <class Env>
class BroadcastSender {
    using Ring = BroadcastRing<Env>;

public:
    BroadcastSender() noexcept = default;
    /// Goes on where an earlier publisher, which has ended, has stopped.
    BroadcastSender(Ring& ring, const BroadcastShape& shape)
        : ring_(&ring), slots_(ring.slots(shape)), readers_(shape.readers),
          published_(ring.published.load(std::memory_order_relaxed)), slowest_(shape.readers) {
        const std::uint64_t word = slots_.word(published_).load(std::memory_order_relaxed);
        if ((word & Ring::number_mask) == ((published_ + 1) & Ring::number_mask) &&
            word >> Ring::length_at != Ring::length_while_written) {
            ring.published.store(++published_, std::memory_order_relaxed); // It was whole.
        }
        CORYMB_DEBUG_ASSERT(published_ == 0 || announces(published_));
        if (published_ != 0) {
            credited_ = published_ - slots_.count(); // Nothing is known of the readers.
        }
    }

    [[nodiscard]] std::uint64_t published() const noexcept { return published_; }

    /// Whether there is room for a message, which there is until one is published. False: a reader
    /// blocks and `waiter` gave up waiting for it; `slowest` says which.
    template <class Waiter>
    [[nodiscard]] bool reserve(Waiter& waiter) {
        while (published_ - credited_ >= slots_.count()) {
            if (slowest_ < readers_) {
                const std::uint64_t before = slowest_place_;
                std::uint64_t seen = 0;
                if (!waiter.await(
                        ring_->line(slowest_).place,
                        std::memory_order_relaxed, // look_anew acquires
                        [before](std::uint64_t place) { return place != before; }, seen)) {
                    return false;
                }
            }
            look_anew();
        }
        return true;
    }
    /// After `reserve`.
    void publish(const void* from, std::size_t bytes) {
        CORYMB_ASSERT(published_ - credited_ < slots_.count());
        CORYMB_ASSERT(bytes <= slots_.payload_bytes());
        auto& word = slots_.word(published_);
        std::byte* const payload = slots_.payload(published_);
        ++published_;
        word.store(Ring::word_of(published_, Ring::length_while_written),
                   std::memory_order_relaxed);
        Env::note_write(payload, bytes);
        const auto* source = static_cast<const std::byte*>(from);
        for (std::size_t index = 0; index < Ring::words_of(bytes); ++index) {
            std::uint64_t value = 0;
            std::memcpy(&value, source + index * sizeof value,
                        std::min(sizeof value, bytes - index * sizeof value));
            Ring::payload_word(payload, index)
                .store(value, std::memory_order_release); // P3 release
        }
        CORYMB_DEBUG_ASSERT(Ring::holds(payload, from, bytes));
        word.store(Ring::word_of(published_, bytes), std::memory_order_release); // P1 release
        ring_->published.store(published_, std::memory_order_relaxed);
        CORYMB_DEBUG_ASSERT(Env::peek(slots_.word(published_ - 1)) ==
                            Ring::word_of(Env::peek(ring_->published), bytes));
    }

    /// The reader that was in the way when `reserve` gave up; there is one.
    [[nodiscard]] std::size_t slowest() const noexcept { return slowest_; }
    /// From now on the publisher does not look at the reader that has this tag in that line.
    void drop(std::size_t reader, std::uint64_t tag) noexcept {
        ring_->line(reader).dropped.store(tag, std::memory_order_relaxed);
        slowest_ = readers_;
    }

private:
    /// For assertions of the publisher, which alone stores the words.
    [[nodiscard]] bool announces(std::uint64_t number) const {
        return (Env::peek(slots_.word(number - 1)) & Ring::number_mask) ==
               (number & Ring::number_mask);
    }
    void look_anew() noexcept {
        ring_->bound.exchange(published_, std::memory_order_acquire); // P4 acquire
        std::uint64_t most = 0;                                       // The largest lag.
        slowest_ = readers_;
        for (std::size_t reader = 0; reader < readers_; ++reader) {
            auto& line = ring_->line(reader);
            const BroadcastPlace place{line.place.load(std::memory_order_acquire)}; // P2 acquire
            const BroadcastKind kind = place.kind();
            if (kind == BroadcastKind::none || kind == BroadcastKind::overrun ||
                line.dropped.load(std::memory_order_relaxed) == place.tag()) {
                continue;
            }
            const std::uint64_t lag = place.lag(published_);
            if (kind == BroadcastKind::drop && lag >= slots_.count()) {
                line.dropped.store(place.tag(), std::memory_order_relaxed);
            } else if (lag > most) {
                most = lag;
                slowest_ = kind == BroadcastKind::block ? reader : readers_;
                slowest_place_ = place.word;
            }
        }
        credited_ = published_ - most;
    }

    Ring* ring_ = nullptr;
    MessageSlots<Env> slots_;
    std::size_t readers_ = 0;
    std::uint64_t published_ = 0; ///< Invariant: the ring's `published`, and at least its `bound`.
    /// Invariant: at most every tracked reader's position, and at most a ring behind published_.
    std::uint64_t credited_ = 0;
    /// The reader that credited_ comes from, if it blocks; otherwise readers_.
    std::size_t slowest_ = 0;
    std::uint64_t slowest_place_ = 0; ///< The place of that reader at the last look.
};

/// A reader's private end. It joins when it is made and must `leave`.
template <class Env>
class BroadcastReceiver {
    using Ring = BroadcastRing<Env>;

public:
    enum class Got : std::uint8_t { message, nothing, overtaken };

    BroadcastReceiver() noexcept = default;
    /// Line `reader`, which nobody has. Its first message is the next that is published.
    BroadcastReceiver(Ring& ring, const BroadcastShape& shape, std::size_t reader,
                      BroadcastKind kind) noexcept
        : ring_(&ring), line_(&ring.line(reader)), slots_(ring.slots(shape)),
          tell_every_(std::max<std::uint64_t>(slots_.count() / 4, 1)) {
        const BroadcastPlace before{line_->place.load(std::memory_order_relaxed)};
        tag_ = before.next_tag(kind);
        position_ = told_ = ring.published.load(std::memory_order_relaxed);
        line_->place.store(BroadcastPlace::of(position_, tag_).word, std::memory_order_relaxed);
        const std::uint64_t bound =
            ring.bound.fetch_add(0, std::memory_order_release); // P4 release
        position_ = std::max(position_, bound);
        settle();
    }

    [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
    [[nodiscard]] std::uint64_t tag() const noexcept { return tag_; }
    /// The publisher goes on without this reader.
    [[nodiscard]] bool is_dropped() const noexcept {
        return line_->dropped.load(std::memory_order_relaxed) == tag_;
    }

    /// The result that `receive` would have now.
    [[nodiscard]] Got peek() const noexcept {
        const std::uint64_t seen = slots_.word(position_).load(std::memory_order_relaxed);
        if (!is_there(seen)) {
            return Got::nothing;
        }
        return ahead(seen) == 0 ? Got::message : Got::overtaken;
    }
    /// Copies the next message to `to`, which has room for the longest. Nothing: there is none and
    /// `waiter` gave up.
    template <class Waiter>
    [[nodiscard]] Got receive(Waiter& waiter, std::uint64_t* to, std::size_t& length) {
        auto& word = slots_.word(position_);
        std::uint64_t seen = 0;
        if (!waiter.await(
                word, std::memory_order_acquire, // P1 acquire
                [this](std::uint64_t value) { return is_there(value); }, seen)) {
            return Got::nothing;
        }
        if (ahead(seen) != 0) {
            return overtaken_by(seen);
        }
        length = seen >> Ring::length_at;
        CORYMB_ASSERT(seen == Ring::word_of(position_ + 1, length));
        CORYMB_ASSERT(length <= slots_.payload_bytes());
        std::byte* const payload = slots_.payload(position_);
        for (std::size_t index = 0; index < Ring::words_of(length); ++index) {
            to[index] =
                Ring::payload_word(payload, index).load(std::memory_order_acquire); // P3 acquire
        }
        if (const std::uint64_t now = word.load(std::memory_order_relaxed); now != seen) {
            return overtaken_by(now);
        }
        if (static_cast<BroadcastKind>(tag_ & 3U) == BroadcastKind::block && position_ >= told_) {
            // Other reads may race with the publisher, and the reader finds out afterwards.
            Env::note_read(payload, length);
            CORYMB_DEBUG_ASSERT(Ring::holds(payload, to, length));
        }
        ++position_;
        CORYMB_ASSERT((seen & Ring::number_mask) == (position_ & Ring::number_mask));
        if (position_ - told_ >= tell_every_) {
            settle();
        }
        CORYMB_ASSERT(position_ - told_ < tell_every_);
        CORYMB_DEBUG_ASSERT(Env::peek(line_->place) == BroadcastPlace::of(told_, tag_).word);
        return Got::message;
    }
    /// Before the first `receive`: copies the message before the reader's first one. False: there
    /// is none, or none any more.
    [[nodiscard]] bool take_last(std::uint64_t* to, std::size_t& length) {
        if (position_ == 0) {
            return false;
        }
        LookOnce now;
        --position_;
        const bool is_taken = receive(now, to, length) == Got::message;
        if (!is_taken) {
            ++position_;
        }
        return is_taken;
    }
    /// After `overtaken`: goes on with the second half of the messages in the ring. Returns how
    /// many messages are missed.
    std::uint64_t skip() {
        const std::uint64_t newest =
            std::max(newest_, ring_->published.load(std::memory_order_relaxed));
        const std::uint64_t next = newest - slots_.count() / 2;
        const std::uint64_t missed = next - position_;
        CORYMB_ASSERT(newest - position_ > slots_.count());
        position_ = next;
        settle();
        return missed;
    }
    /// Tells the publisher of all that is read. Returns whether there was something to tell.
    bool settle() noexcept {
        if (told_ == position_) {
            return false;
        }
        line_->place.store(BroadcastPlace::of(position_, tag_).word,
                           std::memory_order_release); // P2 release
        told_ = position_;
        return true;
    }
    void leave() noexcept { Ring::leave(*line_); }

private:
    /// How much later the message of a slot's word is than the next one.
    [[nodiscard]] std::int64_t ahead(std::uint64_t word) const noexcept {
        constexpr unsigned unused = 64 - Ring::length_at;
        return static_cast<std::int64_t>((word - (position_ + 1)) << unused) >> unused;
    }
    [[nodiscard]] Got overtaken_by(std::uint64_t word) noexcept {
        newest_ = position_ + 1 + static_cast<std::uint64_t>(ahead(word));
        return Got::overtaken;
    }
    [[nodiscard]] bool is_there(std::uint64_t word) const noexcept {
        const std::int64_t by = ahead(word);
        return by > 0 || (by == 0 && word >> Ring::length_at != Ring::length_while_written);
    }

    Ring* ring_ = nullptr;
    typename Ring::ReaderLine* line_ = nullptr;
    MessageSlots<Env> slots_;
    std::uint64_t tell_every_ = 1;
    std::uint64_t tag_ = 0;
    std::uint64_t position_ = 0; ///< Messages that the reader has behind it.
    /// Invariant: the position in the reader's place, less than tell_every_ behind position_.
    std::uint64_t told_ = 0;
    /// Number of the message that has overtaken. Invariant: after `overtaken` more than a ring
    /// ahead of position_.
    std::uint64_t newest_ = 0;
};

} // namespace corymb::channel
