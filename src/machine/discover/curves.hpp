// SPDX-License-Identifier: Apache-2.0
// What k messages cost when they come together, for each class of pairs.
#pragma once

#include "machine/discover/group_probe.hpp"

#include <corymb/machine.hpp>

#include <functional>

namespace corymb::discover {

/// Fills send_batch, fan_out, receive_batch and shared_line for k = 1, 2, 4, 8, 16, as far as a
/// class has partners and `keep_going` agrees (it is told the share that is done), and `exchange`
/// for one pair of each class. The first value of a send curve is the send cost of the class, the
/// others add what was measured on top.
void measure_curves(Machine& machine, GroupProbe& probe,
                    const std::function<bool(double)>& keep_going);

} // namespace corymb::discover
