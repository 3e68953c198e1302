// SPDX-License-Identifier: Apache-2.0
// When ranks run: the interruptions of a Noise, drawn for each rank of a replay.
#pragma once

#include "base/random.hpp"

#include <corymb/noise.hpp>
#include <corymb/rank.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corymb::sim {

/// Noise::check; throws Errc::invalid_argument also for none.
void check_present(const Noise& noise);

/// Ranks that nothing interrupts.
struct Undisturbed {
    static double awake(Rank /*rank*/, double time) noexcept { return time; }
    static double run(Rank /*rank*/, double time, double work) noexcept { return time + work; }
    static double after(Rank /*rank*/, double time, double work) noexcept { return time + work; }
    static double late_begin(Rank /*rank*/, double time, double /*work*/) noexcept { return time; }
};
inline constexpr Undisturbed undisturbed{};

/// Ranks that a Noise interrupts. Not thread-safe: draws when it is asked.
class Interruptions {
public:
    /// Times are in units of `unit_ns`. `noise` passes its check.
    Interruptions(const Noise& noise, Rank ranks, std::uint64_t replay, double unit_ns);

    /// The first time from `time` on at which the rank runs.
    [[nodiscard]] double awake(Rank rank, double time) const { return run(rank, time, 0); }
    /// When the rank has done `work` if it begins at `time`: interruptions stretch it. No work is
    /// done at once.
    [[nodiscard]] double after(Rank rank, double time, double work) const {
        return work > 0 ? run(rank, time, work) : time;
    }
    /// `after` from `awake` on.
    [[nodiscard]] double run(Rank rank, double time, double work) const;
    /// `after` less the work: when undisturbed work would begin that ends at that time.
    [[nodiscard]] double late_begin(Rank rank, double time, double work) const {
        return after(rank, time, work) - work;
    }

private:
    struct Span {
        double begin;
        double end;
    };
    /// What is drawn for a rank.
    struct Stream {
        double shift = 0; // periodic: phase; recorded: time of the trace at time 0
        const CpuNoise* recording = nullptr;
        Random random{0};
        std::vector<Span> spans; // random: drawn so far, in order
        std::size_t found = 0;   // random: the span that was asked for last; time mostly goes on
    };

    [[nodiscard]] Stream& stream(Rank rank) const {
        return streams_[noise_.aligned ? 0 : static_cast<std::size_t>(rank)];
    }
    void draw(Stream& stream, std::size_t rank) const;
    /// The first interruption that ends after `time`; all in ns.
    [[nodiscard]] Span next(Stream& stream, double time) const;
    static Span next_periodic(const PeriodicNoise& noise, double phase, double time);
    static Span next_recorded(const Stream& stream, double time);
    static Span next_random(const RandomNoise& noise, Stream& stream, double time);

    const Noise& noise_;
    double unit_ns_;
    mutable std::vector<Stream> streams_;
};

} // namespace corymb::sim
