// SPDX-License-Identifier: Apache-2.0
// The operations of one rank that are under way beside the one that it is in: queues on lanes, and
// one engine that looks at each but never waits.
#pragma once

#include "channel/look_once.hpp"
#include "channel/wait_ladder.hpp"
#include "team/engine.hpp"
#include "team/leaving.hpp"
#include "team/operation.hpp"
#include "team/patrol.hpp"
#include "team/request_wait.hpp"
#include "team/team_shared.hpp"

#include <cstdint>
#include <deque>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace corymb::detail {

struct Call; // call.hpp

class Pending final : public Driver {
public:
    Pending(TeamShared& shared, Rank rank, channel::WaitLadder& ladder, OneUser& of_handle);
    /// Completes the operations as `complete_quietly` does; requests that are left keep their
    /// outcome.
    ~Pending();

    /// A collective, not started; with `own_lane` it can be started many times. Throws what
    /// planning throws.
    LaneOperation& make(const Call& call, bool own_lane, std::shared_ptr<const void> keep);
    /// A message from or to a peer.
    LaneOperation& make_pair(const team::PairKey& key, const team::Operands& operands,
                             bool persistent);

    void start(Operation& operation) override;
    bool look_once(Operation& operation) override;
    bool test(Operation& operation) override;
    void wait(Operation& operation) override;
    bool cancel(Operation& operation) override;
    std::size_t wait_any(const std::vector<Operation*>& operations) override;
    void drain(Operation& operation) noexcept override;
    void abandon(const std::string& why) noexcept override;
    void forget(Operation& operation) noexcept override;

    /// Goes on with everything as far as it can at once, and resumes coroutines whose operations
    /// are done. Returns how many operations are under way or have a coroutine to be resumed.
    std::size_t progress();
    void complete_all();
    /// Completes the operations under way as ~Request does.
    void complete_quietly() noexcept;
    /// All collectives that have begun.
    void add_to(team::CallsInAll& calls) const noexcept;

    /// The root of the last collective begun since the last call of this in which ranks wait for
    /// data of the root; -1: there was none.
    [[nodiscard]] Rank take_root() noexcept { return std::exchange(last_root_, -1); }

    /// The reason why an operation under way cannot end, if there is one: a rank has ended or has
    /// called something else. O(ranks) for each lane in use.
    [[nodiscard]] std::optional<team::Failure> hopeless();
    /// Longest wait from now on.
    void set_deadline(std::int64_t deadline_ns) noexcept { patrol_.set_deadline(deadline_ns); }
    /// Records that the rank has waited for long and has looked at the awaited word again.
    void note_long_wait() noexcept { ++long_waits_; }
    /// Whether an operation is not over.
    [[nodiscard]] bool is_under_way() const noexcept { return pending_count_ != 0; }
    /// The reason why nothing goes on here any more, if there is one: an operator has thrown, for
    /// example.
    [[nodiscard]] std::optional<team::Failure> why_stopped();

private:
    using Engine = team::Engine<team::Env, channel::LookOnce>;
    using Program = team::Program<team::Env>;

    static constexpr std::size_t all_steps = std::numeric_limits<std::size_t>::max();

