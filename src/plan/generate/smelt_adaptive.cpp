// SPDX-License-Identifier: Apache-2.0
// Smelt's adaptive tree (Kaestle, Achermann, Haecki, Hoffmann, Ramos, Roscoe, OSDI 2016), plain,
// with its shuffle pass, and with shuffle and sort. A labelled baseline that reproduces the
// published trees, so nothing here is improved.
#include "plan/generate/family_list.hpp"
#include "plan/search/levels.hpp"
#include "plan/search/tree_search.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

std::size_t at(std::int32_t index) {
    return static_cast<std::size_t>(index);
}

/// The event-driven greedy: an idle rank sends to the dearest rank that is left. It enters another
/// NUMA node only if no rank there has the message, and then at its cheapest rank.
class Greedy {
public:
    Greedy(const CostView& costs, const Partition& node)
        : costs_(costs), node_(node), nodes_(members_of(node)), active_(node.size(), false),
          node_active_(nodes_.size(), false) {}

    Tree build(Rank root) {
        Tree tree = make_tree(costs_.size(), root);
        activate(root);
        using Event = std::tuple<double, std::uint64_t, Rank>; // time, order of insertion, rank
        std::priority_queue<Event, std::vector<Event>, std::greater<>> idle;
        std::uint64_t inserted = 0;
        idle.emplace(0.0, inserted++, root);
        while (!idle.empty()) {
            const auto [time, order, sender] = idle.top();
            idle.pop();
            const Rank target = next_target(sender);
            if (target >= 0) {
                activate(target);
                attach(tree, sender, target);
                const double sent = time + costs_.send(sender, target);
                idle.emplace(sent, inserted++, sender);
                idle.emplace(sent + costs_.receive(sender, target), inserted++, target);
            }
        }
        return tree;
    }

private:
    void activate(Rank rank) {
        active_[at(rank)] = true;
        node_active_[at(node_[at(rank)])] = true;
    }

    [[nodiscard]] Rank next_target(Rank sender) const {
        Rank farthest = -1;
        double dearest = -std::numeric_limits<double>::infinity();
        for (std::size_t node = 0; node < nodes_.size(); ++node) {
            if (node_active_[node] && node != at(node_[at(sender)])) {
                continue;
            }
            for (const Rank rank : nodes_[node]) {
                const double cost = active_[at(rank)] ? 0 : whole(sender, rank);
                if (!active_[at(rank)] && cost > dearest) {
                    farthest = rank;
                    dearest = cost;
                }
            }
        }
        if (farthest < 0 || node_[at(farthest)] == node_[at(sender)]) {
            return farthest;
        }
        const auto& members = nodes_[at(node_[at(farthest)])];
        return *std::ranges::min_element(members, std::ranges::less{},
                                         [&](Rank rank) { return costs_.send(sender, rank); });
    }

    [[nodiscard]] double whole(Rank from, Rank to) const {
        return costs_.send(from, to) + costs_.receive(from, to);
    }

    const CostView& costs_;
    const Partition& node_;
    std::vector<std::vector<Rank>> nodes_;
    std::vector<bool> active_, node_active_;
};

/// Smelt's simulation of a broadcast: when each rank has the message, and when it is idle again.
struct Times {
    std::vector<double> available, idle;
};

Times simulate_tree(const Tree& tree, const CostView& costs) {
    Times times{std::vector<double>(tree.parent.size(), 0.0),
                std::vector<double>(tree.parent.size(), 0.0)};
    for (const Rank rank : breadth_first(tree)) {
        double clock = times.available[at(rank)];
        for (const Rank child : tree.children_of(rank)) {
            clock += costs.send(rank, child);
            times.available[at(child)] = clock + costs.receive(rank, child);
        }
        times.idle[at(rank)] = clock;
    }
    return times;
}

/// Children by falling subtree cost, without the cost of the edge; kept if the tree is not worse.
void sort_children(Tree& tree, const CostView& costs) {
    const TreeCosts down(costs, Flow::down);
    const std::vector<double> cost = subtree_costs(tree, down);
    Tree sorted = tree;
    for (auto& children : sorted.children) {
        std::ranges::stable_sort(children, std::ranges::greater{},
                                 [&](Rank child) { return cost[at(child)]; });
    }
    if (makespan(sorted, down) <= cost[at(tree.root)]) {
        tree = std::move(sorted);
    }
}

/// Moves the rank that is served last to the rank that could serve it first, if that is earlier.
bool shuffle_once(Tree& tree, const CostView& costs, const std::vector<Rank>& order) {
    const Times times = simulate_tree(tree, costs);
    const Rank last = *std::ranges::max_element(
        order, std::ranges::less{}, [&](Rank rank) { return times.available[at(rank)]; });
    Rank sender = -1;
    double earliest = times.available[at(last)];
    for (const Rank rank : order) {
        if (rank == last || tree.parent[at(last)] == rank) {
            continue;
        }
        const double arrival =
            times.idle[at(rank)] + costs.send(rank, last) + costs.receive(rank, last);
        if (arrival < earliest) {
            sender = rank;
            earliest = arrival;
        }
    }
    if (sender < 0 || !tree.children_of(last).empty()) {
        return false;
    }
    std::erase(tree.children[at(tree.parent[at(last)])], last);
    attach(tree, sender, last);
    return true;
}

enum class Passes : std::uint8_t { none, shuffle, shuffle_and_sort };

Plan make(Collective op, const GenerateInput& input, Passes passes, std::string_view name) {
    const Partition nodes = numa_nodes(input);
    const Rank root =
        input.root >= 0 ? input.root : root_candidates(TreeCosts(input.costs, Flow::down)).front();
    Tree tree = Greedy(input.costs, nodes).build(root);
    if (passes != Passes::none) {
        std::vector<Rank> order; // NUMA node by NUMA node: decides ties.
        for (const auto& members : members_of(nodes)) {
            order.insert(order.end(), members.begin(), members.end());
        }
        do {
            if (passes == Passes::shuffle_and_sort) {
                sort_children(tree, input.costs);
            }
        } while (shuffle_once(tree, input.costs, order));
    }
    return plan_of_tree(op, input, tree, name);
}

// The passes take O(n) each and may be many; Smelt's rule is a baseline, not a candidate at scale.
bool applies(Collective op, const GenerateInput& input) {
    return unordered(op, input) && input.costs.size() <= CostView::dense_ranks_max;
}

Plan make_plain(Collective op, const GenerateInput& input) {
    return make(op, input, Passes::none, smelt_adaptive.name);
}
Plan make_shuffle(Collective op, const GenerateInput& input) {
    return make(op, input, Passes::shuffle, smelt_adaptive_shuffle.name);
}
Plan make_shuffle_sort(Collective op, const GenerateInput& input) {
    return make(op, input, Passes::shuffle_and_sort, smelt_adaptive_shuffle_sort.name);
}

} // namespace

constinit const Family smelt_adaptive{
    .name = "smelt-adaptive", .applies = applies, .make = make_plain, .is_baseline = true};
constinit const Family smelt_adaptive_shuffle{.name = "smelt-adaptive-shuffle",
                                              .applies = applies,
                                              .make = make_shuffle,
                                              .is_baseline = true};
constinit const Family smelt_adaptive_shuffle_sort{.name = "smelt-adaptive-shuffle-sort",
                                                   .applies = applies,
                                                   .make = make_shuffle_sort,
                                                   .is_baseline = true};

} // namespace corymb::generate
