// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace corymb::bench {

/// Runs this program again with the words, passes its lines on, and ends it when `seconds` are over
/// by far; its exit status. Throws Interrupted.
int supervise(const std::vector<std::string>& words, double seconds);

} // namespace corymb::bench
