// SPDX-License-Identifier: Apache-2.0
#include "channel/wait_ladder.hpp"

#include "base/membarrier.hpp"
#include "base/wait_clock.hpp"
#include "channel/meanwhile.hpp"
#include "channel/tuning.hpp"
#include "channel/urgent_visits.hpp"

#include <algorithm>
#include <ctime>
#include <sched.h>

namespace corymb::channel {

namespace {

// A long wait looks at its peers after 1, 2, 4, 8, 16 times watch_from_ns, and then every 20 times.
constexpr std::int64_t watch_intervals_max = 20;

std::int64_t visits_apart_most(std::int64_t waited_ns) noexcept {
    return std::min(waited_ns, tuning::visits_apart_most_ns.value());
}

/// The shortest sleep whose end costs next to nothing: two ticks of the kernel's clock. An end
/// before the next tick has to be programmed into the CPU's timer. In a virtual machine with ticks
/// of 4 ms, a switch between two processes took 7 to 9 us if sleeps ended after 1 ms, and 2.5 us if
/// they ended after 10 ms.
std::int64_t cheap_sleep_ns() noexcept {
    static const std::int64_t two_ticks = [] {
        timespec tick{};
        ::clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
        return 2 * (tick.tv_sec * std::int64_t{1'000'000'000} + tick.tv_nsec);
    }();
    return two_ticks;
}

bool is_urgent(const Watch* visitor) noexcept {
    return visitor != nullptr && visits_are_urgent.load(std::memory_order_relaxed);
}

/// Looks and visits in turns as long as visits are urgent.
Patience::Outcome stay_awake(const Look& look, const Look& stop, const Watch* visitor,
                             bool is_crowded) noexcept {
    while (is_urgent(visitor)) {
        if (look_for_a_while(look, tuning::looks_per_visit)) {
            return Patience::Outcome::satisfied;
        }
        if (stop()) {
            return Patience::Outcome::stopped;
        }
        if (is_crowded) {
            ::sched_yield();
        }
    }
    return Patience::Outcome::exhausted;
}

} // namespace

void WaitLadder::note_cpu() noexcept {
    seat_->begin(::sched_getcpu());
}

bool WaitLadder::want_the_cpu() noexcept {
    return !seat_ || expected() < 0 || seat_->is_wanted(static_cast<std::size_t>(expected()));
}

bool WaitLadder::are_here(std::int64_t now_ns) noexcept {
    return mates_.are_here(now_ns);
}

std::int64_t WaitLadder::take_turn() noexcept {
    return seat_ ? seat_->take_turn() : 0;
}

Stranger* WaitLadder::stranger() noexcept {
    return seat_ ? seat_->stranger() : mates_.stranger();
}

/// A rank whose longer waits mostly sleep, as beside busy neighbours, spares itself the heavy fence
/// of each sleep: its wakers pay a full fence for each message. The guess is that of a branch
/// predictor of two bits, so that a wait that is an exception changes nothing. So does a rank of a
/// process whose heavy fences take too long: they are the only ones that reach other processes.
void WaitLadder::expect_sleeps(int change) noexcept {
    sleeps_ = std::clamp(sleeps_ + change, 0, 3);
    const bool spares_heavy = sleeps_ >= 2 || membarrier::is_dear();
    spot_->set_fencing(spares_heavy ? Fencing::both : Fencing::sleeper);
}

bool WaitLadder::climb(const Look& look, const Look* background) noexcept {
    if (background == nullptr) {
        return climb(look, awaited_);
    }
    // The rank sleeps on one spot for all that it waits for: after each announcement it looks at
    // everything.
    auto look_around = [&]() noexcept {
        static_cast<void>((*background)());
        return look();
    };
    return climb(Look(look_around), Awaited());
}

bool WaitLadder::climb(const Look& look, const Awaited& awaited) noexcept {
    const std::int64_t begin = now_ns();
    const std::uint64_t sleeps = record_.sleeps();
    const bool done = climb_from(begin, look, awaited);
    const bool has_slept = record_.sleeps() != sleeps;
    record_.note_wait(awaited_.last(has_slept ? spot_->waker() : 0), now_ns() - begin);
    return done;
}

bool WaitLadder::climb_from(std::int64_t begin, const Look& look, const Awaited& whom) noexcept {
    WaitClock clock(begin, late_ns_);
    std::int64_t next_watch = watch_from_ns_;
    std::int64_t next_visit = visitor_every_ns_;
    std::int64_t visits_apart_least = visitor_every_ns_;
    auto stop_condition = [&]() noexcept {
        if (broken_->load(std::memory_order_acquire) != 0) { // P1 acquire
            return true;
        }
        std::int64_t waited = clock.waited_ns();
        if (watch_ != nullptr && waited >= next_watch) {
            lost_ = watch_->is_lost();
            next_watch =
                waited + std::clamp(waited, watch_from_ns_, watch_from_ns_ * watch_intervals_max);
        }
        const bool is_due =
            waited >= next_visit || (waited >= tuning::urgent_from_ns && is_urgent(visitor_));
        if (visitor_ != nullptr && is_due && !lost_) {
            lost_ = visitor_->is_lost();
            last_visit_ns_ = now_ns();
            waited = clock.waited_ns(); // A visit may take longer than the time between visits.
            next_visit = waited + std::max(visits_apart_least, visits_apart_most(waited / 4));
        }
        timed_out_ = waited >= deadline_ns_;
        return timed_out_ || lost_;
    };
    const Look stop(stop_condition);
    // The awaited message may have come after the last look, and its sender may have broken the
    // team since: a wait that has all it needs is not given up.
    auto came_after_all = [&]() noexcept {
        const bool is_there = look();
        timed_out_ = timed_out_ && !is_there;
        lost_ = lost_ && !is_there;
        return is_there;
    };
    auto time_left = [&]() noexcept {
        const std::int64_t watch = std::max(next_watch, clock.waited_ns() + cheap_sleep_ns());
        std::int64_t until = watch_ == nullptr ? deadline_ns_ : std::min(deadline_ns_, watch);
        until = visitor_ == nullptr ? until : std::min(until, next_visit);
        return std::max<std::int64_t>(until - clock.waited_ns(), 1);
    };
    if (Meanwhile* const others = meanwhile()) [[unlikely]] {
        const auto found =
            others->wait({look, stop, TimeLeft(time_left), spot_, nullptr, mates_.cpus()});
        if (found != Meanwhile::Outcome::alone) {
            return found == Meanwhile::Outcome::satisfied || came_after_all();
        }
    }
    auto outcome = patience_.wait_awake(look, stop, this, begin);
    if (outcome == Patience::Outcome::exhausted) {
        outcome = stay_awake(look, stop, visitor_, is_crowded_ || mates_.are_here(now_ns()));
    }
    expect_sleeps(outcome == Patience::Outcome::exhausted ? 1 : -1);
    if (outcome != Patience::Outcome::exhausted) {
        return outcome == Patience::Outcome::satisfied || came_after_all();
    }
    if (is_crowded_ && background_ == nullptr && !are_visits_urgent_) {
        visits_apart_least = std::max(visitor_every_ns_, tuning::visits_apart_most_ns.value());
        // Since the last one in whichever wait: of many short waits none would have any.
        next_visit = std::max(next_visit, last_visit_ns_ + visits_apart_least - begin);
    }
    auto sleep_ns = [&]() noexcept {
        const std::int64_t sleep = time_left();
        clock.expect_sleep(sleep);
        return sleep;
    };
    return sleep_until(begin, look, stop, TimeLeft(sleep_ns), whom) || came_after_all();
}

bool WaitLadder::sleep_until(std::int64_t begin, const Look& look, const Look& stop,
                             const TimeLeft& sleep_ns, const Awaited& whom) noexcept {
    record_.note_sleep();
    auto look_after_sleep = [&]() noexcept {
        take_turn();
        return look();
    };
    const bool done = spot_->park(look_after_sleep, stop, sleep_ns, whom);
    const std::int64_t end = now_ns();
    mates_.note_waker(spot_->waker_cpu(), end);
    patience_.learn_from_sleep(end - begin);
    return done;
}

} // namespace corymb::channel
