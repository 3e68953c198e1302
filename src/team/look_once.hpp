// SPDX-License-Identifier: Apache-2.0
// Purpose: the waiter of operations that must not block: it looks at the word once.
//
// Roles: one per rank, used by the thread that drives the rank's pending operations.
//
// Layout: none of its own.
//
// Protocol: a failed look ends the engine's call; the next call looks at the same word again.
//
// Order: the caller names the order of its word; a look that fails orders nothing.
//
// Progress: wait-free.
//
// Checked by: verify/worlds/lanes_world.cpp.
#pragma once

#include "channel/copy_gate.hpp"

#include <atomic>
#include <cstdint>

namespace corymb::team {

template <class Env>
class LookOnce {
public:
    using Gate = channel::CopyGate<Env>;
    using Flag = typename Env::template Atomic<std::uint32_t>;

    /// `gate` is the rank's; while `broken` is non-zero nothing is copied out of a peer's memory.
    LookOnce(Gate& gate, const Flag& broken) noexcept : gate_(&gate), broken_(&broken) {}

    template <class T, class Predicate>
    [[nodiscard]] bool await(const typename Env::template Atomic<T>& word, std::memory_order order,
                             const Predicate& satisfied, T& seen) {
        seen = word.load(order);
        return satisfied(seen);
    }

    /// Names the rank whose word is looked at next.
    void expect(std::int32_t rank) noexcept { expected_ = rank; }
    [[nodiscard]] std::int32_t expected() const noexcept { return expected_; }

    [[nodiscard]] bool begin_copy(channel::Copy copy = channel::Copy::ordinary) noexcept {
        return gate_->enter(*broken_, copy);
    }
    void end_copy() noexcept { gate_->leave(); }

private:
    Gate* gate_;
    const Flag* broken_;
    std::int32_t expected_ = -1;
};

} // namespace corymb::team
