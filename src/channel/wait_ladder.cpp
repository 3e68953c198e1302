// SPDX-License-Identifier: Apache-2.0
#include "channel/wait_ladder.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <limits>
#include <sched.h>

namespace corymb::channel {

namespace {

constexpr std::int64_t forever_ns = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::int64_t microsecond = 1000;
constexpr int looks_per_clock = 16; // A look with its pause costs about as much as the clock.

// What a sleep and its wake-up cost is 5-50 us; waiting that long awake at most doubles the price
// of a wait (the competitive rule). Yielding is cheap for others, so it may go on longer.
constexpr std::int64_t spin_most = 20 * microsecond;
constexpr std::int64_t yield_most = 100 * microsecond;
constexpr std::int64_t yield_most_oversubscribed = 400 * microsecond;
constexpr std::int64_t budget_least = 1 * microsecond;

} // namespace

WaitLadder::WaitLadder(Spot& spot, const Flag& broken, const Settings& settings) noexcept
    : quick_looks_(settings.oversubscribed ? 2 : 32), spin_ns_max_(spin_most),
      yield_ns_max_(yield_most),
      deadline_ns_(settings.deadline_ns > 0 ? settings.deadline_ns : forever_ns), spot_(&spot),
      broken_(&broken) {
    switch (settings.policy) {
    case WaitPolicy::ladder:
        if (settings.oversubscribed) {
            spin_ns_max_ = 0;
            yield_ns_max_ = yield_most_oversubscribed;
        }
        break;
    case WaitPolicy::spin: spin_ns_max_ = forever_ns; break;
    case WaitPolicy::yield:
        spin_ns_max_ = 0;
        yield_ns_max_ = forever_ns;
        break;
    case WaitPolicy::park:
        quick_looks_ = 1;
        spin_ns_max_ = yield_ns_max_ = 0;
        break;
    }
    spin_ns_ = spin_ns_max_;
    yield_ns_ = yield_ns_max_;
}

bool WaitLadder::climb(const Look& look) noexcept {
    const std::int64_t begin = now_ns();
    for (auto rung : {&WaitLadder::spin, &WaitLadder::yield, &WaitLadder::park}) {
        switch ((this->*rung)(look, begin)) {
        case Rung::satisfied: return true;
        case Rung::give_up: return false;
        case Rung::next: break;
        }
    }
    return false;
}

bool WaitLadder::must_give_up(std::int64_t begin, std::int64_t now) noexcept {
    if (broken_->load(std::memory_order_relaxed) != 0) {
        return true;
    }
    timed_out_ = now - begin >= deadline_ns_;
    return timed_out_;
}

WaitLadder::Rung WaitLadder::spin(const Look& look, std::int64_t begin) noexcept {
    std::int64_t now = begin;
    while (now - begin < spin_ns_) {
        for (int i = 0; i < looks_per_clock; ++i) {
            if (look()) {
                learn(false);
                return Rung::satisfied;
            }
            cpu_pause();
        }
        now = now_ns();
        if (must_give_up(begin, now)) {
            return Rung::give_up;
        }
    }
    return Rung::next;
}

WaitLadder::Rung WaitLadder::yield(const Look& look, std::int64_t begin) noexcept {
    const std::int64_t until = spin_ns_ + yield_ns_;
    std::int64_t now = begin;
    while (now - begin < until) {
        if (look()) {
            learn(false);
            return Rung::satisfied;
        }
        ::sched_yield();
        now = now_ns();
        if (must_give_up(begin, now)) {
            return Rung::give_up;
        }
    }
    return Rung::next;
}

WaitLadder::Rung WaitLadder::park(const Look& look, std::int64_t begin) noexcept {
    for (;;) {
        spot_->announce();
        const bool done = look();
        const std::int64_t now = now_ns();
        if (done || must_give_up(begin, now)) {
            spot_->retract();
            if (done) {
                learn(now - begin > 2 * (spin_ns_max_ + yield_ns_max_));
            }
            return done ? Rung::satisfied : Rung::give_up;
        }
        spot_->sleep(deadline_ns_ - (now - begin));
    }
}

void WaitLadder::learn(bool was_long) noexcept {
    const auto next = [was_long](std::int64_t budget, std::int64_t most) {
        if (was_long) {
            return std::min(most, std::max(budget / 2, budget_least));
        }
        return std::min(most, budget * 2);
    };
    spin_ns_ = next(spin_ns_, spin_ns_max_);
    yield_ns_ = next(yield_ns_, yield_ns_max_);
}

} // namespace corymb::channel
