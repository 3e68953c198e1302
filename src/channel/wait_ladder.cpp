// SPDX-License-Identifier: Apache-2.0
#include "channel/wait_ladder.hpp"

#include "base/clock.hpp"

#include <sched.h>

namespace corymb::channel {

void WaitLadder::note_cpu() noexcept {
    seat_->begin(::sched_getcpu());
}

bool WaitLadder::climb(const Look& look, const Look* background) noexcept {
    if (background == nullptr) {
        return climb(look);
    }
    // The rank sleeps on one spot for all that it waits for: after each announcement it looks at
    // everything.
    auto look_around = [&]() noexcept {
        static_cast<void>((*background)());
        return look();
    };
    return climb(Look(look_around));
}

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
    auto wanted_condition = [&]() noexcept {
        return !seat_ || awaited_ < 0 || seat_->is_wanted(static_cast<std::size_t>(awaited_));
    };
    const Look wanted(wanted_condition);

    const auto outcome = patience_.wait_awake(look, stop, wanted, begin);
    if (outcome != Patience::Outcome::exhausted) {
        return outcome == Patience::Outcome::satisfied;
    }
    const bool done =
        spot_->park(look, stop, [&]() noexcept { return deadline_ns_ - (now_ns() - begin); });
    patience_.learn_from_sleep(now_ns() - begin);
    return done;
}

} // namespace corymb::channel
