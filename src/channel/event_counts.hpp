// SPDX-License-Identifier: Apache-2.0
// Purpose: lets a thread sleep in several event counts at once, as one that waits for a team, a
// mailbox and a stop from another thread does.
//
// Roles: one EventCounts per sleeper, used by that thread only. It owns some of its event counts,
// and is one of many sleepers of the others. Wakers are those of the single event counts and know
// nothing of it.
//
// Layout: private to the thread.
//
// Protocol: that of EventCount::park with every step done for all event counts: announce in all,
// look, sleep while each word is as it was announced, look again, take all announcements back.
// Anybody may wake: no waker is named. Where the kernel cannot sleep on several words, the thread
// sleeps on the first one, for `tuning::nap_ns` at most, and looks.
//
// Order: F1 of EventCount, for each of them.
//
// Progress: as of EventCount::park.
//
// Checked by: verify/worlds/event_counts_world.cpp.
#pragma once

#include "channel/event_count.hpp"
#include "channel/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace corymb::channel {

template <class Env>
class EventCounts {
public:
    void clear() noexcept {
        own_.clear();
        shared_.clear();
        words_.clear();
    }
    /// An event count that outlives the next `park` and that the caller owns.
    void add(EventCount<Env>& events) {
        words_.reserve(own_.size() + shared_.size() + 1);
        own_.push_back(&events);
    }
    /// One in which others sleep, too.
    void add(EventCount<Env, Sleepers::many>& events) {
        words_.reserve(own_.size() + shared_.size() + 1);
        shared_.push_back(&events);
    }

    /// As EventCount::park, for anybody. Needs one event count of its own.
    template <class Done, class Stop, class TimeLeft>
    bool park(const Done& done, const Stop& stop, const TimeLeft& time_left_ns) noexcept {
        for (EventCount<Env>* const one : own_) {
            one->forget_waker();
        }
        for (;;) {
            announce();
            const bool is_done = done();
            if (is_done || stop()) {
                retract();
                return is_done;
            }
            sleep(time_left_ns());
            if (done()) {
                retract();
                return true;
            }
        }
    }
    // The parts of `park`, for a thread that sleeps in the owner's stead.
    using Words = std::vector<FutexWord<typename Env::template Atomic<std::uint32_t>>>;
    /// Says that the caller is about to sleep. It must look at its condition after this call.
    /// Returns the words to sleep on, while they are as expected.
    const Words& announce() noexcept {
        words_.clear();
        for (EventCount<Env>* const one : own_) {
            words_.push_back(one->word_to_sleep_on(one->announce()));
        }
        for (EventCount<Env, Sleepers::many>* const one : shared_) {
            words_.push_back(one->word_to_sleep_on(one->announce()));
        }
        return words_;
    }
    /// Says that the owner is awake and will not sleep.
    void retract() noexcept {
        for (EventCount<Env>* const one : own_) {
            one->retract();
        }
    }

    /// As EventCount::waker_cpu, of one that was woken.
    [[nodiscard]] int waker_cpu() const noexcept {
        int cpu = -1;
        for (const EventCount<Env>* const one : own_) {
            cpu = std::max(cpu, one->waker_cpu());
        }
        return cpu;
    }

private:
    void sleep(std::int64_t timeout_ns) noexcept {
        if (words_.size() == 1) {
            own_.front()->sleep(words_.front().expected, timeout_ns);
        } else if (!Env::futex_wait_any(words_, timeout_ns)) {
            own_.front()->sleep(words_.front().expected,
                                std::min(timeout_ns, tuning::nap_ns.value()));
        }
    }

    std::vector<EventCount<Env>*> own_;
    std::vector<EventCount<Env, Sleepers::many>*> shared_;
    Words words_; ///< Invariant: has room for a word of each.
};

} // namespace corymb::channel
