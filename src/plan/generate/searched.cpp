// SPDX-License-Identifier: Apache-2.0
// Families whose trees are searched on the costs, each direction on its own with a common root:
// greedy, annealed and exact. Reducing up a tree that was planned for broadcast costs up to twice
// as much, see docs/decisions.
#include "plan/generate/family_list.hpp"
#include "plan/generate/hierarchical.hpp"
#include "plan/search/exact.hpp"
#include "plan/search/greedy.hpp"
#include "plan/search/levels.hpp"
#include "plan/search/tree_search.hpp"

#include <limits>
#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

bool needs_up(Collective op) {
    return op != Collective::broadcast && op != Collective::scatter;
}
bool needs_down(Collective op) {
    return op != Collective::reduce && op != Collective::gather;
}

Rank greedy_root(Collective op, const GenerateInput& input) {
    if (input.root >= 0) {
        return input.root;
    }
    const Flow flow = needs_down(op) ? Flow::down : Flow::up;
    return root_candidates(TreeCosts(input.costs, flow)).front();
}

using Greedy = Tree (*)(const TreeCosts&, Rank);

Plan make_greedy(Collective op, const GenerateInput& input, Greedy greedy, std::string_view name) {
    const Rank root = greedy_root(op, input);
    TreePair trees;
    for (const Flow flow : {Flow::up, Flow::down}) {
        if (flow == Flow::up ? needs_up(op) : needs_down(op)) {
            const TreeCosts costs(input.costs, flow);
            Tree tree = greedy(costs, root);
            order_children(tree, costs);
            (flow == Flow::up ? trees.up : trees.down) = std::move(tree);
        }
    }
    return plan_of_trees(op, trees, input.costs, transport(input), input.ordered, name);
}

Plan make_earliest(Collective op, const GenerateInput& input) {
    return make_greedy(op, input, corymb::earliest_completion, generate::earliest_completion.name);
}
Plan make_look_ahead(Collective op, const GenerateInput& input) {
    return make_greedy(op, input, corymb::earliest_completion_look_ahead,
                       generate::earliest_completion_look_ahead.name);
}

// O(n^3) time: half a second at 512 ranks.
bool look_ahead_applies(Collective op, const GenerateInput& input) {
    return unordered(op, input) && input.costs.size() <= 512;
}

/// Trees along the machine's levels, for the search to start from.
std::vector<Tree> level_starts(const GenerateInput& input, Flow flow) {
    const TreeCosts costs(input.costs, flow);
    const std::vector<Partition> levels = group_levels(input);
    std::vector<Tree> starts;
    std::vector<Rank> roots = root_candidates(costs);
    roots.resize(std::min<std::size_t>(roots.size(), 4));
    if (input.root >= 0) {
        roots = {input.root};
    }
    for (const Rank root : roots) {
        starts.push_back(hierarchical_tree(costs, levels, root, LevelShape::optimal));
    }
    return starts;
}

Plan make_annealed(Collective op, const GenerateInput& input) {
    const std::vector<Tree> starts = level_starts(input, needs_down(op) ? Flow::down : Flow::up);
    const SearchOptions options{input.seed, moves_of(input), starts};
    TreePair trees;
    if (needs_up(op) && needs_down(op)) {
        auto [up, down] = search_pair(input.costs, input.root, options);
        trees = {std::move(up), std::move(down)};
    } else if (needs_up(op)) {
        trees.up = search_tree(TreeCosts(input.costs, Flow::up), input.root, options);
    } else {
        trees.down = search_tree(TreeCosts(input.costs, Flow::down), input.root, options);
    }
    return plan_of_trees(op, trees, input.costs, transport(input), input.ordered, annealed.name);
}

bool exact_applies(Collective op, const GenerateInput& input) {
    return unordered(op, input) && input.costs.size() <= ExactTrees::ranks_max;
}

Plan make_exact(Collective op, const GenerateInput& input) {
    std::vector<ExactTrees> searched; // up, then down, as far as needed
    if (needs_up(op)) {
        searched.emplace_back(TreeCosts(input.costs, Flow::up), input.root);
    }
    if (needs_down(op)) {
        searched.emplace_back(TreeCosts(input.costs, Flow::down), input.root);
    }
    Rank best_root = input.root;
    double best = std::numeric_limits<double>::infinity();
    for (Rank root = 0; input.root < 0 && root < input.costs.size(); ++root) {
        double cost = 0;
        for (const ExactTrees& trees : searched) {
            cost += trees.cost(root);
        }
        if (cost < best) {
            best = cost;
            best_root = root;
        }
    }
    TreePair trees;
    if (needs_up(op)) {
        trees.up = searched.front().tree(best_root);
    }
    if (needs_down(op)) {
        trees.down = searched.back().tree(best_root);
    }
    return plan_of_trees(op, trees, input.costs, transport(input), input.ordered, exact.name);
}

} // namespace

constinit const Family earliest_completion{
    .name = "earliest-completion", .applies = unordered, .make = make_earliest, .searches = true};
constinit const Family earliest_completion_look_ahead{.name = "earliest-completion-look-ahead",
                                                      .applies = look_ahead_applies,
                                                      .make = make_look_ahead,
                                                      .searches = true};
constinit const Family annealed{
    .name = "annealed", .applies = unordered, .make = make_annealed, .searches = true};
constinit const Family exact{
    .name = "exact", .applies = exact_applies, .make = make_exact, .searches = true};

} // namespace corymb::generate
