// SPDX-License-Identifier: Apache-2.0
// The operations of one rank that are under way: their queues, looks at the queues in turn, and how
// operations end, well or not. Teams on one node and over several share all of it. What differs is
// how one operation goes on, how a rank waits, and why an operation cannot end.
#pragma once

#include "base/make_room.hpp"
#include "team/driver.hpp"
#include "team/patrol.hpp"
#include "team/team_shared.hpp"
#include "team/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corymb::detail {

/// `Own` is the class that derives from this one, and `QueueOf` its kind of LaneQueue. Own has
///
///     bool advance(Queued&, size_t& steps)   Goes on with the first of its queue, about so many
///                                            steps at most. True: it is over.
///     void begin(Queue&)                     Records that the first of the queue has begun.
///     void note_end(Queued&)                 An operation is no longer under way.
///     void let_go(Queued&)                   It fails, and its buffers are free afterwards.
///     void note_idle()                       No queue has an operation.
///     void advance_all(size_t steps)         Calls `advance_each`, and goes on with what is no
///                                            operation.
///     bool has_stopped()                     Nothing goes on here any more.
///     bool is_hopeless()                     An operation under way cannot end.
///     Failure reason(Queued&, bool)          Why this one cannot; true: it is late.
///     bool wait_for(done, Queued&)           Goes on with all until `done()` or `has_stopped()`.
///                                            False: the wait for the operation was in vain.
///     bool timed_out()                       Whether that wait was too long.
///     Patrol& patrol()                       Watches calls that only look.
///     std::string own_name()                 Of the rank, and its number as failures name it.
///     Rank own_number()
///     void give_back_lane(Queued&)           It can be started no more.
///     void keep_spare(unique_ptr<Queued>)    No request holds it any more.
///
/// Only `reason`, `own_name` and `is_hopeless` may throw.
template <class Own, class QueueOf>
class Executor : public Driver {
public:
    using Queue = QueueOf;
    using Queued = typename Queue::Queued;
    using State = Operation::State;

    bool look_once(Operation& given) override {
        if (given.state == State::pending) {
            me().advance_all(team::tuning::steps_of_a_look);
        }
        return given.state != State::pending;
    }

    bool test(Operation& given) override {
        if (!look_in_turn(queued(given))) {
            if (must_fail()) {
                fail(queued(given), false);
            }
            return false;
        }
        consume(given);
        return true;
    }

    void wait(Operation& given) override {
        wait_until_over(queued(given));
        consume(given);
    }

    std::size_t wait_any(const std::vector<Operation*>& operations) override {
        std::size_t found = 0;
        const auto look_through = [&]() noexcept {
            found = 0;
            while (found < operations.size() && operations[found]->state == State::pending) {
                ++found;
            }
            return found < operations.size();
        };
        Queued& first = queued(*operations.front());
        if (!me().wait_for(look_through, first) || found == operations.size()) {
            give_up(first, me().timed_out());
            return 0; // The call that takes the outcome throws the failure.
        }
        return found;
    }

    void look() noexcept override {
        try {
            static_cast<void>(look_at_all());
        } catch (...) { // No memory for a reason: a later look finds it again.
        }
    }

    [[nodiscard]] channel::WaiterCpus* cpus() noexcept override {
        try { // Ranks that take turns have no other one.
            return &channel::WaiterCpus::of(shared_->fabric.arena());
        } catch (...) {
            return nullptr;
        }
    }

    void drain(Operation& given) noexcept override {
        if (given.state != State::pending) {
            return;
        }
        try {
            if (std::uncaught_exceptions() == 0) {
                wait_until_over(queued(given));
                return;
            }
            shared_->fail(
                {Errc::team_broken,
                 me().own_name() + " left with an exception while an operation was under way",
                 {me().own_number()}});
            shared_->wait_for_copies();
        } catch (...) { // The team is broken: everybody has been told or will be.
        }
        abandon_all();
    }

    [[gnu::flatten]] void forget(Operation& given) noexcept override {
        std::erase(resumable_, &given);
        const std::size_t index = queued(given).index;
        std::unique_ptr<Queued> mine = std::move(operations_[index]);
        if (index + 1 != operations_.size()) {
            operations_[index] = std::move(operations_.back());
            operations_[index]->index = index;
        }
        operations_.pop_back();
        me().give_back_lane(*mine);
        me().keep_spare(std::move(mine));
    }

