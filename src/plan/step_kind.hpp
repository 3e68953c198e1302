// SPDX-License-Identifier: Apache-2.0
// Properties of the kinds of steps, for all code that walks through plans.
#pragma once

#include <corymb/plan.hpp>

namespace corymb::plan {

/// Starts a message or notification to one peer.
[[nodiscard]] constexpr bool is_sending(StepKind kind) noexcept {
    return kind == StepKind::signal || kind == StepKind::send || kind == StepKind::offer;
}

/// Writes into the blocks that a peer has offered.
[[nodiscard]] constexpr bool is_putting(StepKind kind) noexcept {
    return kind == StepKind::put || kind == StepKind::put_fold;
}

/// Ends a message or notification from one peer.
[[nodiscard]] constexpr bool is_receiving(StepKind kind) noexcept {
    return kind == StepKind::wait || kind == StepKind::recv || kind == StepKind::fold ||
           is_putting(kind);
}

[[nodiscard]] constexpr bool is_reading(StepKind kind) noexcept {
    return kind == StepKind::read || kind == StepKind::read_fold;
}

/// The step waits for a peer before it does anything.
[[nodiscard]] constexpr bool has_source(StepKind kind) noexcept {
    return is_receiving(kind) || is_reading(kind);
}

/// The step combines with the reduction operator.
[[nodiscard]] constexpr bool is_folding(StepKind kind) noexcept {
    return kind == StepKind::fold || kind == StepKind::read_fold || kind == StepKind::put_fold;
}

[[nodiscard]] constexpr bool has_peer(StepKind kind) noexcept {
    return kind != StepKind::publish && kind != StepKind::copy;
}

/// Takes data out of the blocks `from` of its own rank, or lets a peer take it.
[[nodiscard]] constexpr bool uses_from(StepKind kind) noexcept {
    return kind == StepKind::send || kind == StepKind::publish || kind == StepKind::copy ||
           kind == StepKind::offer || kind == StepKind::put || is_folding(kind);
}

/// Puts data into the blocks `to` of its own rank, or lets a peer do so.
[[nodiscard]] constexpr bool uses_to(StepKind kind) noexcept {
    return kind == StepKind::recv || kind == StepKind::fold || is_reading(kind) ||
           kind == StepKind::copy || kind == StepKind::offer;
}

/// Names blocks to take from and blocks to put into.
[[nodiscard]] constexpr bool uses_both(StepKind kind) noexcept {
    return uses_from(kind) && uses_to(kind);
}

/// The blocks of its publisher that a read, or read_fold, of this publication takes.
[[nodiscard]] constexpr Blocks taken_blocks(const Step& publication, const Step& read) noexcept {
    const Blocks& all = publication.from;
    return {all.buffer, all.first + read.offset, read.to.count};
}

} // namespace corymb::plan
