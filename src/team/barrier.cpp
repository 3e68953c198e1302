// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "base/usable_cpus.hpp"
#include "channel/env.hpp"
#include "channel/patience.hpp"
#include "channel/waiter_cpus.hpp"
#include "team/central_barrier.hpp"

#include <corymb/barrier.hpp>
#include <corymb/error.hpp>

#include <string>

namespace corymb::detail {

class CentralBarrierState {
public:
    CentralBarrierState(std::uint32_t expected, WaitPolicy wait, bool crowded)
        : barrier(expected), policy(wait), oversubscribed(crowded) {}
    team::CentralBarrier<channel::StandardEnv> barrier;
    channel::WaiterCpus cpus;
    const WaitPolicy policy;
    const bool oversubscribed;
};

namespace {

constexpr std::int64_t sleep_at_most_ns = 1'000'000'000; // Bounds one system call only.

std::uint32_t checked(std::ptrdiff_t expected) {
    if (expected < 0 || expected > 0x7fffffff) {
        throw Error(Errc::invalid_argument,
                    "a barrier expects 0 to 2147483647 threads, not " + std::to_string(expected));
    }
    return static_cast<std::uint32_t>(expected);
}

bool is_crowded(std::uint32_t expected, const BarrierOptions& options) {
    if (options.ranks_per_cpu < 0) {
        throw Error(Errc::invalid_argument,
                    "BarrierOptions::ranks_per_cpu is " + std::to_string(options.ranks_per_cpu) +
                        "; it counts the threads that take turns on a CPU, 0 if that is unknown");
    }
    return options.ranks_per_cpu > 1 || is_short_of_time(static_cast<int>(expected));
}

/// The wait history of a thread, one for each policy, shared by all barriers that it uses.
struct OwnWaits {
    channel::Patience ladder{WaitPolicy::ladder, false};
    channel::Patience crowded{WaitPolicy::ladder, true};
    channel::Patience spin{WaitPolicy::spin, false};
    channel::Patience yield{WaitPolicy::yield, false};
    channel::Patience park{WaitPolicy::park, false};
    channel::CpuMates mates{nullptr};

    channel::Patience& patience(WaitPolicy policy, bool is_crowded) noexcept {
        switch (policy) {
        case WaitPolicy::ladder: return is_crowded ? crowded : ladder;
        case WaitPolicy::spin: return spin;
        case WaitPolicy::yield: return yield;
        case WaitPolicy::park: return park;
        }
        return ladder;
    }
};

} // namespace

BarrierCore::BarrierCore(std::ptrdiff_t expected, const BarrierOptions& options)
    : state_(std::make_unique<CentralBarrierState>(checked(expected), options.wait,
                                                   is_crowded(checked(expected), options))) {}
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
    thread_local OwnWaits own;
    auto& waiting = own.patience(state_->policy, state_->oversubscribed);
    for (int i = 0; i < waiting.quick_looks(); ++i) {
        if (look_now()) [[likely]] {
            return;
        }
        channel::cpu_pause();
    }
    const std::int64_t begin = now_ns();
    own.mates.be_among(state_->cpus);
    if (waiting.wait_awake(channel::Look(look_now), channel::Look(never), &own.mates, begin) ==
        channel::Patience::Outcome::satisfied) {
        return;
    }
    while (!look_now()) {
        barrier.sleep(old, sleep_at_most_ns);
    }
    const std::int64_t end = now_ns();
    own.mates.note_waker(barrier.waker_cpu(), end);
    waiting.learn_from_sleep(end - begin);
}

} // namespace corymb::detail
