// SPDX-License-Identifier: Apache-2.0
// A scheduler runs the tasks of one rank: those that can go on take turns, and while none can, the
// thread waits for all that they wait for at once.
#pragma once

#include <corymb/detail/strand.hpp>
#include <corymb/error.hpp>
#include <corymb/export.hpp>
#include <corymb/task.hpp>
#include <corymb/wait_policy.hpp>

#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <stop_token>
#include <utility>

namespace corymb {

namespace detail {
struct SchedulerAccess; // src/remote/
}

/// A task that was spawned, and its outcome. Movable; for tasks of the same scheduler. May be
/// thrown away: the task goes on, and if it throws, its scope gets the exception.
template <class T>
class Spawned {
public:
    Spawned() noexcept = default; ///< No task.
    Spawned(Spawned&& other) noexcept : strand_(std::exchange(other.strand_, nullptr)) {}
    Spawned& operator=(Spawned&& other) noexcept {
        if (this != &other) {
            let_go();
            strand_ = std::exchange(other.strand_, nullptr);
        }
        return *this;
    }
    Spawned(const Spawned&) = delete;
    Spawned& operator=(const Spawned&) = delete;
    ~Spawned() { let_go(); }

    [[nodiscard]] bool valid() const noexcept { return strand_ != nullptr; }
    /// Whether the task has ended.
    [[nodiscard]] bool is_over() const noexcept { return strand_ != nullptr && strand_->is_over; }

    /// Waits for the end of the task, and gives its result or throws its exception, once. When the
    /// awaiting task is asked to stop, the wait ends and the task goes on. Throws
    /// Errc::invalid_argument when there is no task, and when another task awaits it.
    auto operator co_await() noexcept { return Await(strand_); }

private:
    friend class Scheduler;
    template <class U>
    friend Spawned<U> spawn(Task<U> task);
    template <class U>
    friend Spawned<U> spawn(Task<U> task, std::stop_token token);

    class Await final : public detail::Suspension {
    public:
        explicit Await(detail::Strand*& of) noexcept : of_(&of) {}
        ~Await() {
            if (is_waiting()) {
                withdraw();
            }
        }
        [[nodiscard]] bool await_ready() const {
            detail::require_joinable(*of_);
            return (*of_)->is_over;
        }
        template <detail::TaskPromiseOf P>
        void await_suspend(std::coroutine_handle<P> awaiting) {
            begin(*awaiting.promise().strand, awaiting, what);
            (*of_)->joiner = this;
        }
        T await_resume() {
            require_not_stopped(what);
            const detail::HeldStrand ended(*std::exchange(*of_, nullptr));
            return detail::TaskAccess::outcome<T>(*ended).take();
        }
        [[nodiscard]] detail::Awaited awaited() const noexcept override {
            return {*of_, nullptr, -1, 0};
        }

    private:
        static constexpr const char* what = "the end of another task";
        void withdraw() noexcept override { (*of_)->joiner = nullptr; }
        detail::Strand** of_;
    };

    explicit Spawned(detail::Strand& strand) noexcept : strand_(&strand) {}
    void let_go() noexcept {
        if (strand_ != nullptr) {
            detail::let_go(*strand_);
        }
    }
    detail::Strand* strand_ = nullptr;
};

struct SchedulerOptions {
    /// How the thread waits when no task can go on.
    WaitPolicy wait = WaitPolicy::ladder;
};

/// Runs tasks on the thread that calls `run` or `poll`. One thread at a time. Movable.
/// Nothing runs between the calls.
class CORYMB_EXPORT Scheduler {
public:
    explicit Scheduler(const SchedulerOptions& options = {});
    Scheduler(Scheduler&& other) noexcept;
    Scheduler& operator=(Scheduler&& other) noexcept;
    /// Ends the tasks that are left where they are: their variables are destroyed.
    ~Scheduler();

    /// Runs the task and all that it spawns, and gives its result when all have ended. If one
    /// throws and no task takes the exception, all are asked to stop; when they have ended, `run`
    /// throws that exception, or TaskErrors if there are several. `stop` asks all tasks to stop,
    /// from any thread. Throws Errc::deadlock, and ends the tasks, when each of them waits for
    /// another one; Errc::invalid_argument inside a task.
    template <class T>
    T run(Task<T> main, const std::stop_token& stop = {}) {
        require_can_run();
        Spawned<T> spawned = spawn(std::move(main));
        drive(*spawned.strand_, stop);
        const detail::HeldStrand ended(*std::exchange(spawned.strand_, nullptr));
        throw_others((*ended).thrown);
        return detail::TaskAccess::outcome<T>(*ended).take();
    }
    /// Begins a task, which has its first turn in the next `run` or `poll`. It is asked to stop
    /// with all others, or by `stop` alone. Throws Errc::invalid_argument for no task.
    template <class T>
    Spawned<T> spawn(Task<T> task) {
        return spawn(std::move(task), stop_token());
    }
    template <class T>
    Spawned<T> spawn(Task<T> task, std::stop_token stop) {
        return Spawned<T>(detail::TaskAccess::start(state(), task, std::move(stop), true));
    }
    /// For programs with an event loop of their own: gives each task that can go on at most one
    /// turn, and returns how many tasks have not ended. Never waits. Throws an exception that no
    /// task has taken.
    std::size_t poll();
    /// A descriptor for select, poll and epoll, the scheduler's own: it is readable when `poll` may
    /// have something to do. From this call on a thread sleeps in this one's stead, as long as the
    /// scheduler lives. Throws Errc::io when there is no descriptor to be had, std::system_error
    /// when there is no thread.
    [[nodiscard]] int descriptor();
    /// Tasks that were spawned and have not ended.
    [[nodiscard]] std::size_t size() const noexcept;

    /// Asks all tasks to stop that were not given another token: their waits end with
    /// Errc::interrupted. The next `run` begins without that. Other threads give `run` a token.
    void request_stop();
    [[nodiscard]] std::stop_token stop_token() const;

private:
    friend struct detail::SchedulerAccess;
    /// Throws Errc::invalid_argument as every call of this handle.
    [[nodiscard]] detail::SchedulerState& state() const;
    /// Throws Errc::invalid_argument inside a task.
    void require_can_run() const;
    /// Throws, if `of_main` or another exception is there that no task has taken. An interruption
    /// of the main task is none.
    void throw_others(std::exception_ptr of_main);
    void drive(detail::Strand& main, const std::stop_token& stop);
    std::unique_ptr<detail::SchedulerState, void (*)(detail::SchedulerState*)> state_;
};

/// In a task: begins another one on the same scheduler. It has its first turn when this one waits,
/// and belongs to the innermost `finish` around this call. It is asked to stop with this task, or
/// by `stop` alone. Throws Errc::invalid_argument outside of tasks and for no task.
template <class T>
Spawned<T> spawn(Task<T> task) {
    detail::Strand& own = detail::running_strand();
    return Spawned<T>(detail::TaskAccess::start(*own.scheduler, task, own.token, true));
}
template <class T>
Spawned<T> spawn(Task<T> task, std::stop_token stop) {
    detail::Strand& own = detail::running_strand();
    return Spawned<T>(detail::TaskAccess::start(*own.scheduler, task, std::move(stop), true));
}

} // namespace corymb
