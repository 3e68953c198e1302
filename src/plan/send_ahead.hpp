// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/plan.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace corymb::plan {

/// The steps of `rank` in an order in which it sends earlier than the plan says, as far as channels
/// have room: plans count on a few cells for each two ranks, so that exchanges of long parts take
/// turns, and in each turn somebody waits. Where one channel holds all of them, no rank waits
/// before it has sent everything. `slots_to(peer)` are the cells of the channel to a peer; of lines
/// it has `line_slots`. (With lines ahead a reduce_scatter of 8 B among 16 ranks on two CPUs takes
/// half as long.)
///
/// A send may come before receipts and copies that do not write what it reads, and never before
/// another send; all sends of the operation to its peer up to it fit the channel. So it waits at
/// most until the peer has come to this operation, for which that needs nothing that this rank has
/// not sent; then the channel is empty. O(steps), but for sends of what some of many receipts
/// before them write.
[[nodiscard]] std::vector<std::size_t>
order_with_sends_ahead(const Plan& plan, Rank rank,
                       const std::function<std::size_t(Rank peer)>& slots_to);

} // namespace corymb::plan
