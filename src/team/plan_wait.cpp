// SPDX-License-Identifier: Apache-2.0
#include "team/plan_wait.hpp"

#include "team/blame.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fmt/format.h>
#include <string>
#include <thread>

namespace corymb::detail {

namespace {

// Nanoseconds. A nap is a part of what has been waited already, so a plan comes late by that part
// at most. The least is what a sleep costs, the most is soon enough to see that the team has
// broken.
constexpr std::int64_t naps_per_wait = 4;
constexpr std::int64_t nap_least = 50'000;
constexpr std::int64_t nap_most = 2'000'000;

/// The CPU time of the calling thread.
std::int64_t thread_ns() noexcept {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

} // namespace

PlanWait::PlanWait(TeamShared& team, Rank rank, std::int64_t deadline_ns) noexcept
    : team_(team), rank_(rank), deadline_ns_(deadline_ns), worked_ns_(thread_ns()) {}

void PlanWait::give_up(const team::PlanKey& key, const std::vector<int>& planners) {
    team_.fail({Errc::timeout,
                fmt::format("{}: {} did not finish the plan within {:.3g} s (seen by {})",
                            to_string(key.op), names_of(team_, planners),
                            static_cast<double>(deadline_ns_) * 1e-9, team_.name_of(rank_)),
                planners});
    team_.throw_failure();
}

void PlanWait::sleep() {
    if (team_.is_broken()) {
        team_.throw_failure(); // The failure already names the ranks to blame.
    }
    const std::int64_t nap = std::clamp(clock_.waited_ns() / naps_per_wait, nap_least, nap_most);
    clock_.expect_sleep(nap);
    std::this_thread::sleep_for(std::chrono::nanoseconds(nap));
}

std::int64_t PlanWait::spent_ns() noexcept {
    // Whoever makes a plan cannot look meanwhile; a stop of the process is no work.
    clock_.expect_sleep(thread_ns() - worked_ns_);
    return clock_.waited_ns();
}

} // namespace corymb::detail
