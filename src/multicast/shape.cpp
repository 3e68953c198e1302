// SPDX-License-Identifier: Apache-2.0
#include "multicast/shape.hpp"

#include "plan/step_kind.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <numeric>
#include <string>

namespace corymb::multicast {

namespace {

using Children = std::vector<std::vector<Rank>>;

/// Without recursion: a chain of thousands is a tree, too.
Preorder order_from(const Children& children, Rank root) {
    Preorder order;
    order.position_of.resize(children.size());
    order.end.resize(children.size());
    struct Visit {
        Rank rank;
        std::size_t next_child;
    };
    std::vector<Visit> path;
    const auto enter = [&](Rank rank) {
        const auto position = static_cast<std::uint32_t>(order.rank_at.size());
        order.position_of[static_cast<std::size_t>(rank)] = position;
        order.rank_at.push_back(rank);
        path.push_back({rank, 0});
    };
    enter(root);
    while (!path.empty()) {
        const auto rank = static_cast<std::size_t>(path.back().rank);
        if (path.back().next_child < children[rank].size()) {
            enter(children[rank][path.back().next_child++]);
        } else {
            order.end[order.position_of[rank]] = static_cast<std::uint32_t>(order.rank_at.size());
            path.pop_back();
        }
    }
    return order;
}

[[noreturn]] void refuse(const Plan& plan, const std::string& why,
                         const std::string& what = "broadcast tree for a multicast") {
    throw Error(Errc::invalid_argument, "the plan '" + plan.algorithm + "' of " +
                                            std::string(to_string(plan.op)) + " is no " + what +
                                            ": " + why);
}
[[noreturn]] void refuse_reduce(const Plan& plan, const std::string& why) {
    refuse(plan, why, "reduce tree for acknowledgements");
}

bool takes(const Step& step) noexcept {
    return step.kind == StepKind::recv || step.kind == StepKind::read;
}

/// The rank from which each rank takes the data; the root's is -1.
std::vector<Rank> parents_of(const Plan& plan) {
    std::vector<Rank> parents(plan.steps.size(), -1);
    for (Rank rank = 0; rank < plan.size(); ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        for (const Step& step : plan.steps[at]) {
            if (!takes(step)) {
                continue;
            }
            if (step.peer < 0 || step.peer >= plan.size() || rank == plan.root ||
                (parents[at] >= 0 && parents[at] != step.peer)) {
                refuse(plan, "rank " + std::to_string(rank) +
                                 " does not take everything from one other; name a tree algorithm");
            }
            parents[at] = step.peer;
        }
    }
    return parents;
}

} // namespace

Preorder flat_order(Rank size) {
    Preorder order;
    order.position_of.resize(static_cast<std::size_t>(size));
    std::iota(order.position_of.begin(), order.position_of.end(), 0U);
    order.rank_at.assign(order.position_of.begin(), order.position_of.end());
    order.end = order.position_of;
    for (std::uint32_t& end : order.end) {
        ++end;
    }
    return order;
}

Preorder binary_order(Rank size) {
    Children children(static_cast<std::size_t>(size));
    for (Rank rank = 1; rank < size; ++rank) {
        children[static_cast<std::size_t>((rank - 1) / 2)].push_back(rank);
    }
    return order_from(children, 0);
}

Preorder plan_order(const Plan& plan) {
    if (plan.op != Collective::broadcast || plan.root < 0 || plan.root >= plan.size()) {
        refuse(plan, "it must be a broadcast");
    }
    const std::vector<Rank> parents = parents_of(plan);
    Children children(plan.steps.size());
    const auto adopt = [&](Rank parent, Rank child) {
        auto& list = children[static_cast<std::size_t>(parent)];
        if (parents[static_cast<std::size_t>(child)] == parent &&
            std::find(list.begin(), list.end(), child) == list.end()) {
            list.push_back(child);
        }
    };
    for (Rank rank = 0; rank < plan.size(); ++rank) {
        for (const Step& step : plan.steps[static_cast<std::size_t>(rank)]) {
            if (step.kind == StepKind::send && step.peer >= 0 && step.peer < plan.size()) {
                adopt(rank, step.peer);
            }
        }
    }
    for (Rank rank = 0; rank < plan.size(); ++rank) { // Ranks that read a publication.
        if (parents[static_cast<std::size_t>(rank)] >= 0) {
            adopt(parents[static_cast<std::size_t>(rank)], rank);
        }
    }
    Preorder order = order_from(children, plan.root);
    if (order.rank_at.size() != plan.steps.size()) {
        refuse(plan, "its root does not reach every rank");
    }
    return order;
}

std::vector<Rank> gather_parents(const Plan& plan) {
    if (plan.op != Collective::reduce || plan.root < 0 || plan.root >= plan.size()) {
        refuse_reduce(plan, "it must be a reduce");
    }
    std::vector<Rank> parents(plan.steps.size(), -1);
    const auto give = [&](Rank from, Rank to) {
        const bool is_there = from >= 0 && from < plan.size() && to >= 0 && to < plan.size();
        Rank* const parent = is_there ? &parents[static_cast<std::size_t>(from)] : nullptr;
        if (parent == nullptr || from == plan.root || (*parent >= 0 && *parent != to)) {
            refuse_reduce(plan,
                          "rank " + std::to_string(from) +
                              " does not give everything to one other; name a tree algorithm");
        }
        *parent = to;
    };
    for (Rank rank = 0; rank < plan.size(); ++rank) {
        for (const Step& step : plan.steps[static_cast<std::size_t>(rank)]) {
            if (takes(step) || plan::is_folding(step.kind) || step.kind == StepKind::put) {
                plan::is_putting(step.kind) ? give(rank, step.peer) : give(step.peer, rank);
            }
        }
    }
    for (Rank rank = 0; rank < plan.size(); ++rank) {
        Rank& parent = parents[static_cast<std::size_t>(rank)];
        if (parent < 0 && rank != plan.root) {
            refuse_reduce(plan, "rank " + std::to_string(rank) + " gives its data to nobody");
        }
        parent = parent < 0 ? rank : parent;
    }
    return parents;
}

GatherTree gather_tree(const Preorder& order, const std::vector<Rank>& parents) {
    std::vector<Position> parent;
    for (const Rank rank : order.rank_at) {
        const Rank above = parents[static_cast<std::size_t>(rank)];
        parent.push_back(order.position_of[static_cast<std::size_t>(above)]);
    }
    return GatherTree(parent);
}

} // namespace corymb::multicast
