// SPDX-License-Identifier: Apache-2.0
#include "team/pending.hpp"

#include "base/assert.hpp"
#include "base/make_room.hpp"
#include "plan/channel_room.hpp"
#include "team/blame.hpp"
#include "team/call.hpp"
#include "team/tuning.hpp"

#include <algorithm>
#include <exception>

namespace corymb::detail {

using State = Operation::State;

namespace {

/// Whether an operation needs a long channel, or may: docs/internals/requests.md has these
/// limits. A rank of a reduce_scatter soon needs again the room it has written: 64 KiB parts take
/// 0.56 to 0.79 times as long through long channels, other operations 0.93 to 1.25 times. In a
/// vector operation not every rank knows the lengths of parts.
bool is_long(const team::PlanKey& key, int ranks) noexcept {
    constexpr std::uint64_t short_most = 128 << 10;
    const std::uint64_t shared = team::shared_cell_ring_slots(ranks) * cell_bytes;
    return key.bytes > short_most ||
           (key.op == Collective::reduce_scatter && key.bytes > shared / 2 &&
            shared < plan::cell_ring_bytes(ranks));
}

} // namespace

Pending::Pending(TeamShared& shared, Rank rank, channel::WaitLadder& ladder, OneUser& of_handle)
    : Executor(shared, of_handle), rank_(rank), ladder_(&ladder),
      engine_(looking_, rank, shared.gate_of(rank)), waiting_(ladder, rank, shared.gate_of(rank)),
      patrol_(shared.deadline_ns), long_end_(shared, rank, team::long_lane),
      pair_end_(shared, rank, team::pair_lane) {}

void Pending::add_to(team::CallsInAll& calls) const noexcept {
    for (const auto& [lane, collectives] : lanes_) {
        if (collectives.queue.begun > 0) {
            calls.add(lane, collectives.queue.begun, collectives.queue.digest);
        }
    }
}

Pending::~Pending() {
    complete_quietly();
    orphan_all();
}

LaneOperation& Pending::take_spare() {
    if (spare_.empty()) [[unlikely]] {
        make_room(spare_, operations_.size() + 1); // Room for all operations: see `keep_spare`.
        spare_.push_back(std::make_unique<LaneOperation>());
    }
    std::unique_ptr<LaneOperation> operation = std::move(spare_.back());
    spare_.pop_back();
    return hold(std::move(operation));
}

void Pending::give_back_lane(const LaneOperation& operation) noexcept {
    if (operation.has_own_lane) {
        shared_->give_back_own_lane(operation.queue->lane->id());
    }
}

void Pending::keep_spare(std::unique_ptr<LaneOperation> operation) noexcept {
    operation->clear();
    spare_.push_back(std::move(operation));
}

void Pending::prepare(LaneOperation& operation, const team::Operands& operands) {
    CORYMB_ASSERT(operation.queue != nullptr && operation.activation.program != nullptr);
    CORYMB_ASSERT(operation.has_own_lane == (operation.queue->lane->id() >= team::first_own_lane));
    const auto& program = *operation.activation.program;
    operation.operands = operands;
    set_block_bytes(operation.operands, program);
    operation.scratch_bytes = scratch_bytes(operation.operands, program);
    operation.activation.operands = &operation.operands;
}

Pending::Collectives& Pending::collectives(team::LaneId id) {
    return lanes_.try_emplace(id, *shared_, rank_, id).first->second;
}

/// Takes a lane, and waits if there is none: a rank that makes and lets go may be far ahead of
/// others, which still have theirs.
team::LaneId Pending::take_own_lane() {
    const std::uint64_t number = ++own_made_;
    std::optional<team::LaneId> lane = shared_->take_own_lane(number);
    if (!lane) [[unlikely]] {
        require_own_lanes(
            std::ranges::count_if(operations_, [](const auto& one) { return one->has_own_lane; }));
        std::exception_ptr error;
        auto done = [&]() noexcept {
            try {
                advance_all(all_steps);
                lane = shared_->take_own_lane(number);
            } catch (...) {
                error = std::current_exception();
            }
            return lane || error != nullptr || has_stopped();
        };
        static_cast<void>(ladder_->until(done, 0));
        if (error != nullptr) {
            std::rethrow_exception(error);
        }
        if (!lane) {
            give_up_own_lane(ladder_->timed_out());
        }
    }
    return *lane;
}

Pending::Collectives& Pending::own_collectives() {
    const team::LaneId id = take_own_lane();
    try {
        return collectives(id);
    } catch (...) {
        shared_->give_back_own_lane(id);
        throw;
    }
}

Pending::Collectives& Pending::collectives_in_turn() {
    const auto turn = static_cast<team::LaneId>(started_++ % team::collective_lanes);
    auto& known = nonblocking_[turn];
    if (known == nullptr) {
        known = &collectives(1 + turn);
    }
    CORYMB_ASSERT(known != nullptr && known->queue.lane->id() == 1 + turn);
    return *known;
}

// Flattened, as Member's calls are: beside a small operation calls of little functions count.
[[gnu::flatten]] LaneOperation& Pending::make(const Call& call, bool own_lane,
                                              std::shared_ptr<const void> keep) {
    LaneOperation& operation = take_spare();
    try {
        Collectives& lane = own_lane ? own_collectives() : collectives_in_turn();
        operation.queue = &lane.queue;
        operation.has_own_lane = operation.is_persistent = own_lane;
        operation.is_long =
            !own_lane && !call.is_nothing && is_long(call.key, shared_->fabric.size());
        operation.key = call.key;
        operation.terms = call.terms;
        operation.keep = std::move(keep);
        LaneEnd& end = operation.is_long ? long_end_ : lane.end;
        end.set_deadline(patrol_.deadline_ns());
        operation.activation.program = call.is_nothing ? &nothing_ : &end.program_for(call.key);
        operation.planning_ns = own_lane ? 0 : end.take_planning_ns();
        prepare(operation, call.operands);
    } catch (...) {
        forget(operation);
        tell_broken_invariant(*shared_, rank_);
        throw;
    }
    return operation;
}

Queue& Pending::messages_with(const team::PairKey& key) {
    const auto found = pairs_.find({key.peer, key.direction});
    if (found != pairs_.end()) {
        return found->second;
    }
    auto& state = shared_->lane(team::pair_lane)
                      .pair_state(rank_, key.peer, key.direction == team::Direction::send);
    return pairs_.try_emplace({key.peer, key.direction}, pair_end_, state, true).first->second;
}

LaneOperation& Pending::make_pair(const team::PairKey& key, const team::Operands& operands,
                                  bool persistent) {
    LaneOperation& operation = take_spare();
    try {
        operation.queue = &messages_with(key);
        operation.activation.program = &pair_end_.pair_program(key);
        CORYMB_ASSERT((operation.activation.program->steps.front().from.end_part != 0) ==
                      (key.direction == team::Direction::send));
    } catch (...) {
        forget(operation);
        tell_broken_invariant(*shared_, rank_);
        throw;
    }
    operation.pair = key;
    operation.terms = team::message_terms(operands.bytes);
    operation.is_message = true;
    operation.is_persistent = persistent;
    prepare(operation, operands);
    return operation;
}

[[gnu::flatten]] void Pending::start(Operation& given) {
    auto& operation = queued(given);
    CORYMB_ASSERT(operation.activation.operands == &operation.operands);
    shared_->throw_if_broken();
    Queue& queue = *operation.queue;
    make_room_for(queue);
    // Operations before it in the queue use the queue's scratch.
    if (operation.scratch_bytes > queue.scratch.size()) {
        auto& scratch = queue.first != nullptr ? operation.own_scratch : queue.scratch;
        scratch.resize(operation.scratch_bytes);
    }
    operation.activation.step = operation.activation.offset = 0;
    operation.long_number = operation.is_long ? ++long_started_ : 0;
    ladder_->set_background(&background_);
    const bool is_first = enter(operation);
    note_start(operation);
    if (is_first) {
        std::size_t steps = team::tuning::steps_of_a_look;
        advance_queue(queue, steps);
    }
}

/// Does the part of a start that peers do not wait for.
void Pending::note_start(const LaneOperation& operation) {
    patrol_.note_start(operation.planning_ns);
    if (operation.is_message) {
        ladder_->begin_to_move(moved_bytes(operation));
        return;
    }
    ladder_->begin_operation(moved_bytes(operation));
    if (team::sends_from_root(operation.terms)) {
        last_root_ = team::root_of(operation.terms);
    }
}

/// Starts the first operation of the queue: gives it its scratch, sends first what its peers wait
/// for (see Member::execute), and records that it has begun.
void Pending::begin(Queue& queue) noexcept {
    LaneOperation& operation = *queue.first;
    set_scratch(operation.operands, *operation.activation.program,
                operation.own_scratch.empty() ? queue.scratch.data()
                                              : operation.own_scratch.data());
    ++queue.begun;
    if (!queue.is_of_messages) {
        queue.digest.add(operation.terms);
        operation.operands.signature = queue.digest.signature();
    }
    if (has_its_turn(operation) && !has_stopped()) {
        try {
            operation.activation.step =
                engine_.lead(*operation.activation.program, operation.operands);
        } catch (...) { // An assertion.
            thrown_ = std::current_exception();
        }
    }
    queue.state->calls.write(queue.begun, operation.terms);
    queue.state->started.store(queue.begun, std::memory_order_relaxed);
}

bool Pending::advance(LaneOperation& operation, std::size_t& steps_left) noexcept {
    if (!has_its_turn(operation)) {
        return false;
    }
    Queue& queue = *operation.queue;
    const std::size_t before = operation.activation.step;
    bool done = false;
    try {
        CORYMB_DEBUG_ASSERT(is_sound(queue));
        done = engine_.run(operation.activation, steps_left);
        CORYMB_ASSERT(done == may_finish(queue));
    } catch (...) { // An operator of the user's. Some other call may be in progress here.
        thrown_ = std::current_exception();
        done = false;
    }
    steps_left -= std::min(steps_left, operation.activation.step - before + 1);
    if (done || operation.activation.step != before) {
        patrol_.note_progress();
    }
    if (!done) {
        queue.awaited = looking_.expected();
        ++queue.looks;
        uncopied_ = engine_.cannot_copy() ? &operation : uncopied_;
    }
    return done;
}

void Pending::note_end(LaneOperation& operation) noexcept {
    operation.own_scratch.clear();
    long_done_ += operation.long_number != 0 ? 1 : 0;
    patrol_.note_end(operation.planning_ns);
}

void Pending::advance_all(std::size_t steps_left) noexcept {
    std::uint64_t done = 0;
    // Repeats: a long operation that ends may let another go on whose queue was looked at before.
    do {
        done = long_done_;
        advance_each(steps_left);
    } while (done != long_done_ && steps_left > 0);
    if (busy_.empty()) {
        note_idle();
    }
}

bool Pending::cancel(Operation& given) {
    auto& operation = queued(given);
    if (look_once(operation)) { // A message that is there already counts as received.
        return false;
    }
    if (has_stopped()) {
        fail(operation, false);
    }
    if (operation.activation.step != 0 || operation.activation.offset != 0) {
        return false;
    }
    unlink(operation);
    finish(operation, State::idle);
    return true;
}

void Pending::unlink(LaneOperation& operation) noexcept {
    Queue& queue = *operation.queue;
    if (queue.first == &operation) {
        take_back_begin(queue);
        queue.first = operation.next;
        if (queue.first != nullptr) {
            begin(queue);
        }
        return;
    }
    LaneOperation* before = queue.first;
    while (before->next != &operation) {
        before = before->next;
    }
    before->next = operation.next;
    if (queue.last == &operation) {
        queue.last = before;
    }
}

std::uint64_t Pending::moved_bytes(const LaneOperation& operation) const noexcept {
    return operation.is_message
               ? operation.operands.bytes
               : team::moved_bytes(operation.key.op, operation.operands, shared_->fabric.size());
}

[[gnu::flatten]] void Pending::wait_for_only(LaneOperation& operation) {
    ladder_->set_background(nullptr); // The background work would go on with this very operation.
    ladder_->expect_bytes(moved_bytes(operation));
    bool done = false;
    waits_for_only_ = true;
    try {
        done = waiting_.run(operation.activation);
        CORYMB_ASSERT(done == may_finish(*operation.queue));
    } catch (...) { // An operator of the user's.
        thrown_ = std::current_exception();
    }
    if (!done) [[unlikely]] {
        uncopied_ = waiting_.cannot_copy() ? &operation : uncopied_;
        fail(operation, ladder_->timed_out());
    }
    waits_for_only_ = false;
    shown_wait_.hide(*shared_, rank_);
    patrol_.note_progress();
    finish_first(*operation.queue);
    for (Queue* queue : busy_) {
        queue->is_listed = false;
    }
    busy_.clear();
}

void Pending::wait(Operation& given) {
    auto& operation = queued(given);
    if (pending_count_ == 1 && operation.state == State::pending && !has_stopped()) {
        wait_for_only(operation);
    } else {
        wait_until_over(operation);
    }
    consume(operation);
}

} // namespace corymb::detail
