// SPDX-License-Identifier: Apache-2.0
// Times one CPU against several with the library's own channels: sends to many, receives of many,
// one store that many read. All times are nanoseconds, NaN when the CPUs could not be had together.
#pragma once

#include "machine/discover/crew.hpp"
#include "machine/discover/ticks.hpp"

#include <span>

namespace corymb::discover {

/// What a sender sees of k messages in a row.
struct BurstTimes {
    double busy = 0;     ///< Until the last send returned.
    double answered = 0; ///< Until the answer to the last message was there.
};

class GroupProbe {
public:
    GroupProbe(Crew& crew, const TickScale& scale) : crew_(&crew), scale_(scale) {}

    /// `count` messages over one ring; the receiver takes them in order and answers the last.
    BurstTimes burst_to_one(int from, int to, int count);
    /// One message to each; the last receiver answers at once, the others later.
    BurstTimes burst_to_each(int from, std::span<const int> to);
    /// Receiving `count` messages that are all there, on rings of their own; if there are fewer
    /// senders they take turns.
    double pending_receives(int at, std::span<const int> from, int count);
    /// One publication: until the last reader has it. The way of its answer is taken off.
    double shared_line(int from, std::span<const int> readers);
    /// Two CPUs hand each other a word on one line, again and again: time of one meeting.
    double meeting(int one, int other);

private:
    Crew* crew_;
    TickScale scale_;
};

} // namespace corymb::discover
