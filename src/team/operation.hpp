// SPDX-License-Identifier: Apache-2.0
// What a Request stands for: one operation of one rank, and its place in the queue of a lane.
#pragma once

#include "team/activation.hpp"
#include "team/disagreement.hpp"
#include "team/driver.hpp"
#include "team/lane.hpp"

#include <corymb/team.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace corymb::detail {

struct LaneOperation;

/// Operations of one rank that must happen one after the other. Only the first one is under way.
struct Queue {
    Queue(LaneEnd& of, team::LaneState<team::Env>& told, bool of_messages = false) noexcept
        : lane(&of), state(&told), is_of_messages(of_messages) {}

    LaneEnd* lane;
    team::LaneState<team::Env>* state; ///< Where operations say that they have begun.
    bool is_of_messages;               ///< With one peer, in one direction; else of collectives.
    LaneOperation* first = nullptr;
    LaneOperation* last = nullptr;
    bool is_listed = false;   ///< In Pending's list of queues that are not empty.
    std::uint64_t begun = 0;  ///< Operations that came to be the first.
    std::uint64_t tested = 0; ///< The round of tests that has looked at it.
    team::CallDigest digest;  ///< Of their terms.
    WaitDoubts doubts;
    std::uint64_t looks = 0; ///< At the first operation, in vain.
    Rank awaited = -1;       ///< By the first operation, when it was last looked at; -1: any.
    std::vector<std::byte> scratch; ///< Of the operation under way.
};

struct LaneOperation final : Operation {
    Queue* queue = nullptr;
    LaneOperation* next = nullptr; ///< In its queue, or among the spare ones.
    team::Activation<team::Env> activation;
    team::Operands operands;
    std::size_t scratch_bytes = 0;
    std::vector<std::byte> own_scratch; ///< When that of the queue is too small and in use.
    team::PlanKey key;
    team::CallTerms terms;
    team::PairKey pair; ///< For a message between two ranks: peer and direction; else peer is -1.
    std::shared_ptr<const void> keep; ///< What the operation needs beside the caller's buffers.
    bool has_own_lane = false;        ///< Persistent collectives.
    bool is_long = false;             ///< A nonblocking collective with the edges of long_lane.
    std::uint64_t long_number = 0;    ///< Which of those that the rank has started, from 1.
    std::size_t index = 0;            ///< Among all operations that a request holds.

    /// Lets go of what belongs to the caller and forgets what making it does not set; writing the
    /// whole record anew would take as long as the rest of a small operation.
    void clear() noexcept {
        queue = nullptr;
        next = nullptr;
        pair = {};
        keep.reset();
        staging.reset();
        has_own_lane = is_persistent = is_message = is_long = false;
        long_number = 0;
        coroutine = {};
        own_scratch.clear();
        state = State::idle;
    }
};

} // namespace corymb::detail
