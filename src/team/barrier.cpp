// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "channel/env.hpp"
#include "channel/patience.hpp"
#include "team/central_barrier.hpp"

#include <corymb/barrier.hpp>
#include <corymb/error.hpp>
#include <corymb/usable_cpus.hpp>

#include <string>

namespace corymb::detail {

class CentralBarrierState {
public:
    CentralBarrierState(std::uint32_t expected, bool crowded)
        : barrier(expected), oversubscribed(crowded) {}
    team::CentralBarrier<channel::StandardEnv> barrier;
    const bool oversubscribed;
};

namespace {

constexpr std::int64_t sleep_at_most_ns = 1'000'000'000; // Only bounds one system call.

std::uint32_t checked(std::ptrdiff_t expected) {
    if (expected < 0 || expected > 0x7fffffff) {
        throw Error(Errc::invalid_argument,
                    "a barrier expects 0 to 2147483647 threads, not " + std::to_string(expected));
    }
    return static_cast<std::uint32_t>(expected);
}

channel::Patience& patience(bool oversubscribed) {
    // What a thread has learned about its waits holds for all its barriers.
    thread_local channel::Patience alone(WaitPolicy::ladder, false);
    thread_local channel::Patience crowded(WaitPolicy::ladder, true);
    return oversubscribed ? crowded : alone;
}

} // namespace

BarrierCore::BarrierCore(std::ptrdiff_t expected)
    : state_(std::make_unique<CentralBarrierState>(checked(expected),
                                                   expected > usable_cpus().count())) {}
BarrierCore::~BarrierCore() = default;

BarrierCore::Arrival BarrierCore::arrive(std::ptrdiff_t update) noexcept {
    const auto arrival = state_->barrier.arrive(static_cast<std::uint32_t>(update));
    return {arrival.phase, arrival.last};
}

void BarrierCore::drop() noexcept {
    state_->barrier.drop();
}

void BarrierCore::complete(std::uint64_t phase) noexcept {
    state_->barrier.complete(static_cast<std::uint32_t>(phase));
}

void BarrierCore::wait(std::uint64_t phase) const noexcept {
    const auto old = static_cast<std::uint32_t>(phase);
    auto& barrier = state_->barrier;
    auto look_now = [&]() noexcept {
        return barrier.is_complete(old);
    };
    auto never = []() noexcept {
        return false;
    };
    auto& waiting = patience(state_->oversubscribed);
    for (int i = 0; i < waiting.quick_looks(); ++i) {
        if (look_now()) [[likely]] {
            return;
        }
        channel::cpu_pause();
    }
    const std::int64_t begin = now_ns();
    if (waiting.wait_awake(channel::Look(look_now), channel::Look(never), nullptr, begin) ==
        channel::Patience::Outcome::satisfied) {
        return;
    }
    while (!look_now()) {
        barrier.sleep(old, sleep_at_most_ns);
    }
    waiting.learn_from_sleep(now_ns() - begin);
}

} // namespace corymb::detail
