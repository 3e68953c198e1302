// SPDX-License-Identifier: Apache-2.0
#include "plan/generate/tree_parts.hpp"

#include "plan/generate/plan_writer.hpp"
#include "plan/tuning.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace corymb {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// Parts that follow each other both at a child and at its parent.
struct Run {
    Rank at_child, at_parent, count;
};

/// The members of every subtree, by rank.
std::vector<std::vector<Rank>> subtrees(const Tree& tree) {
    std::vector<std::vector<Rank>> members(at(tree.size()));
    const std::vector<Rank> order = breadth_first(tree);
    for (std::size_t i = order.size(); i-- > 0;) {
        auto& own = members[at(order[i])];
        own.push_back(order[i]);
        for (const Rank child : tree.children_of(order[i])) {
            const auto& below = members[at(child)];
            own.insert(own.end(), below.begin(), below.end());
        }
        std::ranges::sort(own);
    }
    return members;
}

/// The part that both directions share: the places of a subtree's parts.
class PartsOfTree {
public:
    PartsOfTree(PlanWriter& writer, const Tree& tree)
        : writer_(writer), tree_(tree), members_(subtrees(tree)) {}

    [[nodiscard]] bool is_leaf(Rank rank) const { return tree_.children_of(rank).empty(); }
    [[nodiscard]] Rank count(Rank rank) const {
        return static_cast<Rank>(members_[at(rank)].size());
    }
    /// The index of `member` among the parts of the subtree of `rank`; the root has all in order.
    [[nodiscard]] Rank place(Rank rank, Rank member) const {
        const auto& list = members_[at(rank)];
        return static_cast<Rank>(std::ranges::lower_bound(list, member) - list.begin());
    }
    [[nodiscard]] std::vector<Run> runs(Rank child) const {
        const Rank parent = tree_.parent[at(child)];
        std::vector<Run> result;
        Rank next = 0;
        for (const Rank member : members_[at(child)]) {
            const Rank above = place(parent, member);
            if (!result.empty() && result.back().at_parent + result.back().count == above) {
                ++result.back().count;
            } else {
                result.push_back({next, above, 1});
            }
            ++next;
        }
        return result;
    }
    /// Whether the parent sorts the runs itself, rather than taking one message for each.
    [[nodiscard]] bool stages(const std::vector<Run>& runs, Rank child) const {
        const std::uint64_t bytes =
            writer_.plan().bytes_max * static_cast<std::uint64_t>(count(child));
        return tuning::sorted_run_bytes_most.decides(
            runs.size() > 1 && bytes / runs.size() < tuning::sorted_run_bytes_most);
    }
    [[nodiscard]] Blocks staging(Rank rank, Rank child) {
        // The place behind the parts that stay; a root keeps its own parts in input or output.
        const Rank first = rank == tree_.root ? 0 : count(rank);
        writer_.need_scratch(static_cast<std::uint32_t>(first + count(child)));
        return places(Buffer::scratch, first, count(child));
    }

private:
    PlanWriter& writer_;
    const Tree& tree_;
    std::vector<std::vector<Rank>> members_;
};

/// The steps of one rank going up.
void gather_at(PlanWriter& writer, PartsOfTree& parts, const Tree& tree, Rank rank,
               const std::vector<Rank>& children) {
    const bool is_root = rank == tree.root;
    const Buffer buffer = is_root ? Buffer::output : Buffer::scratch;
    if (!parts.is_leaf(rank) || is_root) {
        if (!is_root) {
            writer.need_scratch(static_cast<std::uint32_t>(parts.count(rank)));
        }
        writer.copy(rank, places(Buffer::input, 0), places(buffer, parts.place(rank, rank)));
    }
    for (const Rank child : children) {
        const std::vector<Run> runs = parts.runs(child);
        if (parts.stages(runs, child)) {
            const Blocks staging = parts.staging(rank, child);
            writer.recv(rank, child, staging);
            for (const Run& run : runs) {
                writer.copy(rank,
                            places(Buffer::scratch, static_cast<Rank>(staging.first) + run.at_child,
                                   run.count),
                            places(buffer, run.at_parent, run.count));
            }
            continue;
        }
        for (const Run& run : runs) {
            writer.recv(rank, child, places(buffer, run.at_parent, run.count));
        }
    }
    if (is_root) {
        return;
    }
    const Rank parent = tree.parent[at(rank)];
    const Buffer source = parts.is_leaf(rank) ? Buffer::input : Buffer::scratch;
    const std::vector<Run> runs = parts.runs(rank);
    if (parts.stages(runs, rank)) {
        writer.send(rank, parent, places(source, 0, parts.count(rank)));
    } else {
        for (const Run& run : runs) {
            writer.send(rank, parent, places(source, run.at_child, run.count));
        }
    }
}

