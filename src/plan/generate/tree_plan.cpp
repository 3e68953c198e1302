// SPDX-License-Identifier: Apache-2.0
#include "plan/generate/tree_plan.hpp"

#include "plan/generate/tree_parts.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace corymb {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

Blocks block(Buffer buffer, std::uint32_t number) {
    return {buffer, number, 1};
}

Step notify(StepKind kind, Rank peer) {
    Step step;
    step.kind = kind;
    step.peer = peer;
    return step;
}

/// The steps of one rank, in both directions, for the block numbers that the caller chooses.
class RankWriter {
public:
    RankWriter(Plan& plan, Rank rank, Mechanism via)
        : steps_(plan.steps[at(rank)]), rank_(rank), via_(via) {}

    void fold_up(std::uint32_t number, const std::vector<Rank>& children, Rank parent,
                 Buffer accumulator, bool ordered) {
        Buffer operand = Buffer::input;
        for (const Rank child : children) {
            Step step;
            step.kind = StepKind::fold;
            step.via = via_;
            step.peer = child;
            step.from = block(operand, number);
            step.to = block(accumulator, number);
            step.incoming_first = ordered && child < rank_;
            steps_.push_back(step);
            operand = accumulator;
        }
        if (parent >= 0) {
            send(parent, block(operand, number));
        }
    }

    void pass_down(std::uint32_t number, const std::vector<Rank>& children, Rank parent) {
        if (parent >= 0) {
            Step step;
            step.kind = StepKind::recv;
            step.via = via_;
            step.peer = parent;
            step.to = block(Buffer::output, number);
            steps_.push_back(step);
        }
        for (const Rank child : children) {
            send(child, block(Buffer::output, number));
        }
    }

    void add(StepKind kind, Rank peer) { steps_.push_back(notify(kind, peer)); }

private:
    void send(Rank peer, Blocks from) {
        Step step;
        step.kind = StepKind::send;
        step.via = via_;
        step.peer = peer;
        step.from = from;
        steps_.push_back(step);
    }

    std::vector<Step>& steps_;
    Rank rank_;
    Mechanism via_;
};

/// The plan of one rank alone: its input is the result.
void copy_input(Plan& plan) {
    Step step;
    step.kind = StepKind::copy;
    step.from = {Buffer::input, 0, plan.block_count};
    step.to = {Buffer::output, 0, plan.block_count};
    plan.steps.front().push_back(step);
}

/// After a broadcast by `pull`: nobody may change or leave a buffer that a child still copies.
void acknowledge_down(Plan& plan, const Tree& tree) {
    for (Rank rank = 0; rank < tree.size(); ++rank) {
        RankWriter writer(plan, rank, Mechanism::none);
        if (rank != tree.root) {
            writer.add(StepKind::signal, tree.parent[at(rank)]);
        }
        for (const Rank child : tree.children_of(rank)) {
            writer.add(StepKind::wait, child);
        }
    }
}

std::vector<std::uint32_t> depths(const Tree& tree) {
    std::vector<std::uint32_t> depth(tree.parent.size(), 0);
    for (const Rank rank : breadth_first(tree)) {
        if (rank != tree.root) {
            depth[at(rank)] = depth[at(tree.parent[at(rank)])] + 1;
        }
    }
    return depth;
}

void check_common_root(const Tree& up, const Tree& down) {
    if (up.root != down.root || up.size() != down.size()) {
        throw Error(Errc::invalid_argument, "the two trees of a plan must share ranks and root");
    }
}

} // namespace

Plan start_plan(Collective op, Rank size, Rank root, const Transport& transport,
                std::string_view algorithm) {
    Plan plan;
    plan.op = op;
    plan.root = root;
    plan.algorithm = algorithm;
    plan.steps.resize(at(size));
    if (op != Collective::barrier) {
        plan.block_count = std::max<std::uint32_t>(transport.blocks, 1);
        const bool in_lines = transport.via == Mechanism::line;
        plan.bytes_max = in_lines ? std::max<std::uint64_t>(transport.bytes, line_payload_bytes)
                                  : transport.bytes;
    }
    return plan;
}

Plan broadcast_plan(const Tree& tree, const Transport& transport, std::string_view algorithm) {
    Plan plan = start_plan(Collective::broadcast, tree.size(), tree.root, transport, algorithm);
    for (Rank rank = 0; rank < tree.size(); ++rank) {
        RankWriter writer(plan, rank, transport.via);
        for (std::uint32_t number = 0; number < plan.block_count; ++number) {
            writer.pass_down(number, tree.children_of(rank), tree.parent[at(rank)]);
        }
    }
    if (transport.via == Mechanism::pull) {
        acknowledge_down(plan, tree);
    }
    return plan;
}

