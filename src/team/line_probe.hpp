// SPDX-License-Identifier: Apache-2.0
// How fast memory goes from one core's caches to another's: tried between neighbouring ranks when a
// team's processes meet. Virtual machines say nothing of it that could be believed.
#pragma once

#include "channel/env.hpp"
#include "channel/slot_ring.hpp"

#include <cstddef>
#include <cstdint>

namespace corymb::team {

/// The rings that two processes share for the probe.
struct LineProbe {
    static constexpr std::size_t message_bytes = std::size_t{16} << 10;
    using Ring = channel::SlotRing<channel::StandardEnv, message_bytes, 1, 1>;
    Ring ring[2];
};

/// Sends some messages each way, in less than 0.1 ms. Both processes call it at about the same
/// time, with `side` 0 and 1. Returns how long a byte takes to be copied in or out, in nanoseconds;
/// 0 when the other one does not come within `limit_ns`. Throws std::bad_alloc.
[[nodiscard]] double probe_lines(LineProbe& probe, std::size_t side, std::int64_t limit_ns);

} // namespace corymb::team
