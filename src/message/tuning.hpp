// SPDX-License-Identifier: Apache-2.0
// The numbers by which the protocol of mailboxes is chosen, each beside the value that switches its
// rule off.
#pragma once

#include "base/tuned.hpp"

namespace corymb::message::tuning {

/// Members that are simulated. Reasoning: a receiver that polls 16 rings shows how its polling
/// grows. Too small: polling looks cheap. Too large: the choice takes long.
CORYMB_TUNED Tuned<int> members_most{"message/choice/members_most", 16, 2, Origin::reasoned};
/// Round trips that are simulated. Reasoning: the first ones find caches empty, and a few tens make
/// them a small part.
CORYMB_TUNED Tuned<int> rounds{"message/choice/rounds", 32, 1, Origin::reasoned};
/// A later protocol is chosen if it takes at most this share of an earlier one's time. Reasoning:
/// no model is more exact, and earlier protocols have fewer limits.
CORYMB_TUNED Tuned<double> better{"message/choice/better", 0.95, 1, Origin::reasoned};

} // namespace corymb::message::tuning
