// SPDX-License-Identifier: Apache-2.0
#include "channel/wait_ladder.hpp"

#include "base/clock.hpp"

namespace corymb::channel {

bool WaitLadder::climb(const Look& look) noexcept {
    const std::int64_t begin = now_ns();
    auto stop_condition = [&]() noexcept {
        if (broken_->load(std::memory_order_relaxed) != 0) {
            return true;
        }
        timed_out_ = now_ns() - begin >= deadline_ns_;
        return timed_out_;
    };
    const Look stop(stop_condition);

    const auto outcome = patience_.wait_awake(look, stop, begin);
    if (outcome != Patience::Outcome::exhausted) {
        return outcome == Patience::Outcome::satisfied;
    }
    const bool done =
        spot_->park(look, stop, [&]() noexcept { return deadline_ns_ - (now_ns() - begin); });
    patience_.learn_from_sleep(now_ns() - begin);
    return done;
}

} // namespace corymb::channel