    void prepare(LaneOperation& operation, const team::Operands& operands);
    LaneOperation& take_spare();
    void begin(Queue& queue);
    static void take_back_begin(Queue& queue) noexcept;
    Queue& messages_with(const team::PairKey& key);
    void note_start(const LaneOperation& operation);
    void advance(Queue& queue, std::size_t& steps_left);
    void advance_all(std::size_t steps_left) noexcept;
    void advance_each(std::size_t& steps_left) noexcept;
    void finish(LaneOperation& operation, LaneOperation::State state);
    void unlink(LaneOperation& operation) noexcept;
    /// Whether `operation` is no longer pending, after a look at everything.
    bool look(LaneOperation& operation, std::size_t steps_max) noexcept;
    /// Looks at the operation's own queue, and at times at all. Repeated calls come to every queue.
    bool look_in_turn(LaneOperation& operation) noexcept;
    void consume(LaneOperation& operation);
    [[nodiscard]] LaneOperation& first_pending() const noexcept; ///< Needs a pending operation.
    /// Whether to give up an operation that was looked at in vain.
    [[nodiscard]] bool must_fail();
    /// Whether going on makes no sense: a peer is in another call, its memory cannot be copied, or
    /// an operator has thrown.
    [[nodiscard]] bool has_stopped() const noexcept {
        return has_met_other_call() || uncopied_ != nullptr || thrown_ != nullptr;
    }
    [[nodiscard]] bool has_met_other_call() const noexcept {
        return engine_.met_other_call() || waiting_.met_other_call();
    }
    [[nodiscard]] team::Failure reason(const LaneOperation& operation, bool timed_out);
    [[nodiscard]] std::vector<int> ended(const Queue& queue);
    [[nodiscard]] std::optional<team::Failure> contradiction(Queue& queue);
    [[nodiscard]] team::Failure met_in(const LaneOperation& operation);
    [[nodiscard]] std::optional<team::Failure> other_call();
    /// Breaks the team, if it is not broken yet, and lets everything under way fail.
    void give_up(const LaneOperation& blamed, bool timed_out);
    /// Throws the failure to the caller that takes an outcome. The first caller gets the exception
    /// of its operator.
    [[noreturn]] void throw_failure();
    [[noreturn]] void fail(const LaneOperation& blamed, bool timed_out);
    /// Calls `progress`. False: an operation under way has failed.
    bool go_on();
    void abandon_all() noexcept;
    void resume_coroutines();
    /// The bytes that decide how patient a wait is.
    [[nodiscard]] std::uint64_t moved_bytes(const LaneOperation& operation) const noexcept;
    void wait_until_over(LaneOperation& operation);
    /// Waits for the only operation under way: there is nothing to look at but its own next word.
    void wait_for_only(LaneOperation& operation);
    /// For assertions: whether the first operation of a queue is done, and the counts say so, too.
    [[nodiscard]] bool may_finish(const Queue& queue) const noexcept {
        return pending_count_ > 0 && is_done_in_turn(queue, long_done_);
    }
    void finish_first(Queue& queue);
    /// Long collectives go on one after the other, in the order of their start.
    [[nodiscard]] bool has_its_turn(const LaneOperation& operation) const noexcept {
        return operation.long_number <= long_done_ + 1;
    }
    /// The operation that must go on before this one can; it is the first of its queue.
    [[nodiscard]] const LaneOperation& held_up_by(const LaneOperation& operation) const noexcept;

    TeamShared* shared_;
    Rank rank_;
    channel::WaitLadder* ladder_;
    channel::LookOnce looking_;
    Engine engine_;
    team::Engine<team::Env, channel::WaitLadder> waiting_;
    Patrol patrol_;
    /// True within wait_for_only and after it has failed.
    bool waits_for_only_ = false;
    ShownWait shown_wait_;
    std::uint64_t long_waits_ = 0; ///< See note_long_wait.
    std::exception_ptr thrown_;    ///< Thrown by an operator.
    /// The operation whose peer's memory cannot be copied.
    const LaneOperation* uncopied_ = nullptr;
    Program nothing_;            ///< Program of collectives without bytes.
    std::uint64_t started_ = 0;  ///< Nonblocking collectives.
    Rank last_root_ = -1;        ///< See take_root.
    std::uint64_t own_made_ = 0; ///< Persistent ones that were made.
    /// A lane of collectives: made when first needed, kept for its counts.
    struct Collectives {
        Collectives(TeamShared& shared, Rank rank, team::LaneId id)
            : end(shared, rank, id), queue(end, shared.lane(id).lane_state(rank)) {}
        LaneEnd end;
        Queue queue;
    };
    Collectives& collectives(team::LaneId id);
    Collectives& own_collectives();
    [[nodiscard]] team::LaneId take_own_lane();
    /// Fails because other ranks have not let go of their lanes.
    [[noreturn]] void give_up_own_lane(bool timed_out);
    Collectives& collectives_in_turn();
    std::map<team::LaneId, Collectives> lanes_;
    Collectives* nonblocking_[team::collective_lanes] = {}; ///< Pointers into `lanes_`.
    LaneEnd long_end_;
    std::uint64_t long_started_ = 0;
    std::uint64_t long_done_ = 0;
    LaneEnd pair_end_;
    std::map<std::pair<Rank, team::Direction>, Queue> pairs_;
    std::vector<Queue*> busy_; ///< Queues that are not empty.
    std::size_t turn_ = 0;     ///< Index into `busy_`.
    std::uint64_t round_of_tests_ = 1;
    std::vector<std::unique_ptr<LaneOperation>> operations_; ///< All that a request holds.
    std::vector<std::unique_ptr<LaneOperation>> spare_;
    std::vector<Operation*> resumable_; ///< Done, with a coroutine.
    std::size_t pending_count_ = 0;
    struct Background {
        Pending* pending;
        bool operator()() const noexcept {
            pending->advance_all(all_steps);
            return false;
        }
    } work_{this};
    channel::Look background_{work_}; ///< Run by the waits of blocking operations.
};

} // namespace corymb::detail
