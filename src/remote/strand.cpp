// SPDX-License-Identifier: Apache-2.0
#include "base/make_room.hpp"
#include "remote/scheduler_state.hpp"

#include <corymb/error.hpp>

#include <memory>
#include <string>
#include <utility>

namespace corymb::detail {

namespace {

/// A task that was asked to stop may end by that: this is no error of its scope.
bool is_interruption(const std::exception_ptr& thrown) noexcept {
    try {
        std::rethrow_exception(thrown);
    } catch (const Error& error) {
        return error.code() == Errc::interrupted;
    } catch (...) {
        return false;
    }
}

} // namespace

Strand::Strand(SchedulerState& of, std::coroutine_handle<> first, std::stop_token stop_token,
               bool held)
    : scheduler(&of), next(first), root(first), is_held(held), token(std::move(stop_token)) {
    if (token.stop_possible()) {
        on_stop.emplace(token, OnStop{this});
    }
}

Strand::~Strand() {
    if (root) {
        root.destroy();
    }
}

void refuse_no_task() {
    throw Error(Errc::invalid_argument, "there is no task: it was moved from, awaited or "
                                        "spawned already");
}

Strand& start_strand(SchedulerState& of, std::coroutine_handle<> root, std::stop_token token,
                     bool is_held) {
    make_room(of.strands, of.strands.size() + 1);
    make_room(of.ended, of.strands.size() + 1);
    of.ready.make_room(of.strands.size() + 1);
    auto made = std::make_unique<Strand>(of, nullptr, std::move(token), is_held);
    Strand& strand = *made;
    strand.root = strand.next = root; // From here on nothing can fail.
    strand.index = static_cast<std::uint32_t>(of.strands.size());
    Scope* const inner = of.running == nullptr ? nullptr : of.running->inner;
    strand.scope = strand.inner = inner == nullptr ? &of : inner;
    strand.chain = of.running == nullptr ? nullptr : of.running->chain;
    strand.serves = of.running == nullptr ? 0 : of.running->serves;
    strand.scope->add();
    ++of.running_count;
    of.strands.push_back(std::move(made));
    of.enqueue(strand);
    return strand;
}

void let_go(Strand& strand) noexcept {
    if (!strand.is_over) {
        strand.is_held = false;
        return;
    }
    const std::exception_ptr thrown = std::exchange(strand.thrown, nullptr);
    SchedulerState* const scheduler = strand.scheduler;
    if (scheduler == nullptr) { // It has gone, and the handle owns the rest.
        delete &strand;
        return;
    }
    if (thrown != nullptr) {
        strand.scope->end_untaken(thrown);
    }
    scheduler->forget(strand).reset();
}

void forget_thrown(Strand& strand) noexcept {
    if (std::exchange(strand.thrown, nullptr) != nullptr && strand.scheduler != nullptr) {
        strand.scope->end_untaken(nullptr);
    }
}

void require_joinable(const Strand* strand) {
    if (strand == nullptr) {
        throw Error(Errc::invalid_argument,
                    "there is no task to wait for: its result was taken already");
    }
    if (!strand->root) {
        throw Error(Errc::invalid_argument,
                    "the task has no result: it was ended before it came to its end");
    }
    if (strand->joiner != nullptr) {
        throw Error(Errc::invalid_argument, "another task waits for the end of this one already");
    }
}

void Strand::make_ready() noexcept {
    scheduler->enqueue(*this);
}

void Strand::end(const std::exception_ptr& of_root) noexcept {
    on_stop.reset();
    is_over = true;
    --scheduler->running_count;
    if (of_root != nullptr && scheduler->main == this) {
        scheduler->stop.request_stop();
    }
    const bool is_error = of_root != nullptr && !(is_stopped() && is_interruption(of_root));
    if (joiner != nullptr) {
        std::exchange(joiner, nullptr)->wake();
    }
    Scope& told = *scope;
    if (is_held) {
        if (is_error) {
            thrown = of_root;
            told.add_untaken();
        }
        told.end_one(nullptr);
    } else {
        scheduler->ended.push_back(scheduler->forget(*this));
        told.end_one(is_error ? of_root : nullptr);
    }
}

void Strand::abandon() noexcept {
    on_stop.reset();
    suspension = nullptr;
    is_over = true;
    const std::unique_ptr<Strand> own = is_held ? nullptr : scheduler->forget(*this);
    if (root) {
        std::exchange(root, nullptr).destroy(); // A handle on the strand in it ends the strand.
    }
}

void Strand::stop() noexcept {
    if (suspension != nullptr) {
        suspension->stop();
    } else if (scheduler->place != nullptr && inner != nullptr && inner->owner() == this &&
               inner->is_awaited()) {
        stop_told(*scheduler->place, *inner);
    }
}

void Strand::OnStop::operator()() const noexcept {
    if (strand->scheduler->is_running_here()) {
        strand->stop();
    } else {
        strand->scheduler->note_foreign_stop();
    }
}

void Suspension::refuse_stopped(const char* what) {
    throw Error(Errc::interrupted,
                std::string("the task was asked to stop; it waited, or was about to, for ") + what);
}

void Scope::end_untaken(const std::exception_ptr& thrown) noexcept {
    --untaken_;
    if (thrown != nullptr) {
        note_thrown(thrown);
    }
}

void Scope::end_one(const std::exception_ptr& thrown) noexcept {
    if (thrown != nullptr) {
        note_thrown(thrown);
    }
    if (--running_ == 0) {
        note_over();
    }
}

} // namespace corymb::detail
