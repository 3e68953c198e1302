// SPDX-License-Identifier: Apache-2.0
// Down the tree, one publication that every rank reads; up, a star or a searched tree. Good inside
// one cache, where a store reaches many readers for the price of one.
#include "plan/generate/family_list.hpp"
#include "plan/search/tree_search.hpp"

#include <vector>

namespace corymb::generate {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// Appends the root's publication and the other ranks' steps. A line is copied, so no rank
/// acknowledges it; a buffer that is pulled stays as it is until every reader has signalled.
void publish(Plan& plan, Rank root, Mechanism via) {
    const bool has_data = plan.op != Collective::barrier;
    const std::uint32_t publications = has_data ? plan.block_count : 1;
    for (std::uint32_t number = 0; number < publications; ++number) {
        const Blocks blocks = has_data ? Blocks{Buffer::output, number, 1} : Blocks{};
        for (Rank rank = 0; rank < plan.size(); ++rank) {
            Step step;
            step.via = has_data ? via : Mechanism::none;
            step.kind = rank == root ? StepKind::publish : StepKind::read;
            (rank == root ? step.from : step.to) = blocks;
            if (rank != root) {
                step.peer = root;
                step.ordinal = number;
            }
            plan.steps[at(rank)].push_back(step);
        }
    }
    if (has_data && via == Mechanism::pull) {
        for (Rank rank = 0; rank < plan.size(); ++rank) {
            if (rank != root) {
                plan.steps[at(rank)].push_back({.kind = StepKind::signal, .peer = root});
                plan.steps[at(root)].push_back({.kind = StepKind::wait, .peer = rank});
            }
        }
    }
}

/// A tree that carries nothing down: only its way up is used.
Plan upward_plan(Collective op, const Tree& up, const GenerateInput& input, std::string_view name) {
    if (op == Collective::barrier) {
        Plan plan = start_plan(op, up.size(), up.root, {}, name);
        const FoldOrder order = fold_order(up, input.costs);
        for (Rank rank = 0; rank < up.size(); ++rank) {
            auto& steps = plan.steps[at(rank)];
            for (const Rank child : order.children[at(rank)]) {
                steps.push_back({.kind = StepKind::wait, .peer = child});
            }
            if (rank != up.root) {
                steps.push_back({.kind = StepKind::signal, .peer = up.parent[at(rank)]});
            }
        }
        return plan;
    }
    return fold_plan(up, input.costs, transport(input), input.ordered, name);
}

Plan make_with(Collective op, const GenerateInput& input, const Tree& up, std::string_view name) {
    const Transport how = transport(input);
    Plan plan = op == Collective::broadcast ? start_plan(op, up.size(), up.root, how, name)
                                            : upward_plan(op, up, input, name);
    if (plan.size() > 1) {
        publish(plan, up.root, how.via);
    }
    return plan;
}

bool applies(Collective op, const GenerateInput& input) {
    return has_one_payload(op) && op != Collective::reduce &&
           (op == Collective::barrier || input.via == Mechanism::line ||
            input.via == Mechanism::pull);
}

Plan make_flat(Collective op, const GenerateInput& input) {
    Tree up = make_tree(input.costs.size(), root_or_first(input));
    for (Rank rank = 0; rank < up.size(); ++rank) {
        if (rank != up.root) {
            attach(up, up.root, rank);
        }
    }
    return make_with(op, input, up, shared_line.name);
}

bool tree_applies(Collective op, const GenerateInput& input) {
    return applies(op, input) && op != Collective::broadcast && unordered(op, input);
}

Plan make_tree_up(Collective op, const GenerateInput& input) {
    // A quarter of the moves: this is a variant of the annealed plan, not the main candidate.
    const SearchOptions options{input.seed, moves_of(input) / 4, {}};
    const Tree up = search_tree(TreeCosts(input.costs, Flow::up), input.root, options);
    return make_with(op, input, up, shared_line_tree.name);
}

} // namespace

constinit const Family shared_line{
    .name = "shared-line", .applies = applies, .make = make_flat, .publishes = true};
constinit const Family shared_line_tree{
    .name = "shared-line-tree", .applies = tree_applies, .make = make_tree_up, .publishes = true};

} // namespace corymb::generate
