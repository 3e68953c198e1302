// SPDX-License-Identifier: Apache-2.0
#include "cluster/node_program.hpp"

#include "plan/copies.hpp"
#include "plan/tuning.hpp"

#include <corymb/error.hpp>
#include <corymb/team.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace corymb::cluster {

namespace {

bool has_peer(const Step& step) {
    return step.kind != StepKind::copy && step.kind != StepKind::publish;
}

bool overlap(const Blocks& one, const Blocks& other) {
    if (one.count == 0 || other.count == 0) {
        return false;
    }
    // Input and output may be the same memory.
    const bool both_user = one.buffer != Buffer::scratch && other.buffer != Buffer::scratch;
    if (one.buffer != other.buffer) {
        return both_user;
    }
    return one.first < other.first + other.count && other.first < one.first + one.count;
}

/// Whether `later` may be posted before `earlier` is done.
bool are_independent(const Step& earlier, const Step& later) {
    return later.kind != StepKind::recv ||
           (!overlap(later.to, earlier.to) && !overlap(later.to, earlier.from));
}

void check_far(const Step& step, const Plan& plan) {
    const bool notifies = step.kind == StepKind::signal || step.kind == StepKind::wait;
    const bool carries =
        step.kind == StepKind::send || step.kind == StepKind::recv || step.kind == StepKind::fold;
    if (!(notifies && step.via == Mechanism::none) &&
        !(carries && step.via == Mechanism::network)) {
        throw Error(Errc::unsupported, plan.algorithm + ": a " + std::string(to_string(step.kind)) +
                                           " via " + std::string(to_string(step.via)) +
                                           " cannot reach another node; plan for the nodes that "
                                           "the ranks are on");
    }
}

} // namespace

Home::Home(std::vector<int> nodes, Rank rank) : node_of_rank(std::move(nodes)) {
    const int own = node_of_rank[static_cast<std::size_t>(rank)];
    for (const int node : node_of_rank) {
        if (node == own) {
            local_rank.push_back(static_cast<Rank>(members.size()));
            members.push_back(static_cast<Rank>(local_rank.size() - 1));
        } else {
            local_rank.push_back(-1);
        }
    }
}

Plan plan_of_node(NodePart&& part, const Home& home) {
    Plan local = std::move(part.plan);
    local.root = 0;
    for (auto& steps : local.steps) {
        for (Step& step : steps) {
            if (!has_peer(step)) {
                continue;
            }
            if (home.is_far(step.peer)) {
                step.via = Mechanism::network; // Notifications, too.
            } else {
                step.peer = home.local_rank[static_cast<std::size_t>(step.peer)];
            }
        }
    }
    const std::uint32_t cells =
        local.steps.size() <= tuning::copying_ranks_most ? cell_slots_least : 0;
    return plan::with_copies(std::move(local), cells, cell_slots_least);
}

void check_far_steps(const Plan& plan, const std::vector<int>& node_of_rank) {
    const auto node = [&](Rank rank) {
        return node_of_rank[static_cast<std::size_t>(rank)];
    };
    for (Rank rank = 0; rank < plan.size(); ++rank) {
        for (const Step& step : plan.steps[static_cast<std::size_t>(rank)]) {
            if (has_peer(step) && node(step.peer) != node(rank)) {
                check_far(step, plan);
            }
        }
    }
}

std::vector<FarStep> far_steps(const NodePart& part, const Home& home, Rank rank) {
    const Plan& plan = part.plan;
    const Rank own = home.local_rank[static_cast<std::size_t>(rank)];
    std::vector<FarStep> far;
    std::vector<const Step*> group; // Receives that are posted at once.
    for (const Step& step : plan.steps[static_cast<std::size_t>(own)]) {
        if (!has_peer(step) || !home.is_far(step.peer)) {
            group.clear();
            continue;
        }
        FarStep made{.kind = step.kind,
                     .incoming_first = step.incoming_first,
                     .peer = step.peer,
                     .to = team::places_of(step.to, std::max(1u, plan.block_count)),
                     .from = team::places_of(step.from, std::max(1u, plan.block_count))};
        if (!is_receive(step.kind)) {
            group.clear();
        } else {
            const bool joins = std::ranges::all_of(
                group, [&](const Step* earlier) { return are_independent(*earlier, step); });
            if (group.empty() || !joins) {
                group.clear();
                made.begins_group = true;
            }
            group.push_back(&step);
        }
        far.push_back(made);
    }
    return far;
}

} // namespace corymb::cluster
