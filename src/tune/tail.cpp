// SPDX-License-Identifier: Apache-2.0
#include "tune/tail.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace corymb::tune {

namespace {

/// The `place`-th smallest time, from 0.
double at_place(std::vector<double>& times, std::size_t place) {
    const auto found = times.begin() + static_cast<std::ptrdiff_t>(place);
    std::ranges::nth_element(times, found);
    return *found;
}

/// The number of replays above a percentile varies by its square root. Within two of these lie
/// 19 of 20 numbers, so that chance alone seldom makes a plan look better than another.
constexpr double deviations = 2;

} // namespace

Tail::Tail(const Candidates& candidates, std::uint32_t replays)
    : candidates_(candidates), replays_(replays), above_(replays / 100),
      above_most_(above_ + static_cast<std::uint32_t>(deviations * std::sqrt(above_))) {}

NoisyTimes Tail::times_of(const Tried& tried, const Plan& plan) {
    times_of_chosen_ = *replayed(plan);
    return summary(tried, times_of_chosen_);
}

std::optional<std::vector<double>> Tail::replayed(const Plan& plan) {
    const NoisyReplay replay = candidates_.replay_of(plan);
    std::vector<double> times;
    times.reserve(replays_);
    std::uint32_t above = 0;
    for (std::uint32_t number = 0; number < replays_; ++number) {
        times.push_back(replay(number));
        above += times.back() > limit() ? 1U : 0U;
        if (above > above_most_) {
            return std::nullopt;
        }
    }
    std::vector<double> sorted = times;
    best_ = std::min(best_, at_place(sorted, replays_ - above_ - 1));
    return times;
}

NoisyTimes Tail::summary(const Tried& tried, std::vector<double> times) const {
    const double p99 = at_place(times, replays_ - above_ - 1);
    return {name_of(tried.candidate), tried.time, at_place(times, (replays_ - 1) / 2), p99};
}

bool Tail::is_as_low(const std::vector<double>& times) const {
    return std::ranges::count_if(times, [this](double time) { return time > limit(); }) <=
           static_cast<std::ptrdiff_t>(above_most_);
}

std::optional<Tail::Choice> Tail::least(std::span<const Tried> tried, const Tried& chosen,
                                        const std::stop_token& stop) {
    std::vector<const Tried*> by_time;
    for (const Tried& one : tried) {
        by_time.push_back(&one);
    }
    std::ranges::sort(by_time, {}, [](const Tried* one) { return std::pair(one->time, one); });
    std::vector<std::pair<Tried, std::vector<double>>> kept;
    for (const Tried* one : by_time) {
        if (one->time > limit() || stop.stop_requested()) {
            break;
        }
        const std::optional<Plan> plan = one->candidate == chosen.candidate
                                             ? std::nullopt
                                             : candidates_.plan_of(one->candidate, never);
        if (!plan) {
            continue;
        }
        if (auto times = replayed(*plan)) {
            kept.emplace_back(*one, *std::move(times));
            kept.back().first.cost = candidates_.cost_of(one->candidate, *plan);
        }
    }
    if (stop.stop_requested() || is_as_low(times_of_chosen_)) {
        return std::nullopt;
    }
    std::erase_if(kept, [this](const auto& one) { return !is_as_low(one.second); });
    const auto& [best, times] = *std::ranges::min_element(
        kept, {}, [](const auto& one) { return std::pair(one.first.time, one.first.cost); });
    // Made again, because plans for many ranks are large.
    return Choice{best, *candidates_.plan_of(best.candidate, never), summary(best, times)};
}

} // namespace corymb::tune
