// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/plan.hpp>

#include <cstddef>

namespace corymb::team {

/// Whether the plan's signals do nothing but hold the owners of buffers until a peer has copied out
/// of them. All of this is true then:
/// - All messages are lent by pull, one to a peer.
/// - Each reader signals to the owner after its read.
/// - A rank that waits for such a signal does nothing else any more.
/// If a message takes a copy along, its signal and its wait are needless: the peer reads nothing
/// later. Time in the steps of the plan.
[[nodiscard]] bool acknowledges_one_by_one(const Plan& plan);

/// For a plan that `acknowledges_one_by_one`: the step of `rank`, lending or reading, that its
/// signal or wait number `index` acknowledges.
[[nodiscard]] std::size_t acknowledged_message(const Plan& plan, Rank rank, std::size_t index);

} // namespace corymb::team
