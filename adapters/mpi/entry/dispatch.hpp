// SPDX-License-Identifier: Apache-2.0
// A call from beginning to end: its communicator, the library that does it, and its outcome.
#pragma once

#include "agreement/team.hpp"
#include "agreement/trials.hpp"
#include "below/call.hpp"
#include "below/unless_done.hpp"
#include "communicator/communicator.hpp"
#include "data/work.hpp"
#include "requests/request_trials.hpp"
#include "requests/requests.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace corymb::mpi {

class Dispatch {
public:
    /// The first calls on a communicator decide whether it has a team, whatever their arguments
    /// are: ranks may differ in these.
    Dispatch(const Call& call, MPI_Comm comm) noexcept
        : call_(call), communicator_(communicator_of(comm)) {
        if (communicator_ != nullptr && communicator_->is_watched) [[unlikely]] {
            begin();
        }
    }
    Dispatch(const Dispatch&) = delete;
    Dispatch& operator=(const Dispatch&) = delete;
    ~Dispatch() = default;

    [[nodiscard]] bool has_team() const noexcept {
        if (communicator_ == nullptr) {
            return false;
        }
        const bool is_on_team = call_.form == Form::nonblocking
                                    ? communicator_->has_requests_on_team && !is_left_to_mpi_
                                    : communicator_->state == Communicator::State::team;
        return is_on_team && (call_.form == Form::blocking || communicator_->can_request);
    }
    [[nodiscard]] int rank() const noexcept { return communicator_->rank; }
    [[nodiscard]] int size() const noexcept { return communicator_->size; }
    [[nodiscard]] bool is_on_nodes() const noexcept { return communicator_->is_over_nodes(); }
    /// Whether a thread of the adapter's goes on with it, which calls no operators of the MPI's.
    [[nodiscard]] bool is_by_thread() const noexcept {
        return call_.form != Form::blocking && communicator_->by_thread;
    }
    [[nodiscard]] bool is_rank(int root) const noexcept { return root >= 0 && root < size(); }

