// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "channel/env.hpp"
#include "channel/event_counts.hpp"
#include "channel/waiter_cpus.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace corymb::detail {

/// Something that wakes tasks and has to be looked at: the requests of a team, a mailbox.
class Source {
public:
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    /// Goes on as far as it can at once, and wakes the tasks that have what they wait for. Whether
    /// it has served somebody; waking tasks does not count.
    virtual bool look() noexcept = 0;
    /// Looks for peers that have ended. Comes when a wait is long, and now and then beside tasks.
    virtual void look_after() noexcept = 0;
    using Events = channel::EventCounts<channel::StandardEnv>;
    /// Adds the event counts in which the rank's thread has to sleep. Returns how long it may sleep
    /// at most: `tuning::nap_ns` where nobody would wake it.
    [[nodiscard]] virtual std::int64_t add_events(Events& to) = 0;
    static constexpr std::int64_t until_woken = std::numeric_limits<std::int64_t>::max();

    /// The threads that it is shared with: they tell each other who waits on which CPU. Null: not
    /// known.
    [[nodiscard]] virtual channel::WaiterCpus* cpus() noexcept = 0;

    std::size_t listed_at = 0; ///< Invariant: its place among the scheduler's.

protected:
    Source() = default;
    ~Source() = default;
};

} // namespace corymb::detail
