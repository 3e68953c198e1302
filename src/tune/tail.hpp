// SPDX-License-Identifier: Apache-2.0
// The choice for the 99th percentile under noise, among the candidates that a search has tried.
#pragma once

#include "tune/search.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace corymb::tune {

/// The times of plans under the noise of a request. All plans meet the same interruptions.
class Tail {
public:
    Tail(const Candidates& candidates, std::uint32_t replays);

    /// The times of a candidate's plan.
    [[nodiscard]] NoisyTimes times_of(const Tried& tried, const Plan& plan);

    struct Choice {
        Tried tried;
        Plan plan;
        NoisyTimes times;
    };
    /// The fastest without noise of those whose 99th percentile is as low as any, as far as so
    /// many replays can tell; nothing if that is `chosen`, whose times were asked for, or when
    /// asked to stop. Noise never makes a plan faster, so candidates are left out that take longer
    /// without it than the lowest percentile.
    [[nodiscard]] std::optional<Choice> least(std::span<const Tried> tried, const Tried& chosen,
                                              const std::stop_token& stop);

private:
    /// The times of all replays. Nothing once too many exceed the lowest percentile so far.
    [[nodiscard]] std::optional<std::vector<double>> replayed(const Plan& plan);
    [[nodiscard]] NoisyTimes summary(const Tried& tried, std::vector<double> times) const;
    /// The time that the percentile of a plan has to be about as low as.
    [[nodiscard]] double limit() const { return candidates_.alike() * best_; }
    /// Whether the percentile may be as low as the lowest.
    [[nodiscard]] bool is_as_low(const std::vector<double>& times) const;

    const Candidates& candidates_;
    std::uint32_t replays_;
    std::uint32_t above_;      ///< Replays that take longer than the percentile.
    std::uint32_t above_most_; ///< That may do so by chance.
    double best_ = never;      ///< Lowest percentile so far.
    std::vector<double> times_of_chosen_;
};

} // namespace corymb::tune
