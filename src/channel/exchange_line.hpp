// SPDX-License-Identifier: Apache-2.0
// Purpose: two threads meet: each hands the other a few bytes, or nothing, on one cache line that
// both write. A thread that gets the line to write its own half has the other's half with it, so a
// meeting moves one line once, where a line each way is moved twice.
//
// Roles: two threads, side 0 and side 1. Each keeps its ExchangeEnd in private memory.
//
// Layout:
//   bytes    field               written by  read by
//   0..15    half[0].payload[2]  side 0      side 1
//   16..23   half[0].count       side 0      side 1    number << 16 | signature
//   32..47   half[1].payload[2]  side 1      side 0
//   48..55   half[1].count       side 1      side 0
//
// Protocol: each side puts and takes in turns, and puts first.
//   put   1. write message k into payload[k mod 2] of the own half; 2. store k in `count`, with the
//         signature of what it belongs to (signature.hpp) (P1).
//   take  1. wait until the other's `count` is at least k (P1); 2. use payload[k mod 2] there.
//   The turns are the flow control. A side writes message k + 2 over message k after it has taken
//   k + 1 of the other, who put that after having taken k. So `count` is never more than one ahead
//   of what is being taken, and put never waits.
//
// Order:
//   P1: release store of `count` in put -> acquire load in take: publishes the payload; and, as put
//       k + 1 follows take k in the program of a side, its reads of message k come before the
//       other's write of message k + 2.
//
// Progress: put is wait-free. take waits for the other side's put.
//
// Checked by: verify/worlds/exchange_line_world.cpp.
#pragma once

#include "base/assert.hpp"
#include "base/cache_line.hpp"
#include "channel/signature.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace corymb::channel {

template <class Env, std::size_t Payload>
struct alignas(line_pair_bytes) ExchangeLine {
    struct alignas(cache_line_bytes / 2) Half {
        typename Env::template Bytes<Payload> payload[2];
        typename Env::template Atomic<std::uint64_t> count;
    };

    Half half[2];
};

/// The private end of one side.
template <class Env, std::size_t Payload>
class ExchangeEnd {
public:
    using Line = ExchangeLine<Env, Payload>;

    ExchangeEnd() noexcept = default;
    ExchangeEnd(Line& line, std::size_t side) noexcept
        : own_(&line.half[side]), other_(&line.half[1 - side]) {}

    /// Hands over `count` <= Payload bytes.
    void put(const void* from, std::size_t count, Signature signature = 0) {
        CORYMB_ASSERT(put_ == taken_); // The turns are the flow control.
        CORYMB_ASSERT(count <= Payload);
        CORYMB_DEBUG_ASSERT(Env::peek(own_->count) >> 16U == put_);
        const std::uint64_t number = ++put_;
        auto& payload = own_->payload[number % 2];
        if (count != 0) {
            payload.put(from, count);
        }
        CORYMB_DEBUG_ASSERT(count == 0 || std::memcmp(payload.view(count), from, count) == 0);
        own_->count.store(signed_count(number, signature), std::memory_order_release); // P1 release
        CORYMB_DEBUG_ASSERT(Env::peek(own_->count) == signed_count(put_, signature));
    }

    /// As advice: whether the other side's next message has come.
    [[nodiscard]] bool has_come() const noexcept {
        return other_->count.load(std::memory_order_relaxed) >= signed_count(taken_ + 1, 0);
    }

    /// Waits for the other side's next message and returns its payload, valid until the next put;
    /// null when `waiter` gave up, and the message still counts as not taken; or when it has
    /// another signature, which `is_foreign` tells.
    template <class Waiter>
    [[nodiscard]] const std::byte* take(Waiter& waiter, std::size_t count, Signature signature = 0,
                                        bool* is_foreign = nullptr) {
        CORYMB_ASSERT(put_ == taken_ + 1);
        CORYMB_ASSERT(count <= Payload);
        const std::uint64_t number = taken_ + 1;
        const std::uint64_t least = signed_count(number, 0);
        std::uint64_t seen = 0;
        if (!waiter.await(
                other_->count, std::memory_order_acquire, // P1 acquire
                [least](std::uint64_t value) { return value >= least; }, seen)) {
            return nullptr;
        }
        if (contradicts(seen, least | signature)) [[unlikely]] {
            *is_foreign = true;
            return nullptr;
        }
        CORYMB_ASSERT((seen >> 16U) - put_ <= 1);
        taken_ = number;
        return other_->payload[number % 2].view(count);
    }

    [[nodiscard]] std::uint64_t times_put() const noexcept { return put_; }
    [[nodiscard]] std::uint64_t times_taken() const noexcept { return taken_; }

private:
    typename Line::Half* own_ = nullptr;
    typename Line::Half* other_ = nullptr;
    std::uint64_t put_ = 0;   ///< Invariant: taken_, or one more between put and take.
    std::uint64_t taken_ = 0; ///< Messages of the other side that were taken.
};

} // namespace corymb::channel
