// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/plan.hpp>

#include <cstdint>

namespace corymb::plan {

/// The plan as a team performs it whose channels of cells have `cell_slots` slots: each rank sends
/// earlier than the generator says, as far as channels have room. Generators count on a few cells
/// for each two ranks, so that exchanges of long parts take turns, and in each turn a rank waits.
/// If one channel holds all of them, no rank waits before it has sent everything. (With lines ahead
/// a reduce_scatter of 8 B among 16 ranks on two CPUs takes half as long.)
///
/// A send may come before receipts and copies that do not write its source, and never before
/// another send; all sends of the operation to its peer up to it fit the channel. So it waits at
/// most until the peer has come to this operation. The peer needs nothing for that which this rank
/// has not sent, and then the channel is empty. A plan without deadlock therefore stays one, which
/// check_plan proves for the result as for any plan.
///
/// The plan that is returned counts on as many slots as its messages can use, and no more than
/// there are, so most plans for short payloads fit the shortest channels.
///
/// `cell_slots` is from cell_slots_least to cell_slots_most. O(steps), but for sends whose source
/// is written by some of many receipts before them.
[[nodiscard]] Plan performed(Plan plan, std::uint32_t cell_slots);

} // namespace corymb::plan
