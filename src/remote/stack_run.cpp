// SPDX-License-Identifier: Apache-2.0
#include <corymb/detail/stack_run.hpp>

#include "base/one_user.hpp"
#include "channel/meanwhile.hpp"
#include "remote/scheduler_state.hpp"
#include "remote/source.hpp"
#include "remote/tuning.hpp"

#include <corymb/error.hpp>
#include <corymb/request.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <cxxabi.h>

namespace corymb::detail {

namespace {

thread_local StackRun* running_here = nullptr;

Task<> completion_of(Request& request) {
    co_await request;
}

/// The exceptions that a stack has caught and not let go of. The C++ runtime keeps them by thread.
class CaughtExceptions {
public:
    /// Makes them those of the thread, and keeps the thread's.
    void swap() noexcept {
        auto* const of_thread = reinterpret_cast<std::byte*>(abi::__cxa_get_globals());
        std::array<std::byte, bytes> kept;
        std::memcpy(kept.data(), of_thread, bytes);
        std::memcpy(of_thread, words_.data(), bytes);
        words_ = kept;
    }

private:
    /// A pointer to the one that was caught last, and how many are on their way (Itanium C++ ABI,
    /// Exception handling, 2.2.2).
    static constexpr std::size_t bytes = sizeof(void*) + sizeof(unsigned);
    std::array<std::byte, bytes> words_{};
};

} // namespace

/// The scheduler looks after the call in which the function waits.
struct StackRun::Calls final : Source, channel::Meanwhile {
    explicit Calls(StackRun& of) noexcept : run(&of) {}
    ~Calls() {
        if (strand != nullptr) {
            leave();
        }
    }
    Calls(const Calls&) = delete;
    Calls& operator=(const Calls&) = delete;

    // On the function's stack.
    Meanwhile::Outcome wait(const Wait& of_call) noexcept override {
        pending = &of_call;
        run->switch_out();
        pending = nullptr;
        return is_alone ? Outcome::alone : has_come ? Outcome::satisfied : Outcome::stopped;
    }
    bool complete(Request& request) override { return run->complete(request); }

    // On the host's.
    void enter(Strand& of, std::coroutine_handle<> host) {
        of.scheduler->add(*this);
        strand = &of;
        of.suspend(host, "a blocking call");
    }
    void leave() noexcept { std::exchange(strand, nullptr)->scheduler->remove(*this); }

    bool look() noexcept override {
        has_come = pending->look();
        if (has_come || pending->stop()) {
            Strand& of = *strand;
            leave();
            of.make_ready();
        }
        return false;
    }
    void look_after() noexcept override {} ///< The call does so by itself.
    [[nodiscard]] std::int64_t add_events(Events& to) override {
        const std::int64_t left = pending->time_left();
        if (pending->spot != nullptr) {
            to.add(*pending->spot);
        } else if (pending->shared_spot != nullptr) {
            to.add(*pending->shared_spot);
        } else {
            return std::min(left, remote::tuning::nap_ns.value());
        }
        return left;
    }
    [[nodiscard]] channel::WaiterCpus* cpus() noexcept override { return pending->cpus; }

    StackRun* run;
    const Wait* pending = nullptr; ///< On the function's stack; null: it does not wait.
    Strand* strand = nullptr;      ///< The host's, while it waits for that.
    bool has_come = false;         ///< What `pending` is for.
    bool is_alone = false;         ///< The host has gone.
    CaughtExceptions exceptions;
};

StackRun::StackRun() : calls_(std::make_unique<Calls>(*this)) {}
StackRun::~StackRun() = default;

bool StackRun::go_on() {
    StackRun* const outer = std::exchange(running_here, this);
    channel::Meanwhile* const outer_calls = channel::meanwhile();
    channel::set_meanwhile(calls_->is_alone ? nullptr : calls_.get());
    use_as(reinterpret_cast<std::uintptr_t>(this));
    calls_->exceptions.swap();
    awaited_ = nullptr;
    switch_in();
    calls_->exceptions.swap();
    use_as(reinterpret_cast<std::uintptr_t>(outer));
    channel::set_meanwhile(outer_calls);
    running_here = outer;
    return is_over_;
}

void StackRun::suspend(Strand& of, std::coroutine_handle<> host) {
    calls_->enter(of, host);
}

StackRun& StackRun::running() {
    if (running_here == nullptr) {
        throw Error(Errc::invalid_argument,
                    "this function runs on no stack of its own: start it by on_stack");
    }
    return *running_here;
}

bool StackRun::complete(Request& request) {
    TaskOutcome<void> outcome;
    if (!try_await(keep_outcome(completion_of(request), outcome))) {
        return false;
    }
    outcome.take();
    return true;
}

bool StackRun::try_await(Task<> task) {
    if (!calls_->is_alone) {
        awaited_ = &task;
        switch_out();
        awaited_ = nullptr;
    }
    return !calls_->is_alone;
}

void StackRun::refuse_alone() {
    throw Error(Errc::interrupted, "the task has ended with its scheduler; it waited for, or was "
                                   "about to wait for another task");
}

void StackRun::finish() noexcept {
    if (calls_->strand != nullptr) {
        calls_->leave();
    }
    calls_->is_alone = true;
    while (!is_over_) {
        go_on();
    }
}

} // namespace corymb::detail