    /// Goes on with everything as far as it can at once, and resumes coroutines whose operations
    /// are done. Returns how many operations are under way or have a coroutine to be resumed.
    std::size_t progress() {
        static_cast<void>(go_on()); // Each operation tells its own outcome.
        return pending_count_;
    }

    /// Repeats `progress` until no operation is under way. Throws when one fails.
    void complete_all() {
        bool goes_on = go_on();
        while (goes_on && pending_count_ > 0) {
            const std::size_t before = pending_count_;
            const auto one_less = [&]() noexcept {
                return pending_count_ < before;
            };
            if (me().wait_for(one_less, first_pending())) {
                goes_on = go_on();
            } else {
                give_up(first_pending(), me().timed_out());
                resume_coroutines(); // Coroutines learn of the failure first.
                goes_on = false;
            }
        }
        if (!goes_on) {
            throw_failure();
        }
    }

    /// Completes the operations under way as ~Request does.
    void complete_quietly() noexcept {
        while (pending_count_ > 0) {
            drain(first_pending());
        }
    }

    /// Whether an operation is not over.
    [[nodiscard]] bool is_under_way() const noexcept { return pending_count_ != 0; }

protected:
    static constexpr std::size_t all_steps = std::numeric_limits<std::size_t>::max();

    /// An operation that this executor has made.
    static Queued& queued(Operation& operation) noexcept { return static_cast<Queued&>(operation); }

    /// A request holds the operation from here on.
    Queued& hold(std::unique_ptr<Queued> made) {
        make_room(resumable_, operations_.size() + 1); // So that ends cannot fail.
        operations_.push_back(std::move(made));
        Queued& operation = *operations_.back();
        operation.driver = this;
        operation.index = operations_.size() - 1;
        return operation;
    }

    /// Leaves the operations to their requests.
    void orphan_all() noexcept {
        for (auto& operation : operations_) {
            me().give_back_lane(*operation);
            operation->driver = nullptr; // The operation's request owns it from here on.
            static_cast<void>(operation.release());
        }
        operations_.clear();
    }

    /// So that `enter` cannot fail.
    void make_room_for(const Queue& queue) {
        if (!queue.is_listed) {
            make_room(busy_, busy_.size() + 1);
        }
    }

    /// Puts the operation into its queue. Returns whether it is the first, which has begun then.
    bool enter(Queued& operation) {
        Queue& queue = *operation.queue;
        operation.state = State::pending;
        operation.next = nullptr;
        ++pending_count_;
        if (queue.first != nullptr) {
            queue.last->next = &operation;
            queue.last = &operation;
            return false;
        }
        queue.first = queue.last = &operation;
        if (!queue.is_listed) {
            queue.is_listed = true;
            busy_.push_back(&queue);
        }
        me().begin(queue);
        return true;
    }

    void advance_queue(Queue& queue, std::size_t& steps_left) {
        while (queue.first != nullptr && steps_left > 0 && !me().has_stopped()) {
            if (!me().advance(*queue.first, steps_left)) {
                return;
            }
            finish_first(queue);
            if (queue.first != nullptr) {
                me().begin(queue);
            }
        }
    }

    /// Begins where the last call stopped, so that a busy queue does not starve the others.
    void advance_each(std::size_t& steps_left) {
        for (std::size_t looks = busy_.size(); looks > 0; --looks) {
            turn_ = turn_ < busy_.size() ? turn_ : 0;
            advance_queue(*busy_[turn_], steps_left);
            if (busy_[turn_]->first == nullptr) {
                busy_[turn_]->is_listed = false;
                busy_[turn_] = busy_.back();
                busy_.pop_back();
            } else if (steps_left > 0) {
                ++turn_;
            } else {
                return;
            }
        }
    }

    void finish_first(Queue& queue) {
        queue.state->finished.store(queue.begun, std::memory_order_relaxed);
        Queued& operation = *queue.first;
        queue.first = operation.next;
        finish(operation, operation.error == nullptr ? State::done : State::failed);
    }

    void finish(Queued& operation, State state) {
        operation.state = state;
        operation.next = nullptr;
        --pending_count_;
        me().note_end(operation);
        if (operation.coroutine) {
            resumable_.push_back(&operation);
        }
        if (operation.notice.call != nullptr) {
            const EndNotice notice = std::exchange(operation.notice, {});
            notice.call(notice.self);
        }
    }

    [[nodiscard]] Queued& first_pending() const noexcept { ///< Needs a pending operation.
        const auto queue =
            std::ranges::find_if(busy_, [](const Queue* of) { return of->first != nullptr; });
        return *(*queue)->first;
    }

