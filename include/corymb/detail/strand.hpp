// SPDX-License-Identifier: Apache-2.0
// What tasks, awaits and the scheduler share: a strand, and the places where it may be suspended.
#pragma once

#include <corymb/export.hpp>
#include <corymb/rank.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace corymb {

class Scheduler;

namespace detail {

struct SchedulerState; // src/remote/
struct ChainLink;      // src/remote/object_lock.hpp
/// The objects that the calls hold which a task belongs to; null: none.
using CallChain = std::shared_ptr<const ChainLink>;
class Suspension;
class Scope;
struct ObjectEntry;

/// A spawned task with the tasks that it awaits: one of them is suspended or runs. What a scheduler
/// resumes. Used by the thread of its scheduler only.
struct CORYMB_EXPORT Strand {
    Strand(SchedulerState& of, std::coroutine_handle<> root, std::stop_token token, bool is_held);
    ~Strand(); ///< Ends the tasks that are left, from the innermost one on.
    Strand(const Strand&) = delete;
    Strand& operator=(const Strand&) = delete;

    /// Takes part in the scheduler's turns again. Not while it is ready already.
    void make_ready() noexcept;
    /// The root task has come to its end; `of_root` is what it has thrown, or null.
    void end(const std::exception_ptr& of_root) noexcept;
    /// The root task ends where it is.
    void abandon() noexcept;
    /// A stop was requested: ends the suspension, if it is one that can be ended, or asks the calls
    /// to stop that a `finish` waits for.
    void stop() noexcept;
    [[nodiscard]] bool is_stopped() const noexcept { return token.stop_requested(); }
    /// The awaiting coroutine is about to sleep for `what`.
    void suspend(std::coroutine_handle<> at, const char* what) noexcept {
        next = at;
        waits_for = what;
    }

    /// Called by whoever requests the stop, perhaps another thread.
    struct OnStop {
        Strand* strand;
        void operator()() const noexcept;
    };

    SchedulerState* scheduler;
    std::coroutine_handle<> next; ///< To be resumed when it is ready.
    /// To be resumed when the one that runs returns, in the same turn: a task that is awaited, or
    /// that awaits the one that has ended. Not resumed from within, which needs no stack only where
    /// the compiler makes it a jump: gcc does so from -O2 on, and not for a sanitizer.
    std::coroutine_handle<> go_on;
    std::coroutine_handle<> root; ///< Owned.
    /// The number of its last turn, which no other strand has; 0: it has had none. While it is
    /// suspended, this names its wait.
    std::uint64_t turn = 0;
    Suspension* suspension = nullptr;         ///< The wait that a stop ends; null: none.
    const char* waits_for = "its first turn"; ///< For people.
    Scope* scope = nullptr;                   ///< Is told of its end.
    Scope* inner = nullptr;                   ///< The scope of what it spawns.
    Suspension* joiner = nullptr;             ///< Waits for its end.
    std::exception_ptr thrown;
    std::uint32_t index = 0; ///< Invariant: its place among the scheduler's.
    bool is_over = false;
    bool is_held; ///< By a Spawned.
    CallChain chain;
    /// The slot of the object whose method it runs, or was begun in, and 1; 0: of none.
    std::uint32_t serves = 0;
    std::stop_token token;
    std::optional<std::stop_callback<OnStop>> on_stop;
};

/// Throws Errc::invalid_argument: there is no task, or it has run.
[[noreturn]] CORYMB_EXPORT void refuse_no_task();
/// Takes the root over, which has not run.
[[nodiscard]] CORYMB_EXPORT Strand& start_strand(SchedulerState& of, std::coroutine_handle<> root,
                                                 std::stop_token token, bool is_held);
/// Nobody holds the strand any more. If nobody has taken what it has thrown, its scope gets that.
CORYMB_EXPORT void let_go(Strand& strand) noexcept;
/// The outcome of a strand that is over has been taken.
CORYMB_EXPORT void forget_thrown(Strand& strand) noexcept;
/// Lets go of a strand whose outcome has been taken.
class HeldStrand {
public:
    explicit HeldStrand(Strand& strand) noexcept : strand_(&strand) {}
    HeldStrand(const HeldStrand&) = delete;
    HeldStrand& operator=(const HeldStrand&) = delete;
    ~HeldStrand() {
        forget_thrown(*strand_);
        let_go(*strand_);
    }
    [[nodiscard]] Strand& operator*() const noexcept { return *strand_; }

private:
    Strand* strand_;
};
/// Throws Errc::invalid_argument for no strand and for one that is awaited already.
CORYMB_EXPORT void require_joinable(const Strand* strand);
/// The strand that runs on this thread. Throws Errc::invalid_argument outside of tasks.
[[nodiscard]] CORYMB_EXPORT Strand& running_strand();

/// What a suspended strand waits for, if other strands can tell (`find_deadlock`).
struct Awaited {
    const Strand* task = nullptr;       ///< The end of this one.
    const ObjectEntry* entry = nullptr; ///< To enter an object.
    Rank answers = -1;                  ///< The answer of this rank to `call`.
    std::uint32_t call = 0;
};

/// A wait that a stop can end. Lies in the frame of the awaiting coroutine.
class CORYMB_EXPORT Suspension {
public:
    Suspension() noexcept = default;
    Suspension(const Suspension&) = delete;
    Suspension& operator=(const Suspension&) = delete;

