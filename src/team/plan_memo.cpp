// SPDX-License-Identifier: Apache-2.0
#include "team/plan_memo.hpp"

#include <cstddef>
#include <map>
#include <mutex>

namespace corymb::team {

namespace {

/// Steps of all plans together; about 100 bytes each.
constexpr std::size_t steps_max = 100'000;

struct Memo {
    std::mutex lock;
    std::map<PlanOrigin, Plan> plans;
    std::size_t steps = 0;
};

Memo& memo() {
    static auto* const one = new Memo; // Teams may be used to the very end of the process.
    return *one;
}

std::size_t steps_of(const Plan& plan) {
    std::size_t steps = 1;
    for (const auto& rank : plan.steps) {
        steps += rank.size();
    }
    return steps;
}

} // namespace

std::optional<Plan> remembered_plan(const PlanOrigin& origin) {
    Memo& all = memo();
    const std::lock_guard lock(all.lock);
    const auto found = all.plans.find(origin);
    return found == all.plans.end() ? std::nullopt : std::optional<Plan>(found->second);
}

void remember_plan(const PlanOrigin& origin, const Plan& plan) {
    Memo& all = memo();
    const std::size_t steps = steps_of(plan);
    const std::lock_guard lock(all.lock);
    if (all.steps + steps <= steps_max && all.plans.emplace(origin, plan).second) {
        all.steps += steps;
    }
}

} // namespace corymb::team
