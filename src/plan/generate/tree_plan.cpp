// SPDX-License-Identifier: Apache-2.0
#include "plan/generate/tree_plan.hpp"

#include "plan/generate/tree_parts.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace corymb {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

Blocks block(Buffer buffer, std::uint32_t number) {
    return {buffer, number, 1};
}

/// Folds the children's blocks of this number with the rank's own, and sends the sum up.
void fold_up(PlanWriter& writer, const Tree& tree, const FoldOrder& order, Rank rank,
             std::uint32_t number, Buffer accumulator) {
    Buffer operand = Buffer::input;
    for (const Rank child : order.children[at(rank)]) {
        writer.fold(rank, child, block(operand, number), block(accumulator, number));
        operand = accumulator;
    }
    if (rank != tree.root) {
        writer.send(rank, tree.parent[at(rank)], block(operand, number));
    }
}

void pass_down(PlanWriter& writer, const Tree& tree, Rank rank, std::uint32_t number) {
    if (rank != tree.root) {
        writer.recv(rank, tree.parent[at(rank)], block(Buffer::output, number));
    }
    for (const Rank child : tree.children_of(rank)) {
        writer.send(rank, child, block(Buffer::output, number));
    }
}

void signal_down(PlanWriter& writer, const Tree& tree, Rank rank) {
    if (rank != tree.root) {
        writer.wait(rank, tree.parent[at(rank)]);
    }
    for (const Rank child : tree.children_of(rank)) {
        writer.signal(rank, child);
    }
}

void signal_up(PlanWriter& writer, const Tree& tree, const FoldOrder& order, Rank rank) {
    for (const Rank child : order.children[at(rank)]) {
        writer.wait(rank, child);
    }
    if (rank != tree.root) {
        writer.signal(rank, tree.parent[at(rank)]);
    }
}

void write_down(PlanWriter& writer, const Tree& down) {
    for (Rank rank = 0; rank < down.size(); ++rank) {
        if (writer.plan().op == Collective::barrier) {
            signal_down(writer, down, rank);
        }
        for (std::uint32_t number = 0; number < writer.plan().block_count; ++number) {
            pass_down(writer, down, rank, number);
        }
    }
}

void write_reduce(PlanWriter& writer, const Tree& tree, const CostView& costs, bool ordered) {
    const FoldOrder order = fold_order(tree, costs, ordered);
    const std::uint32_t blocks = writer.plan().block_count;
    for (Rank rank = 0; rank < tree.size(); ++rank) {
        const bool is_root = rank == tree.root;
        for (std::uint32_t number = 0; number < blocks; ++number) {
            fold_up(writer, tree, order, rank, number, is_root ? Buffer::output : Buffer::scratch);
        }
        if (!order.children[at(rank)].empty() && !is_root) {
            writer.need_scratch(blocks);
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

void write_allreduce(PlanWriter& writer, const TreePair& trees, const CostView& costs,
                     const Transport& transport, bool ordered) {
    const auto& [up, down] = trees;
    const FoldOrder order = fold_order(up, costs, ordered);
    // Overlapping lets at most three blocks stand unread on an edge if the trees are the same; an
    // edge holds four. With two different trees the depths differ, so the phases stay apart.
    const bool overlaps = up.parent == down.parent &&
                          writer.plan().block_bytes(transport.bytes) <= cell_bytes &&
                          transport.via == Mechanism::cells;
    const std::vector<std::uint32_t> depth = depths(down);
    const std::uint32_t blocks = writer.plan().block_count;
    for (Rank rank = 0; rank < up.size(); ++rank) {
        const std::uint32_t lag = overlaps ? std::min(2 * depth[at(rank)], blocks) : blocks;
        for (std::uint32_t turn = 0; turn < blocks + lag; ++turn) {
            if (turn < blocks) {
                fold_up(writer, up, order, rank, turn, Buffer::output);
            }
            if (turn >= lag) {
                pass_down(writer, down, rank, turn - lag);
            }
        }
    }
}

} // namespace

void write_up(PlanWriter& writer, const Tree& up, const CostView& costs, bool ordered) {
    const bool is_barrier = writer.plan().op == Collective::barrier;
    const FoldOrder order = fold_order(up, costs, ordered && !is_barrier);
    for (Rank rank = 0; rank < up.size(); ++rank) {
        if (is_barrier) {
            signal_up(writer, up, order, rank);
        }
        for (std::uint32_t number = 0; number < writer.plan().block_count; ++number) {
            fold_up(writer, up, order, rank, number, Buffer::output);
        }
    }
}

Plan plan_of_trees(Collective op, const TreePair& trees, const CostView& costs,
                   const Transport& transport, bool ordered, std::string_view algorithm) {
    switch (op) {
    case Collective::gather: return gather_plan(trees.up, costs, transport, algorithm);
    case Collective::scatter: return scatter_plan(trees.down, transport, algorithm);
    case Collective::allgather:
        return allgather_plan(trees.up, trees.down, costs, transport, algorithm);
    default: break;
    }
    const Tree& tree = op == Collective::broadcast ? trees.down : trees.up;
    const bool has_both = op == Collective::barrier || op == Collective::allreduce;
    if (has_both && (trees.up.root != trees.down.root || trees.up.size() != trees.down.size())) {
        throw Error(Errc::invalid_argument, "the two trees of a plan must share ranks and root");
    }
    PlanWriter writer(op, tree.size(), tree.root, transport, algorithm);
    if (tree.size() == 1 && is_reduction(op)) {
        const std::uint32_t blocks = writer.plan().block_count;
        writer.copy(0, {Buffer::input, 0, blocks}, {Buffer::output, 0, blocks});
        return std::move(writer).finished();
    }
    switch (op) {
    case Collective::barrier:
        write_up(writer, trees.up, costs, false);
        write_down(writer, trees.down);
        break;
    case Collective::broadcast: write_down(writer, tree); break;
    case Collective::reduce: write_reduce(writer, tree, costs, ordered); break;
    case Collective::allreduce: write_allreduce(writer, trees, costs, transport, ordered); break;
    default:
        throw Error(Errc::invalid_argument,
                    std::string(to_string(op)) + " is not carried by a pair of trees");
    }
    return std::move(writer).finished();
}

} // namespace corymb
