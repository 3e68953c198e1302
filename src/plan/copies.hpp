// SPDX-License-Identifier: Apache-2.0
// Messages by pull of plans for any length, the short ones of which take a copy along.
#pragma once

#include <corymb/plan.hpp>

#include <cstddef>
#include <cstdint>

namespace corymb::plan {

/// The plan with copies: messages by pull of at most `cells` cells go through the channel of cells,
/// where all of them have room at once in `cell_slots` slots; see Plan::copied_cells. If the plan
/// acknowledges one by one, its signals and waits are marked as acknowledgements, which are left
/// out for messages that took a copy along. A plan that is not for any length, that lends nothing
/// or that sends through cells stays as it is. So does a plan with messages of so many parts that
/// no parts are short enough. O(steps log steps).
[[nodiscard]] Plan with_copies(Plan lending, std::uint32_t cells, std::uint32_t cell_slots);

/// Whether the plan's signals do nothing but hold the owners of buffers until a peer has copied out
/// of them. All of this is true then:
/// - All messages are lent by pull, one to a peer.
/// - Each reader signals to the owner after its read.
/// - A rank that waits for such a signal does nothing else any more.
/// If a message takes a copy along, its signal and its wait are needless: the peer reads nothing
/// later. O(steps log steps).
[[nodiscard]] bool acknowledges_one_by_one(const Plan& plan);

/// Whether a signal or wait is marked as an acknowledgement.
[[nodiscard]] constexpr bool is_acknowledgement(const Step& step) noexcept {
    return step.via == Mechanism::pull &&
           (step.kind == StepKind::signal || step.kind == StepKind::wait);
}

/// Whether messages by pull of the plan may take a copy along.
[[nodiscard]] bool may_copy(const Plan& plan) noexcept;

/// Whether the channels of cells have room for all messages by pull that may take a copy along.
[[nodiscard]] bool holds_all_copies(const Plan& plan);

/// For a plan that `acknowledges_one_by_one`: the step of `rank`, lending or reading, that its
/// signal or wait number `index` acknowledges.
[[nodiscard]] std::size_t acknowledged_message(const Plan& plan, Rank rank, std::size_t index);

/// A plan that `may_copy` as it runs when all messages take a copy along: without acknowledgements,
/// and with messages through cells, or through lines if copied_cells is 0. Each message decides for
/// itself, and the plan as it stands is the other extreme. What holds for both extremes holds for
/// all between them: a message that takes a copy along has room in any case, and only waits at the
/// end of a rank depend on acknowledgements.
[[nodiscard]] Plan all_copied(const Plan& plan);

} // namespace corymb::plan
