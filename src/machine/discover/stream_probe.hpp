// SPDX-License-Identifier: Apache-2.0
// Times long messages between two CPUs with the library's own channel of cells.
#pragma once

#include "machine/discover/crew.hpp"
#include "machine/discover/ticks.hpp"

#include <cstdint>

namespace corymb::discover {

class StreamProbe {
public:
    StreamProbe(Crew& crew, const TickScale& scale) : crew_(&crew), scale_(scale) {}

    /// Messages of `bytes` > 0 that follow each other: nanoseconds from the end of one until the
    /// next is all in the receiver's buffer, the median. Both ends use one buffer each, so that
    /// what fits a cache is in it. NaN when the CPUs or the memory could not be had.
    double time_of(int from, int to, std::int64_t bytes);

    /// How many seconds `time_of` takes on a machine of the slow sort.
    static double slow_s(std::int64_t bytes);

private:
    Crew* crew_;
    TickScale scale_;
};

} // namespace corymb::discover
