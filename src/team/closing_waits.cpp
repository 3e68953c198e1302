// SPDX-License-Identifier: Apache-2.0
#include "team/closing_waits.hpp"

#include <algorithm>
#include <vector>

namespace corymb::team {

namespace {

bool is_lent(const Step& step) {
    return step.kind == StepKind::send && step.via == Mechanism::pull;
}

bool is_read(const Step& step) {
    return (step.kind == StepKind::recv || step.kind == StepKind::fold) &&
           step.via == Mechanism::pull;
}

bool is_notification(const Step& step, StepKind kind) {
    return step.kind == kind && step.via != Mechanism::exchange;
}

/// Peers of steps, in the order of their numbers.
struct Peers {
    std::vector<Rank> all;
    void sort() { std::ranges::sort(all); }
    [[nodiscard]] bool has(Rank peer) const { return std::ranges::find(all, peer) != all.end(); }
    [[nodiscard]] bool are_different() const {
        return std::ranges::adjacent_find(all) == all.end();
    }
};

bool acknowledges_one_by_one(const std::vector<Step>& steps) {
    Peers lent, waited, read, signalled;
    for (const Step& step : steps) {
        const bool is_wait = is_notification(step, StepKind::wait);
        if (!is_wait && !waited.all.empty()) {
            return false;
        }
        if (is_wait) {
            waited.all.push_back(step.peer);
        } else if (is_lent(step)) {
            lent.all.push_back(step.peer);
        } else if (is_read(step)) {
            read.all.push_back(step.peer);
        } else if (is_notification(step, StepKind::signal) && read.has(step.peer)) {
            signalled.all.push_back(step.peer);
        } else if (step.kind != StepKind::copy) {
            return false;
        }
    }
    for (Peers* peers : {&lent, &waited, &read, &signalled}) {
        peers->sort();
    }
    return lent.all == waited.all && read.all == signalled.all && lent.are_different() &&
           read.are_different();
}

} // namespace

bool acknowledges_one_by_one(const Plan& plan) {
    return std::ranges::all_of(
        plan.steps, [](const std::vector<Step>& steps) { return acknowledges_one_by_one(steps); });
}

std::size_t acknowledged_message(const Plan& plan, Rank rank, std::size_t index) {
    const auto& steps = plan.steps[static_cast<std::size_t>(rank)];
    const Step& by = steps[index];
    const auto found = std::ranges::find_if(steps, [&by](const Step& step) {
        return step.peer == by.peer && (by.kind == StepKind::wait ? is_lent(step) : is_read(step));
    });
    return static_cast<std::size_t>(found - steps.begin());
}

} // namespace corymb::team
