// SPDX-License-Identifier: Apache-2.0
// The model of this machine that plans are made on while a program waits for them.
#pragma once

#include <corymb/machine.hpp>

namespace corymb::discover {

/// The measured model where one is cached that fits what the calling thread may use, else the
/// topology. To find that out takes ten milliseconds, and more where other processes keep the CPUs
/// busy; so the answer is kept beside the measured model, and processes of this user that ask
/// within ten minutes read it in less than one. It is asked anew after a restart of the machine,
/// for other CPUs, for another measured model, and always under hwloc's own variables.
/// Throws as discover_topology(); nothing where it can be kept is no error.
[[nodiscard]] Machine planning_model();

} // namespace corymb::discover