void write_gather(PlanWriter& writer, const Tree& tree, const CostView& costs) {
    PartsOfTree parts(writer, tree);
    const FoldOrder order = fold_order(tree, costs);
    for (Rank rank = 0; rank < tree.size(); ++rank) {
        gather_at(writer, parts, tree, rank, order.children[at(rank)]);
    }
}

/// The steps of one rank going down.
void scatter_at(PlanWriter& writer, PartsOfTree& parts, const Tree& tree, Rank rank) {
    const bool is_root = rank == tree.root;
    const Buffer buffer = is_root ? Buffer::input : Buffer::scratch;
    if (!is_root) {
        const Rank parent = tree.parent[at(rank)];
        const Buffer target = parts.is_leaf(rank) ? Buffer::output : Buffer::scratch;
        if (!parts.is_leaf(rank)) {
            writer.need_scratch(static_cast<std::uint32_t>(parts.count(rank)));
        }
        const std::vector<Run> runs = parts.runs(rank);
        if (parts.stages(runs, rank)) {
            writer.recv(rank, parent, places(target, 0, parts.count(rank)));
        } else {
            for (const Run& run : runs) {
                writer.recv(rank, parent, places(target, run.at_child, run.count));
            }
        }
    }
    for (const Rank child : tree.children_of(rank)) {
        const std::vector<Run> runs = parts.runs(child);
        if (parts.stages(runs, child)) {
            const Blocks staging = parts.staging(rank, child);
            for (const Run& run : runs) {
                writer.copy(rank, places(buffer, run.at_parent, run.count),
                            places(Buffer::scratch, static_cast<Rank>(staging.first) + run.at_child,
                                   run.count));
            }
            writer.send(rank, child, staging);
            continue;
        }
        for (const Run& run : runs) {
            writer.send(rank, child, places(buffer, run.at_parent, run.count));
        }
    }
    if (!parts.is_leaf(rank) || is_root) {
        writer.copy(rank, places(buffer, parts.place(rank, rank)), places(Buffer::output, 0));
    }
}

Transport in_whole_parts(Transport transport) {
    transport.blocks = 1;
    return transport;
}

} // namespace

Plan gather_plan(const Tree& tree, const CostView& costs, const Transport& transport,
                 std::string_view algorithm) {
    PlanWriter writer(Collective::gather, tree.size(), tree.root, in_whole_parts(transport),
                      algorithm);
    write_gather(writer, tree, costs);
    return std::move(writer).finished();
}

Plan scatter_plan(const Tree& tree, const Transport& transport, std::string_view algorithm) {
    PlanWriter writer(Collective::scatter, tree.size(), tree.root, in_whole_parts(transport),
                      algorithm);
    PartsOfTree parts(writer, tree);
    for (Rank rank = 0; rank < tree.size(); ++rank) {
        scatter_at(writer, parts, tree, rank);
    }
    return std::move(writer).finished();
}

Plan allgather_plan(const Tree& up, const Tree& down, const CostView& costs,
                    const Transport& transport, std::string_view algorithm) {
    PlanWriter writer(Collective::allgather, up.size(), up.root, in_whole_parts(transport),
                      algorithm);
    write_gather(writer, up, costs);
    const Blocks all = places(Buffer::output, 0, down.size());
    for (Rank rank = 0; rank < down.size(); ++rank) {
        if (rank != down.root) {
            writer.recv(rank, down.parent[at(rank)], all);
        }
        for (const Rank child : down.children_of(rank)) {
            writer.send(rank, child, all);
        }
    }
    return std::move(writer).finished();
}

} // namespace corymb
