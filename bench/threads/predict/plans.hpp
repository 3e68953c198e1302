// SPDX-License-Identifier: Apache-2.0
// Plans to hold the simulator against: good ones, bad ones and random ones, whose costs differ in
// the number of messages, in their order, in mechanism and in blocks.
#pragma once

#include <corymb/machine.hpp>
#include <corymb/plan.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace corymb::bench {

/// An operation whose root moves on with each call, so one plan for each root; a barrier has one.
struct PlanFamily {
    std::string name;
    Collective op = Collective::barrier;
    std::uint64_t bytes = 0;
    std::vector<Plan> by_root;

    [[nodiscard]] const Plan& at(Rank root) const {
        return by_root[static_cast<std::size_t>(root) % by_root.size()];
    }
    [[nodiscard]] int ranks() const { return by_root.front().size(); }
};

/// About as many plans for each operation, `count` in all: of the planner's algorithms, then random
/// ones. Deterministic for a seed. Every plan has passed `check_plan`. `placement` holds the PU
/// indexes that may be used; plans have 2 to min(8, placement) ranks, on the first of them.
std::vector<PlanFamily> plans_to_predict(const Machine& machine, const std::vector<int>& placement,
                                         int count, std::uint64_t seed);

/// Simulated time of one operation in a long sequence of them, in the model's unit: operations
/// overlap where the plan lets a rank run ahead, as they do when they are measured.
double steady_prediction(const PlanFamily& family, const Machine& machine,
                         const std::vector<int>& placement);

/// Messages of one operation: signals, sends and publications.
std::uint64_t message_count(const Plan& plan);

} // namespace corymb::bench
