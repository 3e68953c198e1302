// SPDX-License-Identifier: Apache-2.0
// Times bytes that one CPU writes and another reads, again and again, as the buffers of operations
// and the messages of mailboxes are.
#pragma once

#include "machine/discover/crew.hpp"
#include "machine/discover/ticks.hpp"

#include <cstdint>

namespace corymb::discover {

/// Costs of bytes that one CPU writes and the other copies, in turn.
struct HandoverTimes {
    double copying;   ///< The other one's copy into memory of its own.
    double rewriting; ///< What writing takes longer than writing what nobody has copied.
};

class HandoverProbe {
public:
    HandoverProbe(Crew& crew, const TickScale& scale) : crew_(&crew), scale_(scale) {}

    /// Nanoseconds for `bytes` > 0, the median of many turns. NaN when the CPUs or the memory could
    /// not be had.
    HandoverTimes turns(int from, int to, std::int64_t bytes);
    /// Nanoseconds of a message of 1 to 4096 bytes through a ring as mailboxes have: half a round
    /// trip, the median. Messages are written and read in place. NaN as above.
    double message(int from, int to, std::int64_t bytes);

    /// How many seconds `turns` takes on a machine of the slow sort; `message` takes no longer.
    static double slow_s(std::int64_t bytes);

private:
    Crew* crew_;
    TickScale scale_;
};

} // namespace corymb::discover
