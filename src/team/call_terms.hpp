// SPDX-License-Identifier: Apache-2.0
// Purpose: the terms of a collective on which all ranks must agree, a digest of all calls of a
// rank,
// and a log of its last calls for the others. A call that differs is so noticed by the rank that
// gets
// its messages, and named instead of waited for.
//
// Roles: one rank writes its log, any rank reads it, when it has met a foreign message or has
// waited for long.
//
// Layout (entry = number mod entries):
//   bytes     field            written by  read by
//   16e..     entry[e].what    its rank    all       operation, root, type, operator; number
//   16e+8..   entry[e].bytes   its rank    all       size; number
//
// Protocol:
//   writer  stores both words of an entry, each with the lower 16 bits of the operation's number.
//   reader  takes a word for what it says only if it has the number that it looks for.
//
// Order: none. Each word speaks for itself; a reader that comes too early or too late finds another
// number and knows nothing.
//
// Progress: wait-free.
//
// Checked by: tests/unit/team/mismatch_test.cpp. There is no order to weaken.
#pragma once

#include "base/cache_line.hpp"
#include "channel/signature.hpp"
#include "channel/sizes.hpp"

#include <corymb/plan.hpp>

#include <atomic>
#include <cstdint>
#include <optional>

namespace corymb::team {

/// In two words of 48 bits. Equal terms, equal calls.
struct CallTerms {
    std::uint64_t what = 0; ///< See `terms_of`.
    std::uint64_t bytes = 0;

    bool operator==(const CallTerms&) const = default;
};

/// All calls of a lane so far. A message carries 16 bits of it, so that also a rank that has got
/// through a call that differed meets a contradiction at its next message.
class CallDigest {
public:
    constexpr void add(const CallTerms& terms) noexcept {
        // Odd constants without structure; the upper bits of a product depend on all others.
        const std::uint64_t term = terms.what * 0x9E3779B97F4A7C15U + terms.bytes;
        state_ = ((state_ ^ term) + 0xC2B2AE3D27D4EB4FU) * 0xBF58476D1CE4E5B9U;
        state_ ^= state_ >> 32U;
    }
    [[nodiscard]] constexpr channel::Signature signature() const noexcept {
        return static_cast<channel::Signature>(state_);
    }
    [[nodiscard]] constexpr std::uint64_t value() const noexcept { return state_; }

private:
    std::uint64_t state_ = 0;
};

/// `identity` is that of Reduction. The root counts to a million.
[[nodiscard]] constexpr CallTerms terms_of(Collective op, Rank root, std::uint64_t bytes,
                                           std::uint32_t identity) noexcept {
    return {static_cast<std::uint64_t>(op) | (static_cast<std::uint64_t>(root) & 0xFFFFFU) << 8U |
                static_cast<std::uint64_t>(identity & 0xFFFFU) << 28U,
            bytes & 0xFFFFFFFFFFFFU};
}
/// Terms of a call whose parts differ in length. `lengths` is a digest of the lengths that all
/// ranks know, or 0.
[[nodiscard]] constexpr CallTerms vector_terms_of(Collective op, Rank root, std::uint64_t lengths,
                                                  std::uint32_t identity) noexcept {
    CallTerms terms = terms_of(op, root, lengths, identity);
    terms.what |= std::uint64_t{1} << 44U;
    return terms;
}
[[nodiscard]] constexpr bool is_vector(const CallTerms& terms) noexcept {
    return (terms.what >> 44U & 1U) != 0;
}
/// Marks the terms of a call whose operator is not commutative.
[[nodiscard]] constexpr CallTerms in_rank_order(CallTerms terms) noexcept {
    terms.what |= std::uint64_t{1} << 46U;
    return terms;
}
[[nodiscard]] constexpr bool is_in_rank_order(const CallTerms& terms) noexcept {
    return (terms.what >> 46U & 1U) != 0;
}
/// Terms of a message between two ranks. 0xFF is the number of no collective.
[[nodiscard]] constexpr CallTerms message_terms(std::uint64_t bytes) noexcept {
    return {0xFF, bytes & 0xFFFFFFFFFFFFU};
}
/// Marks the terms of a team that always combines in one order.
[[nodiscard]] constexpr CallTerms reproducible(CallTerms terms) noexcept {
    terms.what |= std::uint64_t{1} << 45U;
    return terms;
}
[[nodiscard]] constexpr bool is_reproducible(const CallTerms& terms) noexcept {
    return (terms.what >> 45U & 1U) != 0;
}
[[nodiscard]] constexpr Collective op_of(const CallTerms& terms) noexcept {
    return static_cast<Collective>(terms.what & 0xFFU);
}
[[nodiscard]] constexpr Rank root_of(const CallTerms& terms) noexcept {
    return static_cast<Rank>(terms.what >> 8U & 0xFFFFFU);
}
[[nodiscard]] constexpr std::uint32_t identity_of(const CallTerms& terms) noexcept {
    return static_cast<std::uint32_t>(terms.what >> 28U & 0xFFFFU);
}

/// Whether all other ranks wait in the call for data of the root.
[[nodiscard]] constexpr bool sends_from_root(const CallTerms& terms) noexcept {
    return op_of(terms) == Collective::broadcast || op_of(terms) == Collective::scatter;
}

template <class Env>
class CallLog {
public:
    /// More than the messages of one line that a rank can send before it has to wait for others. If
    /// there were fewer, a rank could be so far ahead that its log no longer has the call that
    /// differed, and the error would not name it.
    static constexpr std::uint64_t entries = 4 * channel::line_ring_slots;

    /// Writer: operation `number` has these terms.
    void write(std::uint64_t number, const CallTerms& terms) noexcept {
        Entry& entry = entry_[number % entries];
        entry.what.store(terms.what << 16U | (number & 0xFFFFU), std::memory_order_relaxed);
        entry.bytes.store(terms.bytes << 16U | (number & 0xFFFFU), std::memory_order_relaxed);
    }

    /// Writer: operation `number` is taken back.
    void erase(std::uint64_t number) noexcept {
        Entry& entry = entry_[number % entries];
        entry.what.store(~number & 0xFFFFU, std::memory_order_relaxed);
        entry.bytes.store(~number & 0xFFFFU, std::memory_order_relaxed);
    }

    /// Reader: the terms of operation `number`, if the log has them now.
    [[nodiscard]] std::optional<CallTerms> read(std::uint64_t number) const noexcept {
        const Entry& entry = entry_[number % entries];
        const std::uint64_t what = entry.what.load(std::memory_order_relaxed);
        const std::uint64_t bytes = entry.bytes.load(std::memory_order_relaxed);
        if ((what & 0xFFFFU) != (number & 0xFFFFU) || (bytes & 0xFFFFU) != (number & 0xFFFFU)) {
            return std::nullopt;
        }
        return CallTerms{what >> 16U, bytes >> 16U};
    }

private:
    struct Entry {
        typename Env::template Atomic<std::uint64_t> what;
        typename Env::template Atomic<std::uint64_t> bytes;
    };
    alignas(line_pair_bytes) Entry entry_[entries];
};

} // namespace corymb::team
