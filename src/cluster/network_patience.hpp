// SPDX-License-Identifier: Apache-2.0
// How a rank waits for other nodes: it gives its CPU away the longer the wait takes, and sees now
// and then whether its own node still stands.
#pragma once

#include "base/wait_clock.hpp"
#include "channel/meanwhile.hpp"
#include "cluster/tuning.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

namespace corymb::cluster {

class NetworkPatience {
public:
    /// `oversubscribed`: not every rank of the node has a CPU.
    explicit NetworkPatience(bool oversubscribed) noexcept
        : looks_first_(oversubscribed ? tuning::looks_at_once - 1 : 0), looks_(looks_first_),
          yield_for_ns_(oversubscribed ? tuning::yield_ns_crowded : tuning::yield_ns_alone) {}

    /// A wait is for as long as nothing moves: it begins anew when `moves` is another number.
    void follow(std::uint64_t moves) noexcept {
        if (moves != moves_) {
            moves_ = moves;
            looks_ = looks_first_;
            since_ns_ = waited_ns_ = 0;
            yields_ = true;
        }
    }

    /// Call it after a look in vain. True: the wait is long enough for the caller to check for
    /// failures (`waited_ns`, and its node each time that `must_watch` says so).
    [[nodiscard]] bool is_long() {
        if (looks_ < tuning::looks_at_once) {
            ++looks_;
            return false;
        }
        const std::int64_t now = now_ns();
        if (since_ns_ == 0) {
            since_ns_ = watched_ns_ = now;
        } else {
            // A process that was stopped, and its peers with it, could not look (WaitClock).
            since_ns_ +=
                std::max<std::int64_t>(now - since_ns_ - waited_ns_ - WaitClock::slice_ns, 0);
            yields_ = yields_ && now - since_ns_ < yield_for_ns_ &&
                      now - since_ns_ - waited_ns_ < tuning::slice_ns;
        }
        waited_ns_ = now - since_ns_;
        if (channel::rest_meanwhile(yields_ ? 0 : tuning::nap_ns.value())) [[unlikely]] {
            return true;
        }
        if (yields_) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(std::chrono::nanoseconds(tuning::nap_ns));
        }
        return true;
    }
    [[nodiscard]] std::int64_t waited_ns() const noexcept { return waited_ns_; }
    /// Once in `every_ns`, first after so long.
    [[nodiscard]] bool must_ask(std::int64_t every_ns) noexcept {
        const std::int64_t now = since_ns_ + waited_ns_;
        if (now - std::max(asked_ns_, since_ns_) < every_ns) {
            return false;
        }
        asked_ns_ = now;
        return true;
    }
    [[nodiscard]] bool must_watch() noexcept {
        if (since_ns_ + waited_ns_ - watched_ns_ < watch_every_ns) {
            return false;
        }
        watched_ns_ = since_ns_ + waited_ns_;
        return true;
    }

private:
    static constexpr std::int64_t watch_every_ns = 20'000'000;

    int looks_first_;
    int looks_;
    std::int64_t yield_for_ns_;
    bool yields_ = true;
    std::uint64_t moves_ = 0;
    std::int64_t since_ns_ = 0;
    std::int64_t waited_ns_ = 0;
    std::int64_t watched_ns_ = 0;
    std::int64_t asked_ns_ = 0;
};

} // namespace corymb::cluster
