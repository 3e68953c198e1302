// SPDX-License-Identifier: Apache-2.0
// The channel that is measured: the ring of lines that teams use (channel/channels.hpp), in both
// directions, so that credits ride on the opposite traffic as they do there.
#pragma once

#include "channel/channels.hpp"
#include "channel/env.hpp"
#include "channel/wait_ladder.hpp"
#include "machine/discover/ticks.hpp"

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace corymb::discover {

using LineRing = channel::LineRing<channel::StandardEnv>;
using LineSender = channel::SlotSender<channel::StandardEnv, LineRing>;
using LineReceiver = channel::SlotReceiver<channel::StandardEnv, LineRing>;

/// A ring there and one back.
struct Duplex {
    LineRing there;
    LineRing back;
};

/// Spins, then yields, then gives up: a peer may be descheduled for long, or share this CPU. Giving
/// up raises `stop`, so that every thread of the run ends.
class BoundedWaiter {
public:
    BoundedWaiter(std::atomic<bool>& stop, Ticks deadline, Ticks patience) noexcept
        : stop_(&stop), deadline_(deadline), patience_(patience) {}

    template <class Atomic, class Ready, class Value>
    bool await(const Atomic& word, std::memory_order order, Ready ready, Value& seen) {
        for (int poll = 0; poll < polls_between_checks; ++poll) {
            seen = word.load(order);
            if (ready(seen)) {
                return true;
            }
            channel::cpu_pause();
        }
        return await_long(word, order, ready, seen);
    }
    [[nodiscard]] bool stopped() const noexcept { return stop_->load(std::memory_order_relaxed); }

private:
    static constexpr int polls_between_checks = 128;

    template <class Atomic, class Ready, class Value>
    bool await_long(const Atomic& word, std::memory_order order, Ready ready, Value& seen) {
        const Ticks begin = ticks();
        for (int poll = 0;; ++poll) {
            seen = word.load(order);
            if (ready(seen)) {
                return true;
            }
            channel::cpu_pause();
            if (poll % polls_between_checks != 0) {
                continue;
            }
            const Ticks now = ticks();
            if (now > deadline_) {
                stop_->store(true, std::memory_order_relaxed);
            }
            if (stopped()) {
                return false;
            }
            if (now - begin > patience_) {
                sched_yield();
            }
        }
    }

    std::atomic<bool>* stop_;
    Ticks deadline_;
    Ticks patience_; ///< Time of spinning before the CPU is offered to others.
};

/// One thread's end of a Duplex.
class LineEnd {
public:
    LineEnd() noexcept = default;
    LineEnd(LineRing& out, LineRing& in) noexcept : out_(out), in_(in) {}

    bool send(BoundedWaiter& waiter, std::uint64_t value) {
        return out_.send(waiter, &value, sizeof value, in_.consumed());
    }
    bool receive(BoundedWaiter& waiter, std::uint64_t& value) {
        std::uint64_t word = 0;
        const std::byte* const payload = in_.receive(waiter, sizeof value, word);
        if (payload == nullptr) {
            return false;
        }
        std::memcpy(&value, payload, sizeof value);
        out_.accept_credit(word);
        in_.release();
        return true;
    }
    bool receive(BoundedWaiter& waiter) {
        std::uint64_t ignored = 0;
        return receive(waiter, ignored);
    }

private:
    LineSender out_;
    LineReceiver in_;
};

} // namespace corymb::discover
