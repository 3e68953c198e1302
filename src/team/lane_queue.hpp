// SPDX-License-Identifier: Apache-2.0
// Operations of one rank that must happen one after the other: only the first is under way.
#pragma once

#include "team/call_terms.hpp"
#include "team/driver.hpp"
#include "team/fabric.hpp"

#include <atomic>
#include <cstdint>

namespace corymb::detail {

/// `Of` is the kind of operation. It has `queue`, `next` and `activation`.
template <class Of>
struct LaneQueue {
    using Queued = Of;

    explicit LaneQueue(team::LaneState<team::Env>& told) noexcept : state(&told) {}

    team::LaneState<team::Env>* state; ///< The state where operations record that they have begun.
    Queued* first = nullptr;           ///< Invariant: under way, and all behind it are not.
    Queued* last = nullptr;            ///< Invariant: reached from `first`, if there is one.
    /// Invariant: true if the queue is not empty. It is in its executor's list then.
    bool is_listed = false;
    /// Operations that came to be the first. Invariant: the count `started` of the state.
    std::uint64_t begun = 0;
    std::uint64_t tested = 0; ///< The round of tests that has looked at it.
    team::CallDigest digest;  ///< Digest of the terms of its operations.
};

/// Whether a queue that is not empty keeps its invariants; for assertions.
template <class Queue>
[[nodiscard]] bool is_sound(const Queue& queue) noexcept {
    const auto is_here = [&queue](const auto* one) {
        return one != nullptr && one->queue == &queue && one->state == Operation::State::pending;
    };
    const auto& told = *queue.state;
    return queue.is_listed && is_here(queue.first) && is_here(queue.last) &&
           queue.last->next == nullptr &&
           told.started.load(std::memory_order_relaxed) == queue.begun &&
           told.finished.load(std::memory_order_relaxed) + 1 == queue.begun;
}

} // namespace corymb::detail
