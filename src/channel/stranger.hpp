// SPDX-License-Identifier: Apache-2.0
// Purpose: the ranks that take turns on a CPU tell each other that somebody else uses it. A yield
// then gives a whole time slice away, and a sleep costs less. If each rank had to find that out for
// itself, each would lose slices.
//
// Roles: one Stranger per CPU, in memory that the ranks share; any of them writes and reads it.
//
// Layout:
//   bytes  field      written by  read by
//   8      until_ns   any rank    all       ranks sleep until then instead of yielding
//   8      for_ns     any rank    all       how long they do so this time
//
// Protocol: a rank that has lost a slice calls `note`. The pause is as long as the loss. If the
//   stranger is still there at the end of a pause, the next pause is twice as long, up to
//   `tuning::pauses_most` losses. So a neighbour that came once costs about two slices, and one
//   that stays costs one part in `pauses_most` of the time.
//
// Order: every access is relaxed. All of it is advice: a wrong answer costs time and nothing else.
//
// Progress: wait-free.
//
// Checked by: tests/unit/channel/stranger_test.cpp, patience_test.cpp.
#pragma once

#include "channel/tuning.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace corymb::channel {

class Stranger {
public:
    /// Whether ranks had better sleep than yield.
    [[nodiscard]] bool is_here(std::int64_t now_ns) const noexcept {
        return until_ns_.load(std::memory_order_relaxed) > now_ns;
    }
    /// A rank has the CPU back, which somebody else has used for `lost_ns`.
    void note(std::int64_t lost_ns, std::int64_t now_ns) noexcept {
        const std::int64_t until = until_ns_.load(std::memory_order_relaxed);
        if (until > now_ns) {
            return; // Another rank has told of this slice.
        }
        const std::int64_t last = for_ns_.load(std::memory_order_relaxed);
        const bool has_stayed = now_ns - lost_ns - until <= last;
        const std::int64_t pause =
            has_stayed ? std::min(2 * last, tuning::pauses_most * lost_ns) : lost_ns;
        for_ns_.store(pause, std::memory_order_relaxed);
        until_ns_.store(now_ns + pause, std::memory_order_relaxed);
    }

private:
    std::atomic<std::int64_t> until_ns_{0};
    std::atomic<std::int64_t> for_ns_{0};
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free); // Between processes, too.

} // namespace corymb::channel
