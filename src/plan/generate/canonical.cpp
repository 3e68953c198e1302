// SPDX-License-Identifier: Apache-2.0
// Reductions whose additions are equal for any root, placement, machine and mechanism. Ranks 0 to n
// - 1 are combined as their largest power of two, then the rest; both halves are combined in the
// same way. With floating-point numbers, equal expressions give equal bits.
#include "plan/generate/family_list.hpp"
#include "plan/generate/plan_writer.hpp"
#include "plan/generate/rounds.hpp"
#include "plan/search/greedy.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

/// A combination: `from` sends, `to` folds.
struct Combination {
    Rank from, to;
};

/// Lists the combinations of the ranks first to end - 1, in an order in which they can be done. The
/// rank that ends with the result is `root` if it is one of them, otherwise `first`. Returns it.
Rank combine_range(Rank first, Rank end, Rank root, std::vector<Combination>& list) {
    if (end - first == 1) {
        return first;
    }
    const auto rest = static_cast<std::uint32_t>(end - first - 1);
    const Rank middle = first + static_cast<Rank>(std::bit_floor(rest));
    const Rank left = combine_range(first, middle, root, list);
    const Rank right = combine_range(middle, end, root, list);
    const bool right_takes = right == root;
    list.push_back(right_takes ? Combination{left, right} : Combination{right, left});
    return right_takes ? right : left;
}

/// Folds everybody's input into `at_root` of the root; the others use `elsewhere`.
void reduce_to(PlanWriter& writer, Rank root, std::uint32_t count, Buffer at_root,
               Buffer elsewhere) {
    std::vector<Combination> list;
    combine_range(0, writer.size(), root, list);
    // Whole parts at once, or else block by block.
    const std::uint32_t width = has_parts(writer.plan().op) ? count : 1;
    std::vector<Buffer> holds;
    for (std::uint32_t first = 0; first < count; first += width) {
        holds.assign(static_cast<std::size_t>(writer.size()), Buffer::input);
        for (const Combination& step : list) {
            Buffer& source = holds[static_cast<std::size_t>(step.from)];
            Buffer& own = holds[static_cast<std::size_t>(step.to)];
            const Buffer target = step.to == root ? at_root : elsewhere;
            if (target == Buffer::scratch) {
                writer.need_scratch(count);
            }
            writer.transfer({step.from,
                             step.to,
                             {source, first, width},
                             {target, first, width},
                             {own, first, width}});
            own = target;
        }
    }
    if (writer.size() == 1) {
        writer.copy(0, {Buffer::input, 0, count}, {at_root, 0, count});
    }
}

Plan reduce(const GenerateInput& input) {
    const Rank root = root_or_first(input);
    PlanWriter writer(Collective::reduce, input.costs.size(), root, transport(input),
                      canonical.name);
    reduce_to(writer, root, writer.plan().block_count, Buffer::output, Buffer::scratch);
    return std::move(writer).finished();
}

Plan allreduce(const GenerateInput& input) {
    const Rank root = root_or_first(input);
    PlanWriter writer(Collective::allreduce, input.costs.size(), root, transport(input),
                      canonical.name);
    const std::uint32_t blocks = writer.plan().block_count;
    reduce_to(writer, root, blocks, Buffer::output, Buffer::output);
    const TreeCosts costs(input.costs, Flow::down);
    Tree down = corymb::earliest_completion(costs, root);
    order_children(down, costs);
    for (Rank rank = 0; rank < writer.size(); ++rank) {
        for (std::uint32_t block = 0; block < blocks; ++block) {
            const Blocks moved{Buffer::output, block, 1};
            if (rank != root) {
                writer.recv(rank, down.parent[static_cast<std::size_t>(rank)], moved);
            }
            for (const Rank child : down.children_of(rank)) {
                writer.send(rank, child, moved);
            }
        }
    }
    return std::move(writer).finished();
}

/// All parts to rank 0, which hands them out down a binomial tree.
Plan reduce_scatter(const GenerateInput& input) {
    const Rank size = input.costs.size();
    Transport how = transport(input);
    how.blocks = 1;
    PlanWriter writer(Collective::reduce_scatter, size, 0, how, canonical.name);
    writer.need_scratch(static_cast<std::uint32_t>(size));
    reduce_to(writer, 0, static_cast<std::uint32_t>(size), Buffer::scratch, Buffer::scratch);
    for (const std::vector<Hop>& round : binomial_rounds(static_cast<std::size_t>(size))) {
        for (const Hop& hop : round) {
            const Blocks moved =
                places(Buffer::scratch, static_cast<Rank>(hop.first), static_cast<Rank>(hop.count));
            writer.transfer(
                {static_cast<Rank>(hop.from), static_cast<Rank>(hop.to), moved, moved, {}});
        }
    }
    for (Rank rank = 0; rank < size; ++rank) {
        writer.copy(rank, places(Buffer::scratch, rank), places(Buffer::output, 0));
    }
    return std::move(writer).finished();
}

bool applies(Collective op, const GenerateInput& input) {
    if (op == Collective::reduce_scatter) {
        return input.blocks == 1;
    }
    return op == Collective::reduce || op == Collective::allreduce;
}

Plan make(Collective op, const GenerateInput& input) {
    switch (op) {
    case Collective::reduce: return reduce(input);
    case Collective::allreduce: return allreduce(input);
    default: return reduce_scatter(input);
    }
}

} // namespace

constinit const Family canonical{"canonical", applies, make, true};

} // namespace corymb::generate
