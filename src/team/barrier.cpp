// SPDX-License-Identifier: Apache-2.0
#include "base/usable_cpus.hpp"
#include "channel/env.hpp"
#include "channel/wait_until.hpp"
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
class OwnWaits {
public:
    channel::Waiting& of(WaitPolicy policy, bool is_crowded) noexcept {
        switch (policy) {
        case WaitPolicy::ladder: return is_crowded ? crowded_ : ladder_;
        case WaitPolicy::spin: return spin_;
        case WaitPolicy::yield: return yield_;
        case WaitPolicy::park: return park_;
        }
        return ladder_;
    }

private:
    channel::Waiting ladder_{WaitPolicy::ladder, false, nullptr};
    channel::Waiting crowded_{WaitPolicy::ladder, true, nullptr};
    channel::Waiting spin_{WaitPolicy::spin, false, nullptr};
    channel::Waiting yield_{WaitPolicy::yield, false, nullptr};
    channel::Waiting park_{WaitPolicy::park, false, nullptr};
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
    auto is_complete = [&]() noexcept {
        return barrier.is_complete(old);
    };
    thread_local OwnWaits own;
    auto& waiting = own.of(state_->policy, state_->oversubscribed);
    waiting.mates.be_among(state_->cpus);
    while (
        !channel::wait_until(waiting, is_complete, channel::without_limit_ns, barrier.sleepers())) {
    }
}

} // namespace corymb::detail
