// SPDX-License-Identifier: Apache-2.0
// Acknowledgements for buffers that are lent by pull or offered for push.
#pragma once

#include <corymb/plan.hpp>

namespace corymb::plan {

/// Adds the signals that `check_plan` would miss. Blocks lent by pull must not be overwritten or
/// left before their reader has surely finished. Blocks offered for push must not be used or left
/// before they are surely written. Where the plan's own messages do not prove this order, the peer
/// signals and the owner waits for the signal. If the owner overwrites blocks, the signal follows
/// the read. If it only comes to its end, the peer first passes on what it has read, and signals
/// once for all blocks that the owner has lent it.
///
/// Messages through the network prove nothing here, and their own buffers are not looked at. The
/// plan must not signal between ranks that lend to each other unless those signals are
/// acknowledgements. Throws Errc::invalid_plan as the checker does when messages do not match. Time
/// as for `check_plan`, among ranks that can learn of each other; O(steps) where none can, as in a
/// broadcast down a tree.
void acknowledge(Plan& plan);

} // namespace corymb::plan
