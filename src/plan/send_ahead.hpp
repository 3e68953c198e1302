// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/plan.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace corymb::plan {

/// The steps of `rank` in an order in which it sends earlier than the plan says, as far as channels
/// have room. Plans count on a few cells for each two ranks, so that exchanges of long parts take
/// turns, and in each turn a rank waits. If one channel holds all of them, no rank waits before it
/// has sent everything. `slots_to(peer)` are the cells of the channel to a peer; a channel of lines
/// has `line_slots`. (With lines ahead a reduce_scatter of 8 B among 16 ranks on two CPUs takes
/// half as long.)
///
/// A send may come before receipts and copies that do not write its source, and never before
/// another send; all sends of the operation to its peer up to it fit the channel. So it waits at
/// most until the peer has come to this operation. The peer needs nothing for that which this rank
/// has not sent, and then the channel is empty. O(steps), but for sends whose source is written by
/// some of many receipts before them.
[[nodiscard]] std::vector<std::size_t>
order_with_sends_ahead(const Plan& plan, Rank rank,
                       const std::function<std::size_t(Rank peer)>& slots_to);

} // namespace corymb::plan
