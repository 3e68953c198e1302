// SPDX-License-Identifier: Apache-2.0
// Purpose: lets threads sleep in the kernel until others make a condition true, at the price of one
// load of a usually shared line for those others.
//
// Roles: sleepers, which park, and wakers, any number of either. Each waker makes the condition
// true first and then calls wake_if_parked. The condition is some other atomic word. Where
// Sleepers::one is said, there is one sleeper, the owner. Only an owner names the waker that it
// awaits, takes its announcement back, and changes who pays for its sleeps.
//
// Layout:
//   line  bytes  field    written by         read by
//   0     4      word     sleepers, wakers   wakers, kernel     awaited | events counted << 16
//   0     4      reach    at the start       everybody          whether some are in other processes
//   0     4      fencing  owner              wakers             which fences both sides execute
//   0     4      waker    owner, wakers      sleepers           who woke last, and where: advice
//   0     4      moved    nobody             kernel             sleepers that its owner will wake
//   `awaited` is 0 if nobody sleeps, or the key of the waker that the owner awaits, or the number
//   of wakers that it awaits, or `anybody`.
//
// Protocol:
//   sleeper  1. announce: awaited = key, and keep the word; 2. own fence; 3. look at the condition
//            once more; 4. if it does not hold, and the key is still right: sleep while the word is
//            as it was kept, and look again; 5. go to 1 unless it holds; 6. an owner: awaited = 0.
//   waker    1. make the condition true; 2. own fence; 3. if awaited is `anybody` or the waker's
//            own key, or is not 0 and the waker has none: count an event, with which awaited
//            becomes 0, and wake everybody. If awaited is a number of wakers, take one off, and do
//            that for the last.
//   Only the waker with the key can make the condition of that sleep true, so that all others leave
//   the owner asleep. Ranks that share a key wake each other's sleepers in vain.
//   An owner that has to wait for several wakers, whoever comes first, may give their number. It
//   counts them again after its fence. A waker that was missing then sees the number and takes one
//   off. So the number never exceeds those who still have to come, and the owner is not woken too
//   late, though maybe too early: by wakers that came in between.
//   An owner that wakes several others moves their sleeps to a word of its own and ends them there
//   together. If it dies in between, they sleep until their time has passed.
//   Sleepers of Sleepers::many announce `anybody` and take nothing back: one that need not sleep
//   after all costs one idle wake-up. Because events are counted, a sleeper that looked before an
//   event does not sleep after it, even if another sleeper has announced itself again. An owner has
//   no such neighbour and begins the count anew with each announcement.
//   A waker that comes late can find a newer announcement and count its event for that: the sleep
//   then returns at once, and the sleeper looks and announces again. Wake-ups are never lost,
//   sometimes idle.
//
// Order: store-then-load on both sides (Dekker), decided by the fence pair:
//   F1: light_fence between the waker's condition store and its load of the word <-> heavy_fence
//       between the sleeper's change of the word and its load of the condition. At least one of the
//       two loads sees the other side's store. All accesses to the word are relaxed: nothing is
//       published through it, the condition word carries its own release/acquire pair. Between
//       processes the heavy fence is the one that reaches all of them (base/membarrier.hpp);
//       a team in which one process cannot be reached has full light fences. With Fencing::both the
//       two are full_fence <-> full_fence instead. When an owner goes over to that, its next fence
//       is still heavy: a waker whose light fence came before it has made its condition true by
//       then, and one whose light fence comes after it sees the new value of `fencing`.
//
// Progress: wake_if_parked is lock-free, and without sleepers wait-free; it has a system call when
// somebody sleeps. A sleeper that misses a multiple of 2^16 events between looking and sleeping
// could sleep too long; it has a limit anyway.
//
// Checked by: verify/worlds/event_count_world.cpp (no lost wake-up: deadlock detection), loom.
#pragma once

#include "base/cache_line.hpp"
#include "base/reach.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <sched.h>