Plan reduce_plan(const Tree& tree, const CostView& costs, const Transport& transport, bool ordered,
                 std::string_view algorithm) {
    Plan plan = start_plan(Collective::reduce, tree.size(), tree.root, transport, algorithm);
    if (tree.size() == 1) {
        copy_input(plan);
        return plan;
    }
    const FoldOrder order = fold_order(tree, costs, ordered);
    for (Rank rank = 0; rank < tree.size(); ++rank) {
        const auto& children = order.children[at(rank)];
        const bool is_root = rank == tree.root;
        RankWriter writer(plan, rank, transport.via);
        for (std::uint32_t number = 0; number < plan.block_count; ++number) {
            writer.fold_up(number, children, tree.parent[at(rank)],
                           is_root ? Buffer::output : Buffer::scratch, ordered);
        }
        if (!children.empty() && !is_root) {
            plan.scratch_blocks = plan.block_count;
        }
        if (transport.via == Mechanism::pull) {
            for (const Rank child : children) {
                writer.add(StepKind::signal, child);
            }
            if (!is_root) {
                writer.add(StepKind::wait, tree.parent[at(rank)]);
            }
        }
    }
    return plan;
}

Plan barrier_plan(const Tree& up, const Tree& down, const CostView& costs,
                  std::string_view algorithm) {
    check_common_root(up, down);
    Plan plan = start_plan(Collective::barrier, up.size(), up.root, {}, algorithm);
    const FoldOrder order = fold_order(up, costs);
    for (Rank rank = 0; rank < up.size(); ++rank) {
        RankWriter writer(plan, rank, Mechanism::none);
        for (const Rank child : order.children[at(rank)]) {
            writer.add(StepKind::wait, child);
        }
        if (rank != up.root) {
            writer.add(StepKind::signal, up.parent[at(rank)]);
            writer.add(StepKind::wait, down.parent[at(rank)]);
        }
        for (const Rank child : down.children_of(rank)) {
            writer.add(StepKind::signal, child);
        }
    }
    return plan;
}

Plan fold_plan(const Tree& up, const CostView& costs, const Transport& transport, bool ordered,
               std::string_view algorithm) {
    Plan plan = start_plan(Collective::allreduce, up.size(), up.root, transport, algorithm);
    if (up.size() == 1) {
        copy_input(plan);
        return plan;
    }
    const FoldOrder order = fold_order(up, costs, ordered);
    for (std::uint32_t number = 0; number < plan.block_count; ++number) {
        for (Rank rank = 0; rank < up.size(); ++rank) {
            RankWriter(plan, rank, transport.via)
                .fold_up(number, order.children[at(rank)], up.parent[at(rank)], Buffer::output,
                         ordered);
        }
    }
    return plan;
}

Plan allreduce_plan(const Tree& up, const Tree& down, const CostView& costs,
                    const Transport& transport, bool ordered, std::string_view algorithm) {
    check_common_root(up, down);
    Plan plan = start_plan(Collective::allreduce, up.size(), up.root, transport, algorithm);
    if (up.size() == 1) {
        copy_input(plan);
        return plan;
    }
    const FoldOrder order = fold_order(up, costs, ordered);
    // Overlapping lets at most three blocks stand unread on an edge if the trees are the same; an
    // edge holds four. With two different trees the depths differ, so the phases stay apart.
    const bool overlaps = up.parent == down.parent &&
                          plan.block_bytes(transport.bytes) <= cell_bytes &&
                          transport.via == Mechanism::cells;
    const std::vector<std::uint32_t> depth = depths(down);
    for (Rank rank = 0; rank < up.size(); ++rank) {
        RankWriter writer(plan, rank, transport.via);
        const std::uint32_t blocks = plan.block_count;
        const std::uint32_t lag = overlaps ? std::min(2 * depth[at(rank)], blocks) : blocks;
        for (std::uint32_t turn = 0; turn < blocks + lag; ++turn) {
            if (turn < blocks) {
                writer.fold_up(turn, order.children[at(rank)], up.parent[at(rank)], Buffer::output,
                               ordered);
            }
            if (turn >= lag) {
                writer.pass_down(turn - lag, down.children_of(rank), down.parent[at(rank)]);
            }
        }
    }
    if (transport.via == Mechanism::pull) {
        acknowledge_down(plan, down);
    }
    return plan;
}

Plan plan_of_trees(Collective op, const TreePair& trees, const CostView& costs,
                   const Transport& transport, bool ordered, std::string_view algorithm) {
    switch (op) {
    case Collective::barrier: return barrier_plan(trees.up, trees.down, costs, algorithm);
    case Collective::broadcast: return broadcast_plan(trees.down, transport, algorithm);
    case Collective::reduce: return reduce_plan(trees.up, costs, transport, ordered, algorithm);
    case Collective::allreduce:
        return allreduce_plan(trees.up, trees.down, costs, transport, ordered, algorithm);
    case Collective::gather: return gather_plan(trees.up, costs, transport, algorithm);
    case Collective::scatter: return scatter_plan(trees.down, transport, algorithm);
    case Collective::allgather:
        return allgather_plan(trees.up, trees.down, costs, transport, algorithm);
    default: break;
    }
    throw Error(Errc::invalid_argument,
                std::string(to_string(op)) + " is not carried by a pair of trees");
}

} // namespace corymb
