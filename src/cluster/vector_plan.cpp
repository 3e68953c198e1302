// SPDX-License-Identifier: Apache-2.0
#include "cluster/vector_plan.hpp"

#include "plan/nodes/scheme.hpp"
#include "plan/places.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <string>

namespace corymb::cluster {

namespace {

bool names_runs(const std::vector<Step>& steps, Buffer buffer) {
    return std::ranges::any_of(steps, [buffer](const Step& step) {
        return (step.from.buffer == buffer && step.from.count > 1) ||
               (step.to.buffer == buffer && step.to.count > 1);
    });
}

bool pulls(const std::vector<Step>& steps) {
    return std::ranges::find(steps, Mechanism::pull, &Step::via) != steps.end();
}

bool uses_scratch(const std::vector<Step>& steps) {
    return std::ranges::any_of(steps, [](const Step& step) {
        return step.from.buffer == Buffer::scratch || step.to.buffer == Buffer::scratch;
    });
}

/// The giver and the getter of a part, in operations that have one such pair for each part.
struct Ends {
    Rank from, to;
};

Ends ends_of(const Plan& plan, plan::PartName part) {
    const auto ranks = static_cast<plan::PartName>(plan.size());
    if (plan.op == Collective::alltoall) {
        return {static_cast<Rank>(part / ranks), static_cast<Rank>(part % ranks)};
    }
    const auto rank = static_cast<Rank>(part);
    return plan.op == Collective::gather ? Ends{rank, plan.root} : Ends{plan.root, rank};
}

} // namespace

void check_vector_plan(const Plan& plan, const std::vector<int>& node_of_rank) {
    const plan::PartNames names(plan);
    if (plan::knows_all_lengths(plan.op)) {
        return;
    }
    const auto node = [&](Rank rank) {
        return node_of_rank[static_cast<std::size_t>(rank)];
    };
    for (Rank rank = 0; rank < plan.size(); ++rank) {
        for (const plan::PartName part : names.in_scratch(rank)) {
            const Ends ends = part == plan::no_part ? Ends{rank, rank} : ends_of(plan, part);
            if (node(ends.from) != node(rank) && node(ends.to) != node(rank)) {
                throw Error(Errc::invalid_plan,
                            plan.algorithm + ": rank " + std::to_string(rank) +
                                " passes on what rank " + std::to_string(ends.from) +
                                " has for rank " + std::to_string(ends.to) +
                                ", whose length its node does not know; plan with direct messages "
                                "between nodes");
            }
        }
    }
}

VectorPlan vector_plan_of(const NodePart& part, const Home& home, Rank rank) {
    const Plan& plan = part.plan;
    const auto own = static_cast<std::size_t>(home.local_rank[static_cast<std::size_t>(rank)]);
    VectorPlan made;
    made.op = plan.op;
    made.root = plan.root;
    made.scratch = part.scratch[own];
    made.has_runs_of_input = names_runs(plan.steps[own], Buffer::input);
    made.has_runs_of_output = names_runs(plan.steps[own], Buffer::output);
    made.tells = home.members.size() > 1 && !plan::knows_all_lengths(plan.op) &&
                 std::ranges::any_of(plan.steps, uses_scratch);
    made.pulls = std::ranges::any_of(plan.steps, pulls);
    return made;
}

TellingPlan telling_plan(std::size_t ranks, bool can_pull) {
    const std::vector<int> one_node(ranks, 0);
    nodes::Scheme scheme;
    scheme.inside = can_pull ? nodes::Inside::shared : nodes::Inside::messages;
    const team::PlanKey key{Collective::allgather, 1,
                            any_part_bytes}; // Other operations have no root.
    return {nodes::allgather(nodes::Layout(one_node), scheme, any_part_bytes), key.number()};
}

} // namespace corymb::cluster