    /// Suspends the strand until `wake` or a stop. Throws Errc::interrupted if asked to stop.
    void begin(Strand& of, std::coroutine_handle<> at, const char* what) {
        if (of.is_stopped()) [[unlikely]] {
            refuse_stopped(what);
        }
        enter(of, at, what);
    }
    /// As `begin`, after something was begun that only the end of this wait takes back. A stop that
    /// has come meanwhile ends the wait at once.
    void begin_always(Strand& of, std::coroutine_handle<> at, const char* what) noexcept {
        enter(of, at, what);
        if (of.is_stopped()) [[unlikely]] {
            stop();
        }
    }
    /// What the strand has waited for is there. The derived class has let go of it before.
    void wake() noexcept {
        strand_->suspension = nullptr;
        std::exchange(strand_, nullptr)->make_ready();
    }
    /// Ends the wait without what it was for.
    void stop() noexcept {
        withdraw();
        is_stopped_ = true;
        wake();
    }
    /// At the end of the wait. Throws Errc::interrupted after a stop.
    void require_not_stopped(const char* what) const {
        if (is_stopped_) [[unlikely]] {
            refuse_stopped(what);
        }
    }
    [[nodiscard]] bool is_stopped() const noexcept { return is_stopped_; }
    [[nodiscard]] virtual Awaited awaited() const noexcept { return {}; }
    /// Throws Errc::interrupted: "the task was asked to stop while it waited for WHAT".
    [[noreturn]] static void refuse_stopped(const char* what);

protected:
    ~Suspension() = default;
    /// Takes the wait out of where it stands.
    virtual void withdraw() noexcept = 0;
    [[nodiscard]] bool is_waiting() const noexcept { return strand_ != nullptr; }
    [[nodiscard]] Strand& strand() const noexcept { return *strand_; }

private:
    void enter(Strand& of, std::coroutine_handle<> at, const char* what) noexcept {
        strand_ = &of;
        of.suspension = this;
        of.suspend(at, what);
    }
    Strand* strand_ = nullptr; ///< Null: it does not wait.
    bool is_stopped_ = false;
};

/// A queue of waits, the longest first. Waits leave it in any order, each in constant time.
class CORYMB_EXPORT WaitQueue {
public:
    class CORYMB_EXPORT Entry : public Suspension {
    public:
        Entry() noexcept = default;

    protected:
        ~Entry() {
            if (queue_ != nullptr) { // The task ends with its scheduler.
                queue_->remove(*this);
            }
        }
        void withdraw() noexcept override {
            if (queue_ != nullptr) { // The queue has gone before the task.
                queue_->remove(*this);
            }
        }

    private:
        friend class WaitQueue;
        WaitQueue* queue_ = nullptr;
        Entry* before_ = nullptr;
        Entry* behind_ = nullptr;
    };

    WaitQueue() noexcept = default;
    WaitQueue(const WaitQueue&) = delete;
    WaitQueue& operator=(const WaitQueue&) = delete;
    ~WaitQueue() {
        while (first_ != nullptr) { // Nobody will wake them.
            remove(*first_);
        }
    }

    [[nodiscard]] bool is_empty() const noexcept { return first_ == nullptr; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] Entry& first() const noexcept { return *first_; }
    void push(Entry& entry) noexcept {
        entry.queue_ = this;
        entry.before_ = last_;
        entry.behind_ = nullptr;
        (last_ == nullptr ? first_ : last_->behind_) = &entry;
        last_ = &entry;
        ++size_;
    }
    void remove(Entry& entry) noexcept {
        (entry.before_ == nullptr ? first_ : entry.before_->behind_) = entry.behind_;
        (entry.behind_ == nullptr ? last_ : entry.behind_->before_) = entry.before_;
        entry.queue_ = nullptr;
        --size_;
    }
    /// Takes the first out and wakes it.
    void wake_first() noexcept {
        Entry& entry = *first_;
        remove(entry);
        entry.wake();
    }

private:
    Entry* first_ = nullptr;
    Entry* last_ = nullptr;
    std::size_t size_ = 0;
};

/// Counts the strands that were spawned into it. See `finish`.
class CORYMB_EXPORT Scope {
public:
    Scope() noexcept = default;
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    void add() noexcept { ++running_; }
    /// A strand has ended; `thrown` if nobody takes its exception.
    void end_one(const std::exception_ptr& thrown) noexcept;
    [[nodiscard]] bool is_over() const noexcept { return running_ == 0; }
    /// The strand that waits for the end, or will; null: `run` does.
    [[nodiscard]] virtual const Strand* owner() const noexcept { return nullptr; }
    [[nodiscard]] virtual bool is_awaited() const noexcept { return false; }

    /// What ends the others of the scope by a stop.
    enum class Stops : std::uint8_t {
        none,     ///< Nothing.
        failures, ///< One that throws.
        ends,     ///< The first one that ends.
    };
    void set_stops(Stops stops) noexcept { stops_ = stops; }
    [[nodiscard]] Stops stops() const noexcept { return stops_; }

    // Strands of the scope that have thrown and are held: who holds them may take the exception.
    void add_untaken() noexcept { ++untaken_; }
    /// `thrown` is null if it was taken.
    void end_untaken(const std::exception_ptr& thrown) noexcept;

protected:
    ~Scope() = default;
    [[nodiscard]] bool has_untaken() const noexcept { return untaken_ != 0; }

private:
    virtual void note_thrown(const std::exception_ptr& thrown) noexcept = 0;
    virtual void note_over() noexcept = 0;
    std::size_t running_ = 0;
    std::size_t untaken_ = 0;
    Stops stops_ = Stops::none;
};

} // namespace detail
} // namespace corymb