    /// The MPI below does it. Without a team the communicator's own reason is the one.
    int pass_on(Reason reason, std::uint64_t bytes = 0);
    /// As the first `pass_on`; this rank's part is `count` elements of `type`, for the summary.
    int pass_on(Reason reason, MPI_Count count, MPI_Datatype type);
    /// As `pass_on`; `bytes()` is asked for the summary only, and when the MPI has accepted the
    /// arguments. Between groups lists describe the other group's ranks, and are not looked at.
    template <class Bytes>
    int pass_on_list(Reason reason, const Bytes& bytes) {
        if (!counts_bytes()) [[likely]] {
            return pass_on(reason);
        }
        const bool has_own_lists = communicator_->reason != Reason::between_groups;
        const Held held(*communicator_);
        reason = own_reason(reason);
        const int result = do_below();
        const bool has_data = result == MPI_SUCCESS && has_own_lists;
        note(reason, has_data ? static_cast<std::uint64_t>(bytes()) : 0);
        return result;
    }
    /// The program has given the same memory as input and output (is_aliased).
    int refuse_aliased();
    /// For operations of any size: the MPI is faster, so that the arguments need no look.
    [[nodiscard]] bool is_mpis() const noexcept {
        return call_.form == Form::blocking && !communicator_->is_watched &&
               communicator_->choice.is_mpis(call_.operation, any_bytes);
    }
    /// For operations of any size: ranks have found lists that are bounds.
    [[nodiscard]] bool has_bounds() const noexcept { return lists().are_bounds; }
    /// Whether this is one of the calls in which they compare.
    [[nodiscard]] bool compares_lists() const noexcept {
        return call_.form == Form::blocking && lists().compared < tuning::compared_lists;
    }
    /// In such a call, collective: compares the bytes sent to each rank and expected from each.
    /// True: a rank expects another number than is sent.
    [[nodiscard]] bool find_bounds(const std::uint64_t* sent, const std::uint64_t* expected);
    /// Leaves a call with such lists to the MPI.
    int leave_bounds(std::uint64_t bytes) {
        if (call_.form == Form::blocking) {
            count_blocking();
        }
        return call_below(bytes, [&] { return pass_on(Reason::bounds, bytes); });
    }
    /// Leaves a call to the MPI when is_mpis.
    int leave() {
        count_blocking();
        static_cast<void>(communicator_->choice.next(call_.operation, any_bytes));
        return leave_to_mpi(communicator_->choice, 0);
    }
    /// The record of a call of this shape with these buffers, or null.
    [[nodiscard]] const KeptCall* kept(const CallShape& shape, const void* in,
                                       const void* out) const noexcept {
        if (communicator_ == nullptr || !may_keep(shape, in, out)) {
            return nullptr;
        }
        const KeptCall* const known = communicator_->kept.find(shape);
        return known != nullptr && !known->overlap(in, out) ? known : nullptr;
    }
    /// Keeps a call that is about to be made as any other call.
    void keep(const CallShape& shape, const CallMeaning& meaning, const void* in,
              const void* out) const noexcept {
        if (communicator_->team != nullptr && may_keep(shape, in, out)) {
            const InUse use(*communicator_);
            communicator_->kept.note(shape, meaning, communicator_->team);
        }
    }
    /// Does the work of a kept call.
    int take(const KeptCall& known, const void* in, void* out) {
        count_blocking();
        const CallMeaning& meaning = known.meaning;
        auto run = [&]() noexcept -> int {
            return guarded([&] {
                const InUse use(*communicator_);
                return library().call_run(known.call, known.input(in, out),
                                          meaning.has_output ? out : nullptr);
            });
        };
        return do_by(meaning.may_choose ? communicator_->choice.next(call_.operation, meaning.bytes)
                                        : Verdict::corymb,
                     meaning.bytes, run);
    }
    /// Does the work that `make` returns, or leaves it to the MPI where that is faster.
    /// `may_choose` is equal on all ranks. If it is true, so are `bytes`, except in
    /// operations of any size.
    template <class Make>
    int take(std::uint64_t bytes, const Make& make, bool may_choose = true) {
        if (call_.form == Form::persistent && communicator_->is_over_nodes() &&
            !communicator_->carrier->take_own_lane()) [[unlikely]] {
            return pass_on(Reason::no_tags, bytes);
        }
        if (call_.form == Form::nonblocking) [[unlikely]] {
            auto hand = [&]() noexcept -> int {
                return guarded([&] { return hand_to_program(WorkMaker(make)); });
            };
            ++communicator_->calls_taken;
            communicator_->sync_points.count_nonblocking();
            return do_by(may_choose ? next_request(tried_as(bytes)) : Verdict::corymb, bytes, hand);
        }
        count_blocking();
        if (call_.form == Form::persistent) [[unlikely]] {
            return finish(guarded([&] { return hand_to_program(WorkMaker(make)); }), bytes);
        }
        auto run = [&]() noexcept -> int {
            return guarded([&] { return perform(make()); });
        };
        return do_by(may_choose ? communicator_->choice.next(call_.operation, tried_as(bytes))
                                : Verdict::corymb,
                     bytes, run);
    }

private:
    [[nodiscard]] Lists& lists() const noexcept {
        return communicator_->lists[static_cast<std::size_t>(call_.operation)];
    }
    void count_blocking() noexcept {
        ++communicator_->calls_taken;
        if (communicator_->board != nullptr) [[likely]] {
            communicator_->board->begin(call_.operation);
        }
        if (communicator_->sync_points.begin_blocking()) [[unlikely]] {
            synchronise_requests(*communicator_);
        }
    }
    [[nodiscard]] std::uint64_t tried_as(std::uint64_t bytes) const noexcept {
        return tried_bytes(call_.operation, bytes);
    }
    [[nodiscard]] bool may_keep(const CallShape& shape, const void* in,
                                const void* out) const noexcept {
        return call_.form == Form::blocking && (in != MPI_IN_PLACE || shape.in_place) &&
               out != MPI_IN_PLACE;
    }
    /// Runs an action that may fail on this rank alone: no rank may wait for this one.
    template <class Action>
    corymb_status guarded(const Action& action) noexcept {
        corymb_status status = CORYMB_OUT_OF_MEMORY;
        try {
            status = static_cast<corymb_status>(action());
        } catch (const std::exception&) {
            status = CORYMB_OUT_OF_MEMORY;
        }
        if (status == CORYMB_OUT_OF_MEMORY || status == CORYMB_IO || status == CORYMB_INTERNAL)
            [[unlikely]] {
            abandon();
        }
        return status;
    }
    /// The call goes to the MPI, while others may think that it is corymb's.
    template <class CallBelow>
    int call_below(std::uint64_t bytes, const CallBelow& below) {
        CallBoard* const board =
            call_.form == Form::blocking ? communicator_->board.get() : nullptr;
        if (board == nullptr) {
            return below();
        }
        board->leave(bytes);
        const auto come_back = [board] {
            board->come_back();
        };
        const UnlessDone at_the_end(come_back);
        return below();
    }
    template <class Run>
    int do_by(Verdict verdict, std::uint64_t bytes, Run& run) {
        if (verdict == Verdict::corymb) [[likely]] {
            return finish(static_cast<corymb_status>(run()), bytes);
        }
        if (verdict == Verdict::open) {
            return attempt(bytes, MpiFunction(run));
        }
        return leave_to_mpi(call_.form == Form::nonblocking ? communicator_->request_choice
                                                            : communicator_->choice,
                            bytes);
    }
    corymb_status perform(Work&& work) {
        work.separate();
        work.prepare();
        const InUse use(*communicator_);
        const corymb_status status = work.call(Form::blocking, communicator_->team, nullptr);
        if (status == CORYMB_OK) [[likely]] {
            work.finish();
        }
        return status;
    }
    [[nodiscard]] bool counts_bytes() const noexcept;
    corymb_status hand_to_program(const WorkMaker& make);
    [[nodiscard]] Reason own_reason(Reason reason) const noexcept;
    void begin() noexcept;
    void begin_nonblocking() noexcept;
    int do_below();
    void take_back_early() noexcept;
    void abandon() noexcept;
    int attempt(std::uint64_t bytes, MpiFunction run);
    [[nodiscard]] Verdict next_request(std::uint64_t bytes) noexcept {
        Choice& choice = communicator_->request_choice;
        return communicator_->request_board != nullptr
                   ? choice.next(call_.operation, bytes)
                   : choice.next(call_.operation, bytes, communicator_->sync_points.reached());
    }
    int after_trial(Trial& trial, std::uint64_t bytes, MpiFunction run);
    int leave_to_mpi(Choice& choice, std::uint64_t bytes);
    void take_back_call() noexcept;
    int finish(corymb_status status, std::uint64_t bytes) {
        if (status == CORYMB_OK && !communicator_->is_watched) [[likely]] {
            return MPI_SUCCESS;
        }
        return account_for(status, bytes);
    }
    int account_for(corymb_status status, std::uint64_t bytes);
    void note(Reason reason, std::uint64_t bytes) noexcept;

    const Call& call_;
    Communicator* communicator_;
    std::int64_t begin_ns_ = 0;
    /// A nonblocking call before the communicator has a team, or that another rank made before.
    bool is_left_to_mpi_ = false;
};

} // namespace corymb::mpi
