// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace corymb {

/// The way in which a rank waits for a peer. `ladder` adapts (docs/explain/waiting.md); the others
/// are for measurement and for people who know better.
enum class WaitPolicy : std::uint8_t {
    ladder, ///< Spin for a while, then yield, then sleep; learns how long waits are.
    spin,   ///< Never gives the CPU away.
    yield,  ///< Gives the CPU away between looks, never sleeps.
    park,   ///< Sleeps at once.
};

} // namespace corymb
