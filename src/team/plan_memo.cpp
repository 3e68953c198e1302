// SPDX-License-Identifier: Apache-2.0
#include "team/plan_memo.hpp"

#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <utility>

namespace corymb::team {

namespace {

/// Steps of all plans together; about 70 bytes each.
constexpr std::size_t steps_max = 300'000;

struct Entry {
    PlanOrigin origin;
    std::shared_ptr<KnownPlan> known;
    std::size_t steps;
};

/// The entry that was used last comes first.
struct Memo {
    std::mutex lock;
    std::list<Entry> entries;
    std::map<PlanOrigin, std::list<Entry>::iterator> by_origin;
    std::size_t steps = 0;

    Entry* find(const PlanOrigin& origin) {
        const auto found = by_origin.find(origin);
        if (found == by_origin.end()) {
            return nullptr;
        }
        entries.splice(entries.begin(), entries, found->second);
        return &*found->second;
    }
    void forget_last() {
        const Entry& last = entries.back();
        steps -= last.steps;
        by_origin.erase(last.origin);
        entries.pop_back();
    }
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

std::shared_ptr<KnownPlan> remembered_plan(const PlanOrigin& origin) {
    Memo& all = memo();
    const std::lock_guard lock(all.lock);
    const Entry* const found = all.find(origin);
    return found == nullptr ? nullptr : found->known;
}

std::shared_ptr<KnownPlan> remember_plan(const PlanOrigin& origin, plan::ProvenPlan plan,
                                         bool is_best, std::int64_t search_ns) {
    const std::size_t steps = steps_of(*plan);
    auto known = std::make_shared<KnownPlan>(std::move(plan), is_best, search_ns);
    Memo& all = memo();
    const std::lock_guard lock(all.lock);
    Entry* const before = all.find(origin);
    if (before != nullptr && (before->known->is_best || !is_best)) {
        return before->known;
    }
    if (steps > steps_max) {
        return known;
    }
    if (before != nullptr) {
        all.steps += steps - before->steps;
        before->steps = steps;
        before->known = known;
    } else {
        all.entries.push_front({origin, known, steps});
        all.by_origin.emplace(origin, all.entries.begin());
        all.steps += steps;
    }
    while (all.steps > steps_max) {
        all.forget_last();
    }
    return known;
}

} // namespace corymb::team
