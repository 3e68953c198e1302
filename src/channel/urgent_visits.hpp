// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace corymb::channel {

/// True while a thread of the process waits for work that visitors do: then waits call their
/// visitors all the time.
inline constinit std::atomic<bool> visits_are_urgent{false};

} // namespace corymb::channel
