// SPDX-License-Identifier: Apache-2.0
// How far a member is with a call, for those who wait for it and for observers.
#pragma once

#include "channel/env.hpp"
#include "multicast/core.hpp"

#include <atomic>
#include <cstdint>

namespace corymb::multicast {

/// The state of a member of a call.
enum class Progress : std::uint8_t { untold, told, running, done, lost };

/// How far the member `p` is; exact for the initiator, for others advice. A position that is not
/// named is done.
[[nodiscard]] inline Progress progress_of(const Core<channel::StandardEnv>& core,
                                          std::uint32_t slot, Position p) noexcept {
    const auto number = core.number(slot);
    if (!core.is_named(slot, p)) {
        return Progress::done;
    }
    if (core.is_lost(slot, p, number)) {
        return Progress::lost;
    }
    if (core.done(slot, p).load(std::memory_order_relaxed) == number) {
        return Progress::done;
    }
    if (core.posted(slot, p).load(std::memory_order_relaxed) != number) {
        return Progress::untold;
    }
    const bool waits = (core.mail(p).load(std::memory_order_relaxed) >> slot & 1) != 0;
    return waits ? Progress::told : Progress::running;
}

} // namespace corymb::multicast
