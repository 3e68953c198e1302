// SPDX-License-Identifier: Apache-2.0
// Purpose: zero-byte notifications from one thread to one or more others, one cache line.
//
// Roles: one sender; any number of receivers, each of which sees every signal.
//
// Layout:
//   line  bytes  field   written by  read by
//   0     8      count   sender      receivers   number << 16 | signature
//
// Protocol:
//   sender    1. add one to its private count; 2. store it with the signature of what the signal
//             belongs to (signature.hpp) (P1).
//   receiver  1. add one to its private count; 2. wait until `count` is at least that (P1). It sees
//             the signature unless the sender is a signal further.
//   The count only grows, so a sender never waits and nothing is ever reused.
//
// Order:
//   P1: release store of `count` in signal -> acquire load in the receiver's wait: publishes all
//       that the sender wrote before the signal.
//
// Progress: signal is wait-free. The receiver waits for the sender.
//
// Checked by: verify/worlds/signal_line_world.cpp.
#pragma once

#include "base/assert.hpp"
#include "base/cache_line.hpp"
#include "channel/signature.hpp"

#include <atomic>
#include <cstdint>

namespace corymb::channel {

template <class Env>
struct alignas(line_pair_bytes) SignalLine {
    typename Env::template Atomic<std::uint64_t> count;

    /// `sent` is the sender's private count.
    void signal(std::uint64_t& sent, Signature signature = 0) {
        CORYMB_DEBUG_ASSERT(Env::peek(count) >> 16U == sent);
        count.store(signed_count(++sent, signature), std::memory_order_release); // P1 release
        CORYMB_DEBUG_ASSERT(Env::peek(count) == signed_count(sent, signature));
    }

    /// Receiver, as advice: whether the next signal has come.
    [[nodiscard]] bool has_come(std::uint64_t received) const noexcept {
        return count.load(std::memory_order_relaxed) >= signed_count(received + 1, 0);
    }

    /// Waits for the next signal; `received` is the receiver's private count. False: `waiter` gave
    /// up, and the signal still counts as not received; or it has another signature, which
    /// `is_foreign` tells.
    template <class Waiter>
    [[nodiscard]] bool wait(Waiter& waiter, std::uint64_t& received, Signature signature = 0,
                            bool* is_foreign = nullptr) const {
        const std::uint64_t least = signed_count(received + 1, 0);
        std::uint64_t seen = 0;
        if (!waiter.await(
                count, std::memory_order_acquire, // P1 acquire
                [least](std::uint64_t value) { return value >= least; }, seen)) {
            return false;
        }
        if (contradicts(seen, least | signature)) [[unlikely]] {
            *is_foreign = true;
            return false;
        }
        CORYMB_ASSERT(seen >> 16U > received);
        ++received;
        return true;
    }
};

} // namespace corymb::channel
