// SPDX-License-Identifier: Apache-2.0
// Purpose: the awake part of a wait: spin, then yield. Every spin loop of the library is here or is
// made of look_for_a_while.
//
// Roles: one Patience per waiting thread, used by that thread only.
//
// Layout: private to the thread.
//
// Protocol:
//   A thread without a teammate on its CPU 1. looks with a pause between for at most the spin
//   budget; then it asks again for teammates. A thread with one 2. looks with a yield between for
//   at most the yield budget and, while no teammate wants the CPU, with a pause, for a while; 3.
//   tells the caller to sleep. Budgets grow with the bytes that peers may be moving meanwhile. They
//   learn: a wait that ended awake doubles them, and a wait much longer than both halves them, so
//   that a thread whose waits are long soon sleeps at once. If a yield took a time slice longer
//   than teammates need for their bytes and their turns, all of them sleep for a while (Stranger),
//   unless waits that yield are known to be shorter than waits that sleep (WaitAverages).
//
// Order: none of its own; the caller's look names the order of its word.
//
// Progress: returns within the budgets, or when the caller's stop condition holds.
//
// Checked by: tests/unit/channel/patience_test.cpp.
#pragma once

#include "channel/stranger.hpp"

#include <corymb/wait_policy.hpp>

#include <cstdint>

namespace corymb::channel {

/// Tells the CPU that this is a spin loop.
inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm("yield" ::: "memory");
#endif
}

/// Looks at most so often, with a pause after each look that fails. Whether one succeeded.
template <class F>
[[nodiscard]] bool look_for_a_while(F& look, int looks) {
    for (; looks > 0; --looks) {
        if (look()) [[likely]] {
            return true;
        }
        cpu_pause();
    }
    return false;
}

/// A condition without a type; cheap to pass, not owning.
class Look {
public:
    template <class F>
    explicit Look(F& f) noexcept
        : self_(&f), call_([](void* self) noexcept -> bool { return (*static_cast<F*>(self))(); }) {
    }
    bool operator()() const noexcept { return call_(self_); }

private:
    void* self_;
    bool (*call_)(void*) noexcept;
};

/// The threads with which a thread shares its CPU.
class Teammates {
public:
    Teammates() = default;
    Teammates(const Teammates&) = delete;
    Teammates& operator=(const Teammates&) = delete;

    /// Whether one of them may need the CPU.
    [[nodiscard]] virtual bool want_the_cpu() noexcept = 0;
    /// Records that the thread waits at this time. Whether a teammate runs on its CPU, as far as is
    /// known.
    [[nodiscard]] virtual bool are_here(std::int64_t now_ns) noexcept = 0;
    /// Records that the thread has its turn. Returns the turns that it and its teammates have had
    /// so far.
    virtual std::int64_t take_turn() noexcept = 0;
    /// What they know of others that use the CPU; null: they do not tell each other.
    [[nodiscard]] virtual Stranger* stranger() noexcept { return nullptr; }

protected:
    ~Teammates() = default;
};

/// What a wait knows of time and does to the CPU. Tests have time of their own.
class Clock {
public:
    Clock() = default;
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
    [[nodiscard]] virtual std::int64_t now_ns() noexcept = 0;
    /// Lets another thread that can run have the CPU first.
    virtual void yield() noexcept = 0;

protected:
    ~Clock() = default;
};

/// The machine's own.
[[nodiscard]] Clock& system_clock() noexcept;

/// The time that yields have saved against sleeps.
class YieldCredit {
public:
    /// A wait begins that yields: it may save one sleep.
    void begin_wait() noexcept;
    /// Counts a yield of this length, less the time that teammates needed; at most 0 if they needed
    /// all of it. False: the yield was too long, and so were yields on the whole.
    [[nodiscard]] bool is_worth(std::int64_t yield_ns) noexcept;

private:
    std::int64_t credit_ns_ = 0;
};

/// The average times of waits that yield and of waits that sleep at once.
class WaitAverages {
public:
    void count(bool yields, std::int64_t waited_ns) noexcept;
    /// Whether waits that yield are known to be the shorter ones. The average of sleeps serves for
    /// a bounded number of such answers; then waits sleep again to renew it.
    [[nodiscard]] bool say_yield() noexcept;
    /// Whether some waits have to sleep before anything can be said.
    [[nodiscard]] bool know_sleeps() const noexcept;

private:
    struct Average {
        std::int64_t count = 0;
        double ns = 0;
        void add(double waited_ns) noexcept;
    };
    Average yielding_, asleep_;
    int answers_ = 0; ///< Answers in favour of yields since the last sleep.
};

class Patience {
public:
    enum class Outcome : std::uint8_t { satisfied, exhausted, stopped };

    /// With `oversubscribed` (more ranks than CPUs) spinning only keeps the awaited rank from
    /// running; without it each wait asks its teammates.
    Patience(WaitPolicy policy, bool oversubscribed, Clock& clock = system_clock()) noexcept;

    /// How often to look, with a pause between, before the clock is worth reading.
    [[nodiscard]] int quick_looks() const noexcept { return quick_looks_; }
    /// These looks. Whether one of them succeeded.
    template <class F>
    [[nodiscard]] bool look_quickly(F& look) const {
        return look_for_a_while(look, quick_looks_);
    }

    /// The waits that follow are for peers that may have so many bytes to move first: a peer with a
    /// CPU of its own, or all peers together that share one.
    void expect_bytes(std::uint64_t bytes) noexcept { bytes_ = bytes; }

    /// Rungs 1 and 2. `stop` is asked about once a microsecond, `begin_ns` is the begin of the
    /// wait. `teammates` is null if none are known.
    Outcome wait_awake(const Look& look, const Look& stop, Teammates* teammates,
                       std::int64_t begin_ns) noexcept;

    /// Gives the CPU away for some turns, or waits a little where nobody wants it, at most until
    /// `gone`: a teammate had better go on first. Not where waits spin or sleep.
    void let_go_first(const Look& gone, Teammates* teammates) noexcept;

    /// The wait ended asleep after `waited_ns`.
    void learn_from_sleep(std::int64_t waited_ns) noexcept;

private:
    void note_end(std::int64_t waited_ns) noexcept;
    Outcome spin(const Look& look, const Look& stop, std::int64_t begin_ns) noexcept;
    Outcome yield(const Look& look, const Look& stop, Teammates* teammates,
                  std::int64_t begin_ns) noexcept;
    void ask_who_is_here(Teammates* teammates, std::int64_t now_ns) noexcept;
    [[nodiscard]] bool gives_turns() const noexcept;
    void learn_from_awake() noexcept;
    [[nodiscard]] Stranger& stranger_of(Teammates* teammates) noexcept;
    [[nodiscard]] std::int64_t moving_ns() const noexcept;
    [[nodiscard]] std::int64_t spin_budget() const noexcept;

    Clock* clock_;
    bool asks_; ///< Each wait asks which teammates are here.
    /// Whether teammates take turns on this CPU, in the present wait or the last one.
    bool is_crowded_;
    int quick_looks_;
    std::int64_t spin_ns_, spin_ns_max_;
    std::int64_t yield_ns_, yield_ns_max_;
    std::uint64_t bytes_ = 0;
    YieldCredit yield_credit_;
    WaitAverages averages_;
    bool yields_ = false;   ///< Whether the present wait yields.
    Stranger own_stranger_; ///< Used where teammates do not tell each other.
};

} // namespace corymb::channel
