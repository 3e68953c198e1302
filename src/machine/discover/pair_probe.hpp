// SPDX-License-Identifier: Apache-2.0
// What the survey of a machine asks of whatever times pairs: real threads, or a replayed matrix.
#pragma once

#include <array>
#include <vector>

namespace corymb::discover {

/// One batch on an unordered pair, nanoseconds. Index 0 is from the first PU to the second.
struct PairBatch {
    std::array<double, 2> send{};    ///< Until the sender may send the next message.
    std::array<double, 2> receive{}; ///< From then until the receiver has the message.
    double round_trip = 0;           ///< Of a bare ping-pong, timed as a whole.
    bool dropped = false;            ///< Somebody was interrupted: the values mean nothing.
};

class PairProbe {
public:
    PairProbe() = default;
    virtual ~PairProbe() = default;
    PairProbe(const PairProbe&) = delete;
    PairProbe& operator=(const PairProbe&) = delete;

    /// Number of PUs; pairs are named by PU index.
    [[nodiscard]] virtual int size() const = 0;
    /// Warms up and times `count` batches on two different PUs.
    virtual std::vector<PairBatch> batches(int first, int second, int count) = 0;
    /// Seconds since the measurement began, the time against the budget.
    [[nodiscard]] virtual double elapsed_s() const = 0;
    /// Whether the caller wants to end.
    [[nodiscard]] virtual bool interrupted() const { return false; }
};

} // namespace corymb::discover
