// SPDX-License-Identifier: Apache-2.0
// The requests of one rank of a team on one node: an executor whose engine looks at each operation
// but never waits.
#pragma once

#include "channel/look_once.hpp"
#include "channel/wait_ladder.hpp"
#include "team/engine.hpp"
#include "team/executor.hpp"
#include "team/leaving.hpp"
#include "team/operation.hpp"
#include "team/request_wait.hpp"
#include "team/team_shared.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace corymb::detail {

struct Call; // call.hpp

class Pending final : public Executor<Pending, Queue> {
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
    void wait(Operation& operation) override;
    bool cancel(Operation& operation) override;
    void abandon(const std::string& why) noexcept override;
    [[nodiscard]] channel::EventCount<channel::StandardEnv>* events() noexcept override;

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
    /// The reason why nothing goes on here any more, if there is one: an operator has thrown, for
    /// example.
    [[nodiscard]] std::optional<team::Failure> why_stopped();

private:
    friend class Executor<Pending, Queue>;
    using Engine = team::Engine<team::Env, channel::LookOnce>;
    using Program = team::Program<team::Env>;

    // For Executor, which says what they do.
    bool advance(LaneOperation& operation, std::size_t& steps_left) noexcept;
    void begin(Queue& queue) noexcept;
    void note_end(LaneOperation& operation) noexcept;
    static void let_go(LaneOperation& /*operation*/) noexcept {}
    void note_idle() noexcept { ladder_->set_background(nullptr); }
    void advance_all(std::size_t steps_left) noexcept;
    /// Whether going on makes no sense: a peer is in another call, its memory cannot be copied, or
    /// an operator has thrown.
    [[nodiscard]] bool has_stopped() const noexcept {
        return has_met_other_call() || uncopied_ != nullptr || thrown_ != nullptr;
    }
    [[nodiscard]] bool is_hopeless() { return hopeless().has_value(); }
    [[nodiscard]] team::Failure reason(const LaneOperation& operation, bool timed_out);
    /// Sleeps in long waits; a peer that has moved wakes the rank.
    [[nodiscard]] bool wait_for(const auto& is_done, const LaneOperation& operation) noexcept {
        auto done = [&]() noexcept {
            if (!is_done()) {
                advance_all(all_steps);
            }
            return is_done() || has_stopped();
        };
        const bool is_over = ladder_->until(done, moved_bytes(operation));
        ladder_->attribute_last_wait(operation.queue->awaited);
        return is_over;
    }
    [[nodiscard]] bool timed_out() const noexcept { return ladder_->timed_out(); }
    [[nodiscard]] Patrol& patrol() noexcept { return patrol_; }
    [[nodiscard]] std::string own_name() const { return shared_->name_of(rank_); }
    [[nodiscard]] Rank own_number() const noexcept { return rank_; }
    void give_back_lane(const LaneOperation& operation) noexcept;
    void keep_spare(std::unique_ptr<LaneOperation> operation) noexcept;

    LaneOperation& take_spare();
    void prepare(LaneOperation& operation, const team::Operands& operands);
    static void take_back_begin(Queue& queue) noexcept;
    Queue& messages_with(const team::PairKey& key);
    void note_start(const LaneOperation& operation);
    void unlink(LaneOperation& operation) noexcept;
    [[nodiscard]] bool has_met_other_call() const noexcept {
        return engine_.met_other_call() || waiting_.met_other_call();
    }
    [[nodiscard]] std::vector<int> ended(const Queue& queue);
    [[nodiscard]] std::optional<team::Failure> contradiction(Queue& queue);
    [[nodiscard]] team::Failure met_in(const LaneOperation& operation);
    [[nodiscard]] std::optional<team::Failure> other_call();
    /// The bytes that decide how patient a wait is.
    [[nodiscard]] std::uint64_t moved_bytes(const LaneOperation& operation) const noexcept;
    /// Waits for the only operation under way: there is nothing to look at but its own next word.
    void wait_for_only(LaneOperation& operation);
    /// For assertions: whether the first operation of a queue is done, and the counts say so, too.
    [[nodiscard]] bool may_finish(const Queue& queue) const noexcept {
        return pending_count_ > 0 && is_done_in_turn(queue, long_done_);
    }
    /// Long collectives go on one after the other, in the order of their start.
    [[nodiscard]] bool has_its_turn(const LaneOperation& operation) const noexcept {
        return operation.long_number <= long_done_ + 1;
    }
    /// The operation that must go on before this one can; it is the first of its queue.
    [[nodiscard]] const LaneOperation& held_up_by(const LaneOperation& operation) const noexcept;

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
    std::vector<std::unique_ptr<LaneOperation>> spare_;
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
