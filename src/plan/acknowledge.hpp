// SPDX-License-Identifier: Apache-2.0
// Acknowledgements for buffers that are lent by pull or offered for push.
#pragma once

#include <corymb/plan.hpp>

namespace corymb::plan {

/// Adds to the plan what `check_plan` would miss: where blocks lent by pull are overwritten or left
/// before their reader has surely finished, or blocks offered for push are used or left before they
/// are surely written, the peer signals after its step and the owner waits for that. What the
/// plan's own messages prove already costs nothing. The plan must not signal between ranks that
/// lend to each other unless the signals are acknowledgements, too. Throws Errc::invalid_plan as
/// the checker does when messages do not match. Time as of `check_plan`.
void acknowledge(Plan& plan);

} // namespace corymb::plan