namespace corymb::channel {

/// A word of an Env in which a thread sleeps while it is as expected.
template <class Word>
struct FutexWord {
    const Word* word;
    std::uint32_t expected;
    Reach reach;
};

/// Says which side pays for a sleep. The heavy fence interrupts other CPUs, which takes
/// microseconds: too much for an owner that sleeps again and again because it has no CPU of its
/// own.
enum class Fencing : std::uint32_t {
    sleeper, ///< A heavy fence before each sleep, a light one for each wake-up.
    both,    ///< A full fence each.
};

enum class Sleepers : std::uint8_t {
    one,  ///< One thread sleeps, the owner.
    many, ///< Any number of threads do.
};

/// Names a waker, or says how many wakers are awaited.
using WakeKey = std::uint32_t;
inline constexpr WakeKey anybody = 0xffff;
inline constexpr WakeKey no_wakers = 0x8000;
/// Ranks below 0 stand for anybody.
constexpr WakeKey wake_key(std::int32_t rank) noexcept {
    return rank < 0 ? anybody : static_cast<WakeKey>(rank) % (no_wakers - 1) + 1;
}
/// Fewer, if they are more than a word can hold: then the owner is woken too early.
constexpr WakeKey wake_after(std::uint32_t wakers) noexcept {
    return std::min(no_wakers + wakers, anybody - 1);
}

/// What an owner sleeps for: a rank, and maybe further ones in a row. Not owning.
class Awaited {
public:
    /// Ranks below 0 stand for any.
    explicit Awaited(std::int32_t rank = -1) noexcept : rank_(rank) {}
    /// `row.missing()` says how many ranks are missing that have to come first, with this one.
    template <class R>
    Awaited(std::int32_t rank, const R& row) noexcept
        : rank_(rank), row_(&row), missing_([](const void* self) noexcept {
              return static_cast<const R*>(self)->missing();
          }) {}
    [[nodiscard]] std::int32_t rank() const noexcept { return rank_; }
    /// As far as is known, the rank that came last of those awaited; `waker` is the one that woke
    /// the owner, 0 if nobody did.
    [[nodiscard]] std::int32_t last(WakeKey waker) const noexcept {
        const bool is_rank = waker != 0 && waker < no_wakers;
        return row_ != nullptr && is_rank ? static_cast<std::int32_t>(waker) - 1 : rank_;
    }
    [[nodiscard]] WakeKey key() const noexcept {
        const std::uint32_t missing = row_ == nullptr ? 0 : missing_(row_);
        return missing > 1 ? wake_after(missing) : wake_key(rank_);
    }

private:
    std::int32_t rank_;
    const void* row_ = nullptr;
    std::uint32_t (*missing_)(const void*) noexcept = nullptr;
};

template <class Env, Sleepers Allowed = Sleepers::one>
class alignas(line_pair_bytes) EventCount {
public:
    EventCount() noexcept = default;
    explicit EventCount(Reach reach, Fencing fencing = Fencing::sleeper) noexcept
        : reach_(reach), fencing_(number(fencing)), wakers_pay_(fencing == Fencing::both),
          is_fixed_(fencing == Fencing::both) {}

    /// Sleeper: sleeps until `done` or `stop`, which are looked at after each announcement;
    /// `time_left_ns` gives the longest sleep. Returns whether it was `done`. Nobody but those
    /// whom an owner awaits may make `done` true. A thread that makes `stop` true must wake without
    /// a key. After a wake-up the sleeper looks at `done` before it announces again, because
    /// another heavy fence would make it late.
    template <class Done, class Stop, class TimeLeft>
    bool park(const Done& done, const Stop& stop, const TimeLeft& time_left_ns,
              const Awaited& awaited = Awaited()) noexcept {
        forget_waker();
        for (;;) {
            const WakeKey key = awaited.key();
            const std::uint32_t heard = announce(key);
            const bool is_done = done();
            if (is_done || stop()) {
                retract();
                return is_done;
            }
            if (awaited.key() != key) {
                continue;
            }
            sleep(heard, time_left_ns());
            if (done()) {
                retract();
                return true;
            }
        }
    }

    // The parts of `park`.
    /// Says that the caller is about to sleep. It must look at its condition after this call.
    std::uint32_t announce(WakeKey key = anybody) noexcept {
        const std::uint32_t heard = put(key);
        if (wakers_pay_) {
            Env::full_fence(); // F1
        } else {
            Env::heavy_fence(reach_); // F1
            if constexpr (is_owned) {
                wakers_pay_ = fencing_.load(std::memory_order_relaxed) == number(Fencing::both);
            }
        }
        return heard;
    }
    /// Sleeps until woken or `timeout_ns` has passed; may return early. `heard` as announced.
    void sleep(std::uint32_t heard, std::int64_t timeout_ns) noexcept {
        Env::futex_wait(word_, heard, timeout_ns, reach_);
    }
    /// What `sleep` sleeps on, for a sleeper of several.
    [[nodiscard]] FutexWord<typename Env::template Atomic<std::uint32_t>>
    word_to_sleep_on(std::uint32_t heard) const noexcept {
        return {&word_, heard, reach_};
    }
    /// Owner: nobody has woken it in the sleep that begins.
    void forget_waker() noexcept {
        if constexpr (is_owned) {
            waker_.store(0, std::memory_order_relaxed);
        }
    }
    /// Says that the owner is awake and will not sleep.
    void retract() noexcept {
        if constexpr (is_owned) {
            word_.store(0, std::memory_order_relaxed);
        }
    }

    /// Owner, awake: who pays for the sleeps that follow. An event count that was made with `both`
    /// stays so, because heavy fences may not reach its wakers.
    void set_fencing(Fencing fencing) noexcept {
        static_assert(is_owned);
        if (!is_fixed_ && fencing_.load(std::memory_order_relaxed) != number(fencing)) {
            fencing_.store(number(fencing), std::memory_order_relaxed);
            wakers_pay_ = false; // Until the next heavy fence, a waker may not know of it.
        }
    }

    /// Sleeper, after `park`: on which CPU its waker ran, -1 when nobody had to wake it. With many
    /// sleepers: where the last waker of any of them ran, -1 when there was none.
    [[nodiscard]] int waker_cpu() const noexcept {
        return static_cast<int>(waker_.load(std::memory_order_relaxed) & cpu_mask) - 1;
    }
    /// Owner, after `park`: the key of the last waker, 0 when there was none.
    [[nodiscard]] WakeKey waker() const noexcept {
        return waker_.load(std::memory_order_relaxed) >> cpu_bits;
    }