    void consume(Operation& operation) {
        if (std::exchange(operation.state, State::idle) == State::failed) {
            if (operation.error != nullptr) {
                std::rethrow_exception(operation.error);
            }
            throw_failure();
        }
    }

    void wait_until_over(Queued& operation) {
        const auto is_over = [&operation]() noexcept {
            return operation.state != State::pending;
        };
        if (!is_over() && (!me().wait_for(is_over, operation) || !is_over())) {
            give_up(operation, me().timed_out());
        }
    }

    /// Breaks the team, if it is not broken yet, and lets everything under way fail.
    void give_up(Queued& blamed, bool timed_out) noexcept {
        try {
            if (!shared_->is_broken()) {
                shared_->fail(me().reason(blamed, timed_out));
            }
        } catch (...) { // No memory for the reason, or the team was broken meanwhile.
        }
        if (shared_->is_broken()) {
            shared_->wait_for_copies(); // The caller may free its buffers now.
        }
        abandon_all();
    }

    [[noreturn]] void fail(Queued& blamed, bool timed_out) {
        give_up(blamed, timed_out);
        throw_failure();
    }

    void abandon_all() noexcept {
        for (Queue* const queue : busy_) {
            while (queue->first != nullptr) {
                Queued& operation = *queue->first;
                queue->first = operation.next;
                me().let_go(operation);
                finish(operation, State::failed);
            }
            queue->is_listed = false;
        }
        busy_.clear();
        me().note_idle();
    }

    /// Throws the failure to the caller that takes an outcome. The first one gets what was thrown
    /// on this rank.
    [[noreturn]] void throw_failure() {
        if (thrown_ != nullptr) {
            std::rethrow_exception(std::exchange(thrown_, nullptr));
        }
        shared_->throw_failure();
    }

    TeamShared* shared_;
    std::vector<Queue*> busy_; ///< Queues that are not empty, and some that have become so.
    std::vector<std::unique_ptr<Queued>> operations_; ///< All that a request holds.
    /// Operations under way. Invariant: those in queues.
    std::size_t pending_count_ = 0;
    std::exception_ptr thrown_; ///< Thrown by an operation, an operator of the user's for example.

private:
    friend Own;
    Executor(TeamShared& shared, OneUser& of_handle) noexcept
        : Driver(of_handle), shared_(&shared) {}
    ~Executor() = default;

    [[nodiscard]] Own& me() noexcept { return static_cast<Own&>(*this); }

    /// If requests in many queues are tested one after the other, each test looks at its own queue,
    /// and one test of a round looks at all. Otherwise a round would take the square of their
    /// number. Returns whether `operation` is over.
    bool look_in_turn(Queued& operation) {
        if (operation.state == State::pending) {
            Queue& queue = *operation.queue;
            if (queue.tested == round_of_tests_ || busy_.size() <= team::tuning::few_queues) {
                ++round_of_tests_;
                me().advance_all(team::tuning::steps_of_a_look);
            } else {
                std::size_t steps_left = team::tuning::steps_of_a_look;
                advance_queue(queue, steps_left);
            }
            queue.tested = round_of_tests_;
        }
        return operation.state != State::pending;
    }

    /// Whether to give up an operation that was looked at in vain.
    [[nodiscard]] bool must_fail() {
        if (shared_->is_broken() || me().has_stopped()) {
            return true;
        }
        switch (me().patrol().after_failed_test()) {
        case Patrol::Duty::none: return false;
        case Patrol::Duty::give_up: return true;
        case Patrol::Duty::look_around: break;
        }
        return me().is_hopeless();
    }

    /// False: an operation under way has failed.
    bool go_on() {
        const bool is_well = look_at_all();
        resume_coroutines();
        return is_well;
    }

    /// As `go_on`, but coroutines stay where they are.
    bool look_at_all() {
        me().advance_all(team::tuning::steps_of_a_look);
        const bool fails = pending_count_ > 0 && must_fail();
        if (fails) {
            give_up(first_pending(), false);
        }
        return !fails;
    }

    void resume_coroutines() {
        while (!resumable_.empty()) {
            Operation& operation = *resumable_.front();
            resumable_.erase(resumable_.begin());
            std::exchange(operation.coroutine, {}).resume();
        }
    }

    std::vector<Operation*> resumable_; ///< Done, with a coroutine.
    std::size_t turn_ = 0;              ///< Index into `busy_`.
    std::uint64_t round_of_tests_ = 1;
};

} // namespace corymb::detail
