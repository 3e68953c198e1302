// SPDX-License-Identifier: Apache-2.0
#include "plan/execution.hpp"
#include "plan/matching.hpp"
#include "plan/shape.hpp"
#include "sim/makespan.hpp"
#include "sim/replay.hpp"
#include "sim/shared_copies.hpp"
#include "sim/timed_replay.hpp"

#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace corymb {

namespace {

/// A plan and all ranks on one machine, for any number of replays.
class OnOneMachine {
public:
    OnOneMachine(const Plan& plan, const Machine& machine, std::span<const int> placement,
                 std::uint64_t bytes)
        : machine_(machine), placement_(placement.begin(), placement.end()), bytes_(bytes),
          matching_(plan), charges_(machine, placement_, bytes), unit_ns_(sim::unit_ns(machine)) {}

    [[nodiscard]] const sim::Charges& of(Rank) const noexcept { return charges_; }
    [[nodiscard]] static int node(Rank) noexcept { return 0; }

    template <class Runs>
    [[nodiscard]] Timeline replay(const Runs& runs, bool with_activities) const {
        if (!machine_.shared.empty()) {
            sim::SharedCopies copies(bytes_, matching_.step_count());
            for (const int pu : placement_) {
                copies.add_rank(machine_, 0, pu);
            }
            if (copies.matter()) {
                return *sim::TimedReplay(matching_, *this, {}, bytes_, with_activities, runs,
                                         &copies)
                            .run(std::numeric_limits<double>::infinity());
            }
        }
        sim::Replay replay(matching_, *this, bytes_, with_activities, runs);
        plan::Execution(matching_, replay).run();
        return std::move(replay).timeline();
    }
    [[nodiscard]] sim::Interruptions interruptions(const Noise& noise, std::uint64_t number) const {
        return {noise, matching_.plan().size(), number, unit_ns_};
    }

private:
    const Machine& machine_;
    std::vector<int> placement_;
    std::uint64_t bytes_;
    plan::Matching matching_;
    sim::Charges charges_;
    double unit_ns_;
};

void check(const Plan& plan, std::span<const int> placement, std::uint64_t bytes) {
    if (placement.size() != plan.steps.size()) {
        throw Error(Errc::invalid_argument, "placement has " + std::to_string(placement.size()) +
                                                " entries, but the plan " +
                                                std::to_string(plan.steps.size()) + " ranks");
    }
    plan::check_shape(plan);
    if (plan.op != Collective::barrier && bytes > plan.bytes_max) {
        throw Error(Errc::invalid_argument, "the payload has " + std::to_string(bytes) +
                                                " bytes, but the plan is for " +
                                                std::to_string(plan.bytes_max) + " at most");
    }
}

std::vector<double> makespans_of(const NoisyReplay& replay, std::uint32_t replays) {
    std::vector<double> makespans;
    makespans.reserve(replays);
    for (std::uint32_t number = 0; number < replays; ++number) {
        makespans.push_back(replay(number));
    }
    return makespans;
}

} // namespace

Timeline simulate(const Plan& plan, const Machine& machine, std::span<const int> placement,
                  std::uint64_t bytes, bool with_activities, const Noise& noise) {
    check(plan, placement, bytes);
    noise.check();
    const OnOneMachine ranks(plan, machine, placement, bytes);
    Timeline timeline = noise.present()
                            ? ranks.replay(ranks.interruptions(noise, 0), with_activities)
                            : ranks.replay(sim::undisturbed, with_activities);
    timeline.simulated_on = machine.name;
    return timeline;
}

NoisyReplay noisy_replay(const Plan& plan, const Machine& machine, std::span<const int> placement,
                         std::uint64_t bytes, const Noise& noise) {
    check(plan, placement, bytes);
    sim::check_present(noise);
    const auto ranks = std::make_shared<const OnOneMachine>(plan, machine, placement, bytes);
    return [ranks, &noise](std::uint64_t number) {
        return ranks->replay(ranks->interruptions(noise, number), false).makespan;
    };
}

std::vector<double> noisy_makespans(const Plan& plan, const Machine& machine,
                                    std::span<const int> placement, std::uint64_t bytes,
                                    const Noise& noise, std::uint32_t replays) {
    return makespans_of(noisy_replay(plan, machine, placement, bytes, noise), replays);
}

std::vector<double> noisy_makespans(const Plan& plan, const Cluster& cluster, std::uint64_t bytes,
                                    const Noise& noise, std::uint32_t replays) {
    return makespans_of(noisy_replay(plan, cluster, bytes, noise), replays);
}

} // namespace corymb