    /// Anybody, for people: whether somebody sleeps or is about to.
    [[nodiscard]] bool is_parked() const noexcept {
        return awaited_of(word_.load(std::memory_order_relaxed)) != 0;
    }

    /// Waker: to be called after the store that makes a sleeper's condition true.
    void wake_if_parked(WakeKey own = anybody) noexcept {
        Env::light_fence(); // F1
        if (const std::uint32_t heard = hear(); is_for(heard, own)) [[unlikely]] {
            wake(heard, own);
        }
    }

    /// Waker, with its own event count: as wake_if_parked of each of `others`. Those who sleep are
    /// woken together. Woken one by one, each could take the waker's CPU before the next is woken.
    template <class Others>
    void wake_those_parked(const Others& others, WakeKey own = anybody) noexcept {
        Env::light_fence(); // F1
        EventCount* first = nullptr;
        int moved = 0;
        for (EventCount* other : others) {
            const std::uint32_t heard = other->hear();
            if (is_for(heard, own) && other->count_event(heard, own)) [[unlikely]] {
                moved += first == nullptr ? 0 : other->move_to(moved_);
                first = first == nullptr ? other : first;
            }
        }
        if (first != nullptr) [[unlikely]] {
            moved += moved == 0 ? 0 : first->move_to(moved_);
            moved == 0 ? first->rouse() : Env::futex_wake(moved_, moved, reach_);
        }
    }

private:
    static constexpr bool is_owned = Allowed == Sleepers::one;
    static constexpr unsigned cpu_bits = 16;
    static constexpr std::uint32_t cpu_mask = (1U << cpu_bits) - 1;
    static constexpr std::uint32_t number(Fencing fencing) noexcept {
        return static_cast<std::uint32_t>(fencing);
    }
    static constexpr WakeKey awaited_of(std::uint32_t word) noexcept { return word & anybody; }
    /// Whether somebody sleeps that has to know of the waker `own`.
    static constexpr bool is_for(std::uint32_t word, WakeKey own) noexcept {
        const WakeKey awaited = awaited_of(word);
        return awaited != 0 && (own == anybody || awaited >= no_wakers || awaited == own);
    }
    static constexpr std::uint32_t after_an_event(std::uint32_t word, WakeKey own) noexcept {
        const WakeKey awaited = awaited_of(word);
        const bool takes_one = own != anybody && awaited > wake_after(1) && awaited != anybody;
        return takes_one ? word - 1 : (word | anybody) + 1;
    }
    /// Waker, after its light fence: the word.
    std::uint32_t hear() noexcept {
        if (fencing_.load(std::memory_order_relaxed) == number(Fencing::both)) {
            Env::full_fence(); // F1
        }
        return word_.load(std::memory_order_relaxed);
    }

    std::uint32_t put(WakeKey key) noexcept {
        if constexpr (is_owned) {
            word_.store(key, std::memory_order_relaxed);
            return key;
        } else {
            return word_.fetch_or(anybody, std::memory_order_relaxed) | anybody;
        }
    }

    /// Out of line, because the registers that a system call needs are then free for messages that
    /// wake nobody.
    [[gnu::noinline]] void wake(std::uint32_t heard, WakeKey own) noexcept {
        if (count_event(heard, own)) {
            rouse();
        }
    }
    /// Whether somebody has to be woken.
    bool count_event(std::uint32_t heard, WakeKey own) noexcept {
        while (is_for(heard, own)) {
            const std::uint32_t next = after_an_event(heard, own);
            if (word_.replace(heard, next, std::memory_order_relaxed)) {
                const auto cpu = static_cast<std::uint32_t>(::sched_getcpu() + 1) & cpu_mask;
                waker_.store(own << cpu_bits | cpu, std::memory_order_relaxed);
                return awaited_of(next) == 0;
            }
            heard = word_.load(std::memory_order_relaxed);
        }
        return false;
    }
    void rouse() noexcept { Env::futex_wake(word_, std::numeric_limits<int>::max(), reach_); }
    /// Lets an owner sleep on this word instead. Returns 1, for sums of such sleepers.
    int move_to(const typename Env::template Atomic<std::uint32_t>& word) noexcept {
        Env::futex_move(word_, word, reach_);
        return 1;
    }

    typename Env::template Atomic<std::uint32_t> word_;
    Reach reach_ = Reach::process; ///< Reach of wakers and sleepers; never changes.
    typename Env::template Atomic<std::uint32_t> fencing_{number(Fencing::sleeper)};
    std::atomic<std::uint32_t> waker_{0};                   ///< Key << cpu_bits | CPU + 1.
    typename Env::template Atomic<std::uint32_t> moved_{0}; ///< Never changes.
    // The owner's own; of many sleepers they never change:
    bool wakers_pay_ = false; ///< All wakers know that they execute full fences.
    bool is_fixed_ = false;   ///< Never changes.
};

} // namespace corymb::channel
