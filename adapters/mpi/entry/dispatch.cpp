// SPDX-License-Identifier: Apache-2.0
#include "entry/dispatch.hpp"

#include "agreement/steps.hpp"
#include "below/clock.hpp"
#include "below/library.hpp"
#include "below/outcome.hpp"
#include "below/unless_done.hpp"
#include "data/elements.hpp"
#include "entry/calls.hpp"

#include <cstdio>

namespace corymb::mpi {

namespace {

/// The MPI has done nothing on this rank, perhaps something on others. One for which more has come
/// than there was room for has been made.
bool is_refused(int result) noexcept {
    int kind = MPI_SUCCESS;
    return result != MPI_SUCCESS &&
           (host().Error_class(result, &kind) != MPI_SUCCESS || kind != MPI_ERR_TRUNCATE);
}

} // namespace

void Dispatch::begin() noexcept {
    if (is_explaining()) {
        begin_ns_ = now_ns();
    }
    if (call_.form == Form::nonblocking) {
        begin_nonblocking();
    } else if (communicator_->state == Communicator::State::early) {
        // Making a persistent request may wait for others, and it promises many calls.
        if (call_.form == Form::persistent) {
            agree_on_team(*communicator_, true);
        } else if (communicator_->early.begin_blocking()) {
            // Whoever agrees waits for late ranks as the call would: that time counts, too.
            const std::int64_t began_ns = now_ns();
            agree_on_team(*communicator_, false);
            communicator_->early.add(now_ns() - began_ns);
        }
        return;
    }
    communicator_->is_watched = communicator_->state == Communicator::State::early ||
                                communicator_->early_requests > 0 || is_explaining();
}

/// Nonblocking calls must return whatever others do.
void Dispatch::begin_nonblocking() noexcept {
    Communicator& communicator = *communicator_;
    if (communicator.state == Communicator::State::early) {
        is_left_to_mpi_ = !communicator.has_requests_on_team;
        if (is_left_to_mpi_ && take_steps(communicator)) {
            communicator.has_requests_on_team = true;
            communicator.early_requests = 0;
            is_left_to_mpi_ = false;
        }
        communicator.early_requests += is_left_to_mpi_ ? 1 : 0;
    } else if (communicator.early_requests > 0) {
        --communicator.early_requests;
        is_left_to_mpi_ = true;
        static_cast<void>(take_steps(communicator));
    }
}

/// Without a team the communicator has one.
Reason Dispatch::own_reason(Reason reason) const noexcept {
    if (has_team() || reason == Reason::no_translation) {
        return reason;
    }
    if (call_.form == Form::nonblocking && is_left_to_mpi_ && !communicator_->why.empty()) {
        return Reason::no_team; // It has been tried.
    }
    const bool is_early = communicator_->state == Communicator::State::early || is_left_to_mpi_;
    return is_early                                            ? Reason::early
           : communicator_->state == Communicator::State::team ? communicator_->why_no_requests
                                                               : communicator_->reason;
}

/// A call that the MPI refuses on this rank, such as a root's with wrong arguments, is none for the
/// others, and the program may make up for it: it does not count on the way to a team.
int Dispatch::do_below() {
    const bool is_early = communicator_->state == Communicator::State::early &&
                          static_cast<std::size_t>(call_.operation) < translated_operations;
    const bool is_timed = is_early && call_.form == Form::blocking;
    const bool is_sampled =
        is_early && is_left_to_mpi_ && RequestSample::has(communicator_->early_requests);
    const std::int64_t began_ns = is_timed || is_sampled ? now_ns() : 0;
    const std::int64_t cpu_ns = is_sampled ? thread_ns() : 0;
    const auto take_back = [this] {
        take_back_early();
    };
    UnlessDone or_take_back(take_back);
    const int result = call_.below();
    if (!is_refused(result)) {
        or_take_back.done();
        if (is_timed) {
            communicator_->early.add(now_ns() - began_ns);
        } else if (is_sampled && result == MPI_SUCCESS) {
            watch_early(*communicator_, *call_.request, {began_ns, now_ns()}, thread_ns() - cpu_ns);
        }
    }
    return result;
}

/// Uncounts an early call, or one that is left to the MPI since another rank made it early.
void Dispatch::take_back_early() noexcept {
    const bool is_early = communicator_->state == Communicator::State::early;
    if (is_left_to_mpi_) {
        take_back_steps(*communicator_);
        if (is_early) {
            --communicator_->early_requests;
        } else {
            ++communicator_->early_requests;
            communicator_->is_watched = true;
        }
    } else if (is_early && call_.form == Form::blocking) {
        communicator_->early.take_back_blocking();
    }
}

int Dispatch::pass_on(Reason reason, std::uint64_t bytes) {
    if (communicator_ == nullptr) {
        return call_.below();
    }
    const Held held(*communicator_);
    reason = own_reason(reason);
    const int result = do_below();
    note(reason, bytes);
    return result;
}

int Dispatch::pass_on(Reason reason, MPI_Count count, MPI_Datatype type) {
    if (!counts_bytes()) {
        return pass_on(reason);
    }
    const Held held(*communicator_);
    reason = own_reason(reason);
    const int result = do_below();
    // The type is known to be one only now.
    const bool has_data = result == MPI_SUCCESS && count > 0 && type != host().type_null;
    note(reason, has_data ? static_cast<std::uint64_t>(count) * layout_of(type).size : 0);
    return result;
}

bool Dispatch::counts_bytes() const noexcept {
    return communicator_ != nullptr && is_explaining();
}

int Dispatch::refuse_aliased() {
    note(Reason::arguments, 0);
    std::fputs("corymb: input and output are the same memory; MPI_IN_PLACE is for that\n", stderr);
    host().Comm_call_errhandler(communicator_->comm, MPI_ERR_BUFFER);
    return MPI_ERR_BUFFER;
}

bool Dispatch::find_bounds(const std::uint64_t* sent, const std::uint64_t* expected) {
    return agree_that_lists_are_bounds(*communicator_, lists(), sent, expected);
}

/// Uncounts a call that the MPI has refused on this rank: it is none for the other ranks, and the
/// program may call again. If the call was a synchronisation point, the others have counted from it
/// on, and the call in its place does not count.
void Dispatch::take_back_call() noexcept {
    SyncPoints& points = communicator_->sync_points;
    if (call_.form == Form::nonblocking) {
        points.take_back_nonblocking();
    } else {
        points.take_back_blocking();
        if (communicator_->board != nullptr) {
            communicator_->board->take_back();
        }
    }
}

/// The call is the MPI's since that is faster, or may well be over before there is a plan.
int Dispatch::leave_to_mpi(Choice& choice, std::uint64_t bytes) {
    const Held held(*communicator_);
    const auto take_back = [&] {
        choice.take_back(call_.operation, tried_as(bytes));
        take_back_call();
    };
    UnlessDone or_take_back(take_back);
    CostlyPlans::Wait* const wait =
        call_.form == Form::blocking
            ? communicator_->costly_plans.wait_of(call_.operation, tried_as(bytes))
            : nullptr;
    const std::int64_t began_ns = wait != nullptr ? now_ns() : 0;
    const Reason reason = wait != nullptr ? Reason::planning : Reason::slower;
    const auto below = [&] {
        return communicator_->is_watched ? pass_on(reason, bytes) : call_.below();
    };
    const int result = call_below(bytes, below);
    if (!is_refused(result)) [[likely]] {
        or_take_back.done();
        if (wait != nullptr) {
            wait->add(static_cast<std::uint64_t>(now_ns() - began_ns));
        }
    }
    return result;
}

/// Makes a call of a trial. All ranks try the same calls.
int Dispatch::attempt(std::uint64_t bytes, MpiFunction run) {
    const Held held(*communicator_);
    const bool is_request = call_.form == Form::nonblocking;
    Choice& choice = is_request ? communicator_->request_choice : communicator_->choice;
    auto* const wait = is_request
                           ? nullptr
                           : communicator_->costly_plans.wait_of(call_.operation, tried_as(bytes));
    if (wait != nullptr) [[unlikely]] {
        agree_that_plan_pays(*communicator_, *wait, call_.operation, tried_as(bytes));
        if (!wait->is_over()) {
            choice.postpone(call_.operation, tried_as(bytes), wait->calls());
            return leave_to_mpi(choice, bytes);
        }
    }
    Trial* trial = nullptr;
    try {
        trial = &choice.trial(call_.operation, tried_as(bytes));
        communicator_->tried.reserve(communicator_->tried.size() + 1);
    } catch (const std::exception&) {
        abandon();
        return finish(CORYMB_OUT_OF_MEMORY, bytes);
    }
    if (is_request && trial->is_over()) {
        return after_trial(*trial, bytes, run);
    }
    int result = MPI_SUCCESS;
    const Trial::Attempt attempt =
        trial->begin(is_request ? communicator_->request_measure
                                : measure_of(call_.operation, communicator_->are_cpus_shared));
    const auto now = [is_taken = trial->measure() == Measure::taken] {
        return is_taken ? thread_ns() : now_ns();
    };
    Trial::Span span{now(), 0};
    if (attempt.is_for_mpi) {
        const auto take_back = [&] {
            trial->take_back();
            take_back_call();
        };
        UnlessDone or_take_back(take_back);
        result = call_below(bytes, call_.below);
        span.end_ns = now();
        note(Reason::trial, bytes);
        if (is_refused(result)) {
            return result;
        }
        or_take_back.done();
    } else {
        const int outcome = run();
        span.end_ns = now();
        result = finish(static_cast<corymb_status>(outcome), bytes);
    }
    if (is_request) {
        if (result == MPI_SUCCESS) {
            watch(*communicator_, *trial, attempt, *call_.request, span);
        }
        if (trial->is_over()) {
            communicator_->tried.push_back({trial, call_.operation, tried_as(bytes)});
        }
        return result;
    }
    trial->add(attempt, span);
    if ((attempt.is_for_mpi || result == MPI_SUCCESS) && trial->is_over() &&
        !is_orphan(*communicator_)) {
        settle(*communicator_, choice, *trial, call_.operation, tried_as(bytes));
    }
    return result;
}

/// Makes a nonblocking call whose trial is over. Between nodes ranks have not met since.
int Dispatch::after_trial(Trial& trial, std::uint64_t bytes, MpiFunction run) {
    Choice& choice = communicator_->request_choice;
    RequestBoard* const board = communicator_->request_board.get();
    if (board == nullptr) {
        return finish(static_cast<corymb_status>(run()), bytes);
    }
    bool is_settled = false;
    auto verdict = Verdict::open;
    try {
        is_settled = settle_on_board(*communicator_, trial, call_.operation, tried_as(bytes));
        verdict = is_settled ? next_request(tried_as(bytes)) : trial.until_settled();
    } catch (const std::bad_alloc&) {
        abandon();
        return finish(CORYMB_OUT_OF_MEMORY, bytes);
    } catch (const std::exception& broken) { // An invariant of the board.
        std::fprintf(stderr, "corymb: %s\n", broken.what());
        abandon();
        return finish(CORYMB_INTERNAL, bytes);
    }
    if (is_settled || verdict == Verdict::corymb) {
        return do_by(verdict, bytes, run);
    }
    const auto take_back = [&] {
        board->end(call_.operation, tried_as(bytes)).take_back();
    };
    UnlessDone or_take_back(take_back);
    const int result = leave_to_mpi(choice, bytes);
    if (!is_refused(result)) {
        or_take_back.done();
    }
    return result;
}

void Dispatch::note(Reason reason, std::uint64_t bytes) noexcept {
    if (!communicator_->is_watched || !is_explaining()) [[likely]] {
        return;
    }
    try {
        communicator_->account.add(call_, reason, bytes, now_ns() - begin_ns_);
    } catch (const std::exception&) { // The summary is the less complete.
    }
}

corymb_status Dispatch::hand_to_program(const WorkMaker& make) {
    return hand_out(*communicator_, call_.form, make, call_.request);
}

void Dispatch::abandon() noexcept {
    corymb::mpi::abandon(*communicator_,
                         "an operation could not begin here, for want of memory or the like");
}

int Dispatch::account_for(corymb_status status, std::uint64_t bytes) {
    if (status == CORYMB_OK) {
        note(Reason::none, bytes);
        return MPI_SUCCESS;
    }
    if (communicator_->board != nullptr && !communicator_->board->contradiction().empty()) {
        std::fprintf(stderr, "corymb: %s\n", communicator_->board->contradiction().c_str());
    } else {
        report(status);
    }
    communicator_->has_failed.store(true, std::memory_order_relaxed);
    const int error = error_class(status);
    host().Comm_call_errhandler(communicator_->comm, error);
    return error;
}

int missing_function(const char* name) {
    std::fprintf(stderr, "corymb: this MPI library has no P%s; run the program without corymb\n",
                 name);
    return MPI_ERR_OTHER;
}

} // namespace corymb::mpi
