// SPDX-License-Identifier: Apache-2.0
#include "plan/copies.hpp"

#include "plan/cells.hpp"

#include "base/cache_line.hpp"
#include "plan/step_kind.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace corymb::plan {

namespace {

bool is_lent(const Step& step) {
    return step.kind == StepKind::send && step.via == Mechanism::pull;
}

bool is_read(const Step& step) {
    return (step.kind == StepKind::recv || step.kind == StepKind::fold) &&
           step.via == Mechanism::pull;
}

/// Within a node.
bool is_notification(const Step& step, StepKind kind) {
    return step.kind == kind && step.via != Mechanism::exchange && step.via != Mechanism::network;
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

bool sends_by(const Plan& plan, Mechanism via) {
    return std::ranges::any_of(plan.steps, [via](const std::vector<Step>& steps) {
        return std::ranges::any_of(steps, [via](const Step& step) {
            return step.kind == StepKind::send && step.via == via;
        });
    });
}

/// The most messages by pull from one rank to another.
std::uint32_t most_lent(const Plan& plan) {
    std::uint32_t most = 0;
    for (const std::vector<Step>& steps : plan.steps) {
        std::map<Rank, std::uint32_t> to;
        for (const Step& step : steps) {
            most = is_lent(step) ? std::max(most, ++to[step.peer]) : most;
        }
    }
    return most;
}

bool acknowledges_one_by_one(const std::vector<Step>& steps) {
    Peers lent, waited, read, signalled;
    for (const Step& step : steps) {
        if (step.via == Mechanism::network) {
            continue; // Its peer has no part in what ranks of a node lend each other.
        }
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

/// The longest parts with which each message takes a copy along: a message may have several parts,
/// and sums may waste room in their cells. 0: there are none so short.
std::uint64_t part_bytes_copied(Plan plan) {
    // A message of n cells may begin within a cache line, and takes one more then (cells_of).
    plan.bytes_max = plan.copied_cells * cell_bytes - cache_line_bytes;
    for (const std::vector<Step>& steps : plan.steps) {
        for (const Step& step : steps) {
            while (plan.bytes_max != 0 && is_lent(step) &&
                   cells_of(plan, step.from) > plan.copied_cells) {
                plan.bytes_max /= 2;
            }
        }
    }
    return plan.bytes_max;
}

} // namespace

Plan with_copies(Plan lending, std::uint32_t cells, std::uint32_t cell_slots) {
    Plan plan = lending;
    const std::uint32_t messages = most_lent(plan);
    if (plan.bytes_max < any_part_bytes || messages == 0 || sends_by(plan, Mechanism::cells)) {
        return plan;
    }
    plan.copied_cells = std::min(cells, cell_slots / messages);
    if (plan.copied_cells != 0 && part_bytes_copied(plan) == 0) {
        return lending;
    }
    plan.cell_slots = std::max(plan.cell_slots, messages * plan.copied_cells);
    if (acknowledges_one_by_one(plan)) {
        for (std::vector<Step>& steps : plan.steps) {
            for (Step& step : steps) {
                const bool is_one = is_notification(step, StepKind::signal) ||
                                    is_notification(step, StepKind::wait);
                step.via = is_one ? Mechanism::pull : step.via;
            }
        }
    }
    return plan;
}

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

bool holds_all_copies(const Plan& plan) {
    return plan.copied_cells == 0 ||
           (!sends_by(plan, Mechanism::cells) &&
            std::uint64_t{plan.copied_cells} * most_lent(plan) <= plan.cell_slots);
}

bool may_copy(const Plan& plan) noexcept {
    return plan.copied_cells != 0 ||
           std::ranges::any_of(plan.steps, [](const std::vector<Step>& steps) {
               return std::ranges::any_of(steps, is_acknowledgement);
           });
}

Plan all_copied(const Plan& plan) {
    Plan copied = plan;
    copied.copied_cells = 0;
    copied.bytes_max = plan.copied_cells != 0 ? part_bytes_copied(plan) : enclosed_bytes;
    for (std::vector<Step>& steps : copied.steps) {
        std::erase_if(steps, is_acknowledgement);
        for (Step& step : steps) {
            const bool is_message = is_lent(step) || is_read(step);
            step.via = !is_message              ? step.via
                       : plan.copied_cells != 0 ? Mechanism::cells
                                                : Mechanism::line;
        }
    }
    return copied;
}

} // namespace corymb::plan
