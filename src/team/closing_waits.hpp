// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/plan.hpp>

#include <cstddef>

namespace corymb::team {

/// Whether signals of the plan do no more than hold the owners of buffers until a peer has copied
/// out of them: all messages are lent by pull, one to a peer, each reader signals to the owner once
/// it has read, and ranks that wait for that do nothing else any more. Where a message takes a copy
/// along, its signal and the wait are not needed then: nothing is left that the peer would read
/// later. Time in the steps of the plan.
[[nodiscard]] bool acknowledges_one_by_one(const Plan& plan);

/// Of such a plan: the step of `rank`, lending or reading, that its signal or wait number `index`
/// acknowledges.
[[nodiscard]] std::size_t acknowledged_message(const Plan& plan, Rank rank, std::size_t index);

} // namespace corymb::team
