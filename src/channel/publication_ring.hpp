// SPDX-License-Identifier: Apache-2.0
// Purpose: one store that several readers pull: small payloads from one thread to a fixed set of
// others.
//
// Roles: one publisher; a fixed number of readers, each of which reads every publication in order.
//
// Layout:
//   line           bytes  field              written by   read by
//   0..slots-1     56     slot[i].payload    publisher    readers
//   0..slots-1     8      slot[i].sequence   publisher    readers    number << 16 | signature
//   slots + r      8      consumed[r]        reader r     publisher
//
// Protocol:
//   publisher  1. if the ring may be full, wait until every reader has consumed the slot's last
//              use, one reader after the other (P2); 2. fill the slot; 3. store its sequence, with
//              the signature of what it belongs to (signature.hpp) (P1).
//   reader     1. wait for the sequence of the next publication (P1); 2. use the payload in place;
//              3. count it and, every half ring, store consumed[r] (P2).
//
// Order:
//   P1: release store of slot[i].sequence in publish -> acquire load in read: publishes the
//       payload.
//   P2: release store of consumed[r] in release -> acquire load in the publisher's wait for room:
//       the reader's reads of the slot come before the publisher's next writes to it.
//
// Progress: publish waits only when a reader is a whole ring behind; read waits for the publisher.
//
// Checked by: verify/worlds/publication_world.cpp (2 readers, slot reuse).
#pragma once

#include "base/assert.hpp"
#include "base/cache_line.hpp"
#include "channel/signature.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace corymb::channel {

struct IgnoreReader {
    void operator()(std::size_t /*reader*/) const noexcept {}
};

template <class Env, std::size_t Payload, std::size_t Slots>
class PublicationRing {
public:
    static_assert(Slots >= 2);
    static constexpr std::size_t payload_bytes = Payload;
    static constexpr std::size_t credit_every = Slots / 2;

    struct alignas(line_pair_bytes) ReaderLine {
        typename Env::template Atomic<std::uint64_t> consumed;
    };

    /// `readers` lies in the ring's memory and stays at one distance from the ring.
    PublicationRing(ReaderLine* readers, std::size_t reader_count) noexcept
        : reader_count_(reader_count),
          readers_at_(reinterpret_cast<std::byte*>(readers) - reinterpret_cast<std::byte*>(this)) {}
    PublicationRing(const PublicationRing&) = delete;
    PublicationRing& operator=(const PublicationRing&) = delete;

    /// Publisher: as `published`-th publication, its private count. False: `waiter` gave up. Before
    /// it waits for a reader, `about_to_wait(reader)` is called.
    template <class Waiter, class AboutToWait = IgnoreReader>
    [[nodiscard]] bool publish(Waiter& waiter, const void* from, std::size_t count,
                               std::uint64_t& published, Signature signature = 0,
                               const AboutToWait& about_to_wait = {}) {
        if (published - credited_ >= Slots && !wait_for_room(waiter, published, about_to_wait)) {
            return false;
        }
        CORYMB_ASSERT(published - credited_ < Slots);
        CORYMB_ASSERT(count <= Payload);
        auto& slot = slot_[published % Slots];
        CORYMB_DEBUG_ASSERT(count_of(slot) == (published < Slots ? 0 : published + 1 - Slots));
        slot.payload.put(from, count);
        CORYMB_DEBUG_ASSERT(count == 0 || std::memcmp(slot.payload.view(count), from, count) == 0);
        slot.sequence.store(signed_count(++published, signature),
                            std::memory_order_release); // P1 release
        CORYMB_DEBUG_ASSERT(count_of(slot_[(published - 1) % Slots]) == published);
        // Publications in a row would each wait until the readers' caches have let go of the line.
        // Not the next one's, which they may be looking at.
        if constexpr (Slots > 2) {
            Env::prefetch_for_write(&slot_[(published + 1) % Slots]);
        }
        return true;
    }

