// SPDX-License-Identifier: Apache-2.0
// Times pairs of CPUs of this machine with the library's own line channel.
//
// A round trip of two lines is send + receive there, and send + receive back. The send cost is what
// k sends in a row to different lines delay the last of them, a message: it holds the time that the
// thread is busy as well as the time that its stores need to leave the store buffer. What remains
// of the round trip are the two receives. What each receiver needs to read a message that is there
// already is timed on its own clock, so that no two clocks need to agree; the rest, the way of the
// stores, is halved.
#pragma once

#include "machine/discover/crew.hpp"
#include "machine/discover/line.hpp"
#include "machine/discover/pair_probe.hpp"
#include "machine/discover/ticks.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace corymb::discover {

class LineProbe final : public PairProbe {
public:
    struct Place {
        int cpu = 0;
        int numa = -1;
    };

    LineProbe(Crew& crew, std::vector<Place> places, const TickScale& scale);
    ~LineProbe() override;

    [[nodiscard]] int size() const override { return static_cast<int>(places_.size()); }
    std::vector<PairBatch> batches(int first, int second, int count) override;
    [[nodiscard]] double elapsed_s() const override;
    [[nodiscard]] bool interrupted() const override { return crew_->refused(); }
    /// Gives up a session after this time and does not warm up for long: for a quick look.
    void limit_session(double ns) noexcept { session_limit_ns_ = ns; }

private:
    struct Session;

    Crew* crew_;
    std::vector<Place> places_;
    TickScale scale_;
    std::int64_t begin_ns_;
    double session_limit_ns_ = 0; ///< 0: as long as the batches may need.
    bool warm_ = false;           ///< The first session warms up for longer.
    /// Rings whose pages were first touched on a NUMA node, as those of its threads would be.
    std::map<int, std::unique_ptr<Session>> sessions_;
};

} // namespace corymb::discover
