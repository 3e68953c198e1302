// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace corymb::channel {

/// Of the process: somebody waits for what visitors do, so waits have them come all the time.
inline constinit std::atomic<bool> visits_are_urgent{false};

} // namespace corymb::channel
