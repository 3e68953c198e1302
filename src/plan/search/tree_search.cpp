// SPDX-License-Identifier: Apache-2.0
#include "plan/search/tree_search.hpp"

#include "plan/search/anneal.hpp"
#include "plan/search/greedy.hpp"
#include "plan/tuning.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace corymb {

namespace {

using tuning::short_runs;

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

struct Scored {
    Tree tree;
    double cost = std::numeric_limits<double>::infinity();

    void keep_better(Tree candidate, const TreeCosts& costs) {
        const double candidate_cost = makespan(candidate, costs);
        if (candidate_cost < cost) {
            tree = std::move(candidate);
            cost = candidate_cost;
        }
    }
};

Tree best_start(const TreeCosts& costs, Rank root, std::span<const Tree> starts) {
    Scored best;
    const auto consider = [&](Tree tree) {
        order_children(tree, costs);
        best.keep_better(std::move(tree), costs);
    };
    consider(earliest_completion(costs, root));
    if (!tuning::look_ahead_ranks_most.decides(costs.size() > tuning::look_ahead_ranks_most)) {
        consider(earliest_completion_look_ahead(costs, root));
    }
    for (const Tree& start : starts) {
        if (start.root == root) {
            consider(start);
        }
    }
    return best.tree;
}

AnnealOptions short_run(const SearchOptions& options, std::uint64_t number, bool free_root) {
    return {.seed = options.seed * 1000 + number,
            .moves = options.moves / (2 * short_runs),
            .free_root = free_root};
}

AnnealOptions long_run(const SearchOptions& options) {
    return {.seed = options.seed,
            .moves = options.moves - options.moves / 2,
            .heat = tuning::long_run_heat};
}

} // namespace

std::vector<Rank> root_candidates(const TreeCosts& costs) {
    const CostView& view = costs.view();
    // Sums by row, since thousands of ranks share few rows.
    std::vector<std::int64_t> members(at(view.row_count()), 0);
    std::vector<Rank> first(members.size(), -1);
    std::vector<Rank> last(members.size(), -1);
    for (Rank rank = 0; rank < view.size(); ++rank) {
        const std::size_t row = at(view.row(rank));
        ++members[row];
        first[row] = first[row] < 0 ? rank : first[row];
        last[row] = rank;
    }
    std::vector<double> total(members.size(), 0.0);
    for (std::size_t from = 0; from < members.size(); ++from) {
        for (std::size_t to = 0; to < members.size(); ++to) {
            const std::int64_t others = members[to] - (from == to ? 1 : 0);
            if (members[from] > 0 && others > 0) {
                total[from] += costs.busy(first[from], last[to]) * static_cast<double>(others);
            }
        }
    }
    std::vector<Rank> order(at(view.size()));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::ranges::less{},
                             [&](Rank rank) { return total[at(view.row(rank))]; });
    return order;
}

Tree search_tree(const TreeCosts& costs, Rank root, const SearchOptions& options) {
    const bool free_root = root < 0;
    const Tree start =
        best_start(costs, free_root ? root_candidates(costs).front() : root, options.starts);
    if (options.moves > 0) {
        short_runs.note();
        tuning::long_run_heat.note();
    }
    Scored best;
    for (std::uint64_t run = 0; run < short_runs; ++run) {
        // Only the last run looks for another root: the first candidate is mostly the best one, and
        // a root that wanders makes the other runs worse.
        const bool last = run + 1 == short_runs;
        best.keep_better(anneal(start, costs, short_run(options, run, free_root && last)), costs);
    }
    best.keep_better(anneal(best.tree, costs, long_run(options)), costs);
    return best.tree;
}

SearchedPair search_pair(const CostView& costs, Rank root, const SearchOptions& pair_options) {
    SearchOptions options = pair_options;
    options.moves /= 2; // Two trees share them.
    const TreeCosts up(costs, Flow::up);
    const TreeCosts down(costs, Flow::down);
    // A rank that is a good root both ways: add up the places in both orders.
    std::vector<std::size_t> place(at(costs.size()), 0);
    for (const TreeCosts& flow : {up, down}) {
        const std::vector<Rank> order = root_candidates(flow);
        for (std::size_t i = 0; i < order.size(); ++i) {
            place[at(order[i])] += i;
        }
    }
    std::vector<Rank> order(place.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::ranges::less{},
                             [&](Rank rank) { return place[at(rank)]; });
    const Rank common = root >= 0 ? root : order.front();

    Scored best_up;
    Scored best_down;
    const SearchedPair start{best_start(up, common, options.starts),
                             best_start(down, common, options.starts)};
    for (std::uint64_t run = 0; run < short_runs; ++run) {
        Scored run_up;
        Scored run_down;
        run_up.keep_better(anneal(start.up, up, short_run(options, run, false)), up);
        run_down.keep_better(anneal(start.down, down, short_run(options, run, false)), down);
        best_up.keep_better(std::move(run_up.tree), up);
        best_down.keep_better(std::move(run_down.tree), down);
    }
    best_up.keep_better(anneal(best_up.tree, up, long_run(options)), up);
    best_down.keep_better(anneal(best_down.tree, down, long_run(options)), down);
    return {std::move(best_up.tree), std::move(best_down.tree)};
}

} // namespace corymb
