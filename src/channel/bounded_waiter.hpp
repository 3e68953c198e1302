// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "channel/patience.hpp"

#include <atomic>
#include <cstdint>
#include <sched.h>

namespace corymb::channel {

/// The waiter of measurements, which never sleeps: a wake-up would be measured with the rest. It
/// spins, then yields, then gives up: a peer may be descheduled for long, or share this CPU. Giving
/// up raises `stop`, so that every thread of the measurement ends.
class BoundedWaiter {
public:
    /// The time of spinning before the CPU is offered to others. Yields that nobody needs would
    /// count as time of the channel; a peer without a CPU gets one after so long at most.
    static constexpr std::int64_t patience_ns = 50'000;

    BoundedWaiter(std::atomic<bool>& stop, std::int64_t limit_ns) noexcept
        : stop_(&stop), deadline_ns_(now_ns() + limit_ns) {}

    template <class Atomic, class Ready, class Value>
    bool await(const Atomic& word, std::memory_order order, Ready ready, Value& seen) {
        auto look = [&]() noexcept {
            seen = word.load(order);
            return ready(seen);
        };
        return look_for_a_while(look, looks_between_checks) || await_long(look);
    }
    [[nodiscard]] bool stopped() const noexcept { return stop_->load(std::memory_order_relaxed); }

private:
    static constexpr int looks_between_checks = 128;

    template <class F>
    bool await_long(F& look) {
        const std::int64_t begin = now_ns();
        while (!look_for_a_while(look, looks_between_checks)) {
            const std::int64_t now = now_ns();
            if (now > deadline_ns_) {
                stop_->store(true, std::memory_order_relaxed);
            }
            if (stopped()) {
                return false;
            }
            if (now - begin > patience_ns) {
                ::sched_yield();
            }
        }
        return true;
    }

    std::atomic<bool>* stop_;
    std::int64_t deadline_ns_;
};

} // namespace corymb::channel
