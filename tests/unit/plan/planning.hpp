// SPDX-License-Identifier: Apache-2.0
// A group to plan for, and the families by name.
#pragma once

#include "base/random.hpp"
#include "evaluate.hpp"
#include "plan/cost_view.hpp"
#include "plan/generate/families.hpp"
#include "plan/search/bounds.hpp"

#include <corymb/machine.hpp>
#include <corymb/plan.hpp>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corymb::test {

inline const Family& family(std::string_view name) {
    for (const Family& candidate : families()) {
        if (candidate.name == name) {
            return candidate;
        }
    }
    throw std::runtime_error("no family " + std::string(name));
}

/// A machine with one rank on each of some PUs.
class Group {
public:
    explicit Group(Machine machine) : Group(machine, all_pus(machine)) {}
    Group(Machine machine, std::vector<int> placement)
        : machine_(std::move(machine)), placement_(std::move(placement)),
          costs_(machine_, placement_) {}

    [[nodiscard]] const CostView& costs() const { return costs_; }
    [[nodiscard]] GenerateInput input(Rank root = -1) const {
        return {.costs = costs_, .machine = &machine_, .placement = placement_, .root = root};
    }
    [[nodiscard]] Plan plan(Collective op, std::string_view name, Rank root = -1) const {
        return family(name).make(op, input(root));
    }
    [[nodiscard]] double cost(Collective op, std::string_view name, Rank root = -1) const {
        return evaluate(plan(op, name, root), costs_);
    }

private:
    static std::vector<int> all_pus(const Machine& machine) {
        std::vector<int> placement(static_cast<std::size_t>(machine.size()));
        std::iota(placement.begin(), placement.end(), 0);
        return placement;
    }

    Machine machine_;
    std::vector<int> placement_;
    CostView costs_;
};

/// Children in send order, read back from the steps of a broadcast.
inline std::vector<std::vector<Rank>> children_of_steps(const Plan& plan) {
    std::vector<std::vector<Rank>> children;
    for (const auto& steps : plan.steps) {
        auto& list = children.emplace_back();
        for (const Step& step : steps) {
            if (step.kind == StepKind::send) {
                list.push_back(step.peer);
            }
        }
    }
    return children;
}

} // namespace corymb::test
