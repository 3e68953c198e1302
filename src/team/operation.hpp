// SPDX-License-Identifier: Apache-2.0
// An operation of one rank, as a Request holds it, and its place in the queue of a lane.
#pragma once

#include "team/activation.hpp"
#include "team/disagreement.hpp"
#include "team/driver.hpp"
#include "team/lane.hpp"
#include "team/lane_queue.hpp"

#include <corymb/team.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace corymb::detail {

struct LaneOperation;

struct Queue : LaneQueue<LaneOperation> {
    Queue(LaneEnd& of, team::LaneState<team::Env>& told, bool of_messages = false) noexcept
        : LaneQueue(told), lane(&of), is_of_messages(of_messages) {}

    LaneEnd* lane;
    /// The queue holds messages with one peer, in one direction. False: collectives.
    bool is_of_messages;
    WaitDoubts doubts;
    std::uint64_t looks = 0; ///< Looks at the first operation that found nothing done.
    /// The rank that the first operation awaited at the last look; -1: any.
    Rank awaited = -1;
    std::vector<std::byte> scratch; ///< Scratch memory of the operation under way.
};

struct LaneOperation final : Operation {
    Queue* queue = nullptr;
    LaneOperation* next = nullptr; ///< The next in its queue, or among the spare operations.
    team::Activation<team::Env> activation;
    team::Operands operands;
    std::size_t scratch_bytes = 0;
    std::vector<std::byte> own_scratch; ///< Used when the queue's scratch is too small and in use.
    team::PlanKey key;
    team::CallTerms terms;
    team::PairKey pair; ///< For a message between two ranks: peer and direction; else peer is -1.
    /// Objects that the operation needs beside the caller's buffers.
    std::shared_ptr<const void> keep;
    bool has_own_lane = false; ///< Persistent collectives.
    bool is_long = false;      ///< A nonblocking collective with the edges of long_lane.
    /// Number among the long collectives that the rank has started, from 1.
    std::uint64_t long_number = 0;
    /// The time that the search for its plan has taken; 0 of persistent ones, whose search no start
    /// waits for.
    std::int64_t planning_ns = 0;
    /// Invariant: its place among all operations that a request holds.
    std::size_t index = 0;

    /// Lets go of the caller's objects and resets the fields that making an operation does not set.
    /// Writing the whole record anew would take as long as the rest of a small operation.
    void clear() noexcept {
        queue = nullptr;
        next = nullptr;
        pair = {};
        keep.reset();
        staging.reset();
        has_own_lane = is_persistent = is_message = is_long = false;
        long_number = 0;
        planning_ns = 0;
        coroutine = {};
        notice = {};
        own_scratch.clear();
        state = State::idle;
    }
};

/// Whether the first operation of a queue is done, and is the next one in its queue and among the
/// long ones; for assertions.
[[nodiscard]] inline bool is_done_in_turn(const Queue& queue, std::uint64_t long_done) noexcept {
    const LaneOperation& operation = *queue.first;
    return operation.activation.is_done() && operation.state == Operation::State::pending &&
           operation.queue == &queue &&
           queue.state->finished.load(std::memory_order_relaxed) + 1 == queue.begun &&
           (operation.long_number == 0 || operation.long_number == long_done + 1);
}

} // namespace corymb::detail