    /// Reader: waits for the publication after `consumed` and returns its payload, valid until
    /// `release`; null when `waiter` gave up, or when it has another signature, which `is_foreign`
    /// tells.
    template <class Waiter>
    [[nodiscard]] const std::byte* read(Waiter& waiter, std::size_t count, std::uint64_t consumed,
                                        Signature signature = 0, bool* is_foreign = nullptr) const {
        CORYMB_ASSERT(count <= Payload);
        const auto& slot = slot_[consumed % Slots];
        const std::uint64_t expected = consumed + 1;
        std::uint64_t seen = 0;
        if (!waiter.await(
                slot.sequence, std::memory_order_acquire, // P1 acquire
                [expected](std::uint64_t value) { return value >> 16U == expected; }, seen)) {
            return nullptr;
        }
        if (contradicts(seen, signed_count(expected, signature))) [[unlikely]] {
            *is_foreign = true;
            return nullptr;
        }
        CORYMB_ASSERT(seen == signed_count(consumed + 1, signature));
        return slot.payload.view(count);
    }

    /// Reader, as advice: whether the publication after `consumed` has come.
    [[nodiscard]] bool has_come(std::uint64_t consumed) const noexcept {
        return slot_[consumed % Slots].sequence.load(std::memory_order_relaxed) >> 16U ==
               consumed + 1;
    }
    /// Whether the publisher learns of the release of the publication after `consumed`.
    [[nodiscard]] static bool gives_credit(std::uint64_t consumed) noexcept {
        return (consumed + 1) % credit_every == 0;
    }

    /// Reader `reader`: done with the payload. True when the publisher may be waiting for this.
    bool release(std::size_t reader, std::uint64_t& consumed) {
        CORYMB_ASSERT(reader < reader_count_);
        const bool is_due = gives_credit(consumed++);
        if (is_due) {
            reader_line(reader).consumed.store(consumed, std::memory_order_release); // P2 release
        }
        CORYMB_DEBUG_ASSERT(consumed - Env::peek(reader_line(reader).consumed) < credit_every);
        return is_due;
    }

private:
    struct alignas(cache_line_bytes) Slot {
        typename Env::template Bytes<Payload> payload;
        typename Env::template Atomic<std::uint64_t> sequence;
    };
    /// For assertions of the publisher, which alone stores the word.
    [[nodiscard]] static std::uint64_t count_of(const Slot& slot) {
        return Env::peek(slot.sequence) >> 16U;
    }
    /// Found by its distance, as processes have the ring at different addresses.
    [[nodiscard]] ReaderLine& reader_line(std::size_t reader) noexcept {
        auto* const first = reinterpret_cast<std::byte*>(this) + readers_at_;
        return std::launder(reinterpret_cast<ReaderLine*>(first))[reader];
    }

    template <class Waiter, class AboutToWait>
    [[nodiscard]] bool wait_for_room(Waiter& waiter, std::uint64_t published,
                                     const AboutToWait& about_to_wait) {
        CORYMB_ASSERT(published - credited_ == Slots);
        const std::uint64_t enough = published + 1 - Slots;
        std::uint64_t least = published;
        for (std::size_t reader = 0; reader < reader_count_; ++reader) {
            std::uint64_t seen = 0;
            about_to_wait(reader);
            if (!waiter.await(
                    reader_line(reader).consumed, std::memory_order_acquire, // P2 acquire
                    [enough](std::uint64_t value) { return value >= enough; }, seen)) {
                return false;
            }
            CORYMB_ASSERT(published - seen < Slots);
            least = std::min(least, seen);
        }
        credited_ = least;
        return true;
    }

    alignas(line_pair_bytes) Slot slot_[Slots];
    /// The publisher's own. Invariant: at most every reader's consumed.
    alignas(line_pair_bytes) std::uint64_t credited_ = 0;
    alignas(line_pair_bytes) std::size_t reader_count_;
    std::ptrdiff_t readers_at_;
};

/// A ring with its reader lines, for threads of one process.
template <class Line>
struct OwnedReaderLines {
    std::unique_ptr<Line[]> lines;
};
template <class Env, std::size_t Payload, std::size_t Slots>
class OwnedPublicationRing
    : private OwnedReaderLines<typename PublicationRing<Env, Payload, Slots>::ReaderLine>,
      public PublicationRing<Env, Payload, Slots> {
    using Ring = PublicationRing<Env, Payload, Slots>;
    using Line = typename Ring::ReaderLine;

public:
    explicit OwnedPublicationRing(std::size_t reader_count)
        : OwnedReaderLines<Line>{std::make_unique<Line[]>(reader_count)},
          Ring(this->lines.get(), reader_count) {}
};

} // namespace corymb::channel
