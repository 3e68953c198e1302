// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../options.hpp"

namespace corymb::bench {

/// Runs plans on the simulator and on this machine and prints a line each and a summary. To be
/// called in a process of its own, which somebody else ends when it takes too long.
int predict(const Options& options);

} // namespace corymb::bench
