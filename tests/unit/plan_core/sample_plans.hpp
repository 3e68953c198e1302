// SPDX-License-Identifier: Apache-2.0
// Right plans of many shapes, from small to random, for the tests of checker and simulator.
#pragma once

#include "base/random.hpp"
#include "plan/generate/tree_plan.hpp"

#include <corymb/plan.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace corymb::test {

namespace sample {

inline std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

inline CostView random_costs(Random& random, Rank size) {
    const std::size_t entries = at(size) * at(size);
    std::vector<float> send(entries);
    std::vector<float> receive(entries);
    for (std::size_t entry = 0; entry < entries; ++entry) {
        send[entry] = static_cast<float>(1 + random.below(100));
        receive[entry] = static_cast<float>(1 + random.below(300));
    }
    return {size, send, receive};
}

inline Tree random_tree(Random& random, Rank size, Rank root) {
    std::vector<Rank> inside{root};
    Tree tree = make_tree(size, root);
    for (Rank rank = 0; rank < size; ++rank) {
        if (rank != root) {
            attach(tree, inside[random.below(static_cast<std::uint32_t>(inside.size()))], rank);
            inside.push_back(rank);
        }
    }
    return tree;
}

/// A tree whose subtrees are runs of consecutive ranks, below the first rank of each run.
inline void attach_run(Random& random, Tree& tree, Rank parent, Rank first, Rank end) {
    while (first < end) {
        const Rank last =
            first + 1 + static_cast<Rank>(random.below(static_cast<std::uint32_t>(end - first)));
        attach(tree, parent, first);
        attach_run(random, tree, first, first + 1, last);
        first = last;
    }
}

inline Tree contiguous_tree(Random& random, Rank size, Rank root) {
    Tree tree = make_tree(size, root);
    attach_run(random, tree, root, 0, root);
    attach_run(random, tree, root, root + 1, size);
    return tree;
}

} // namespace sample

using sample::at;

inline Step make_step(StepKind kind, Rank peer, Mechanism via = Mechanism::none, Blocks from = {},
                      Blocks to = {}) {
    Step step;
    step.kind = kind;
    step.peer = peer;
    step.via = via;
    step.from = from;
    step.to = to;
    return step;
}

inline Plan empty_plan(Collective op, Rank size, std::uint32_t blocks = 1,
                       std::uint64_t bytes = 8) {
    Plan plan;
    plan.op = op;
    plan.block_count = op == Collective::barrier ? 0 : blocks;
    plan.bytes_max = op == Collective::barrier ? 0 : bytes;
    plan.steps.resize(at(size));
    plan.algorithm = "sample";
    return plan;
}

/// 0 -> 1 -> ... -> size - 1, via line.
inline Plan line_broadcast(Rank size) {
    Plan plan = empty_plan(Collective::broadcast, size);
    const Blocks all{Buffer::output, 0, 1};
    for (Rank rank = 0; rank < size; ++rank) {
        auto& steps = plan.steps[at(rank)];
        if (rank > 0) {
            steps.push_back(make_step(StepKind::recv, rank - 1, Mechanism::line, {}, all));
        }
        if (rank + 1 < size) {
            steps.push_back(make_step(StepKind::send, rank + 1, Mechanism::line, all));
        }
    }
    return plan;
}

/// The root sends to 1, 2, ... in this order, via line.
inline Plan star_broadcast(Rank size) {
    Plan plan = empty_plan(Collective::broadcast, size);
    const Blocks all{Buffer::output, 0, 1};
    for (Rank rank = 1; rank < size; ++rank) {
        plan.steps[0].push_back(make_step(StepKind::send, rank, Mechanism::line, all));
        plan.steps[at(rank)].push_back(make_step(StepKind::recv, 0, Mechanism::line, {}, all));
    }
    return plan;
}

/// Hensgen, Finkel, Manber (1988): in round k rank r signals r + 2^k.
inline Plan dissemination_barrier(Rank size) {
    Plan plan = empty_plan(Collective::barrier, size);
    plan.algorithm = "dissemination";
    for (Rank distance = 1; distance < size; distance *= 2) {
        for (Rank rank = 0; rank < size; ++rank) {
            auto& steps = plan.steps[at(rank)];
            steps.push_back(make_step(StepKind::signal, (rank + distance) % size));
            steps.push_back(make_step(StepKind::wait, (rank + size - distance) % size));
        }
    }
    return plan;
}

/// Everybody signals the root; the root releases all with one store.
inline Plan flat_barrier(Rank size) {
    Plan plan = empty_plan(Collective::barrier, size);
    for (Rank rank = 1; rank < size; ++rank) {
        plan.steps[0].push_back(make_step(StepKind::wait, rank));
        plan.steps[at(rank)].push_back(make_step(StepKind::signal, 0));
        plan.steps[at(rank)].push_back(make_step(StepKind::read, 0));
    }
    if (size > 1) {
        plan.steps[0].push_back(make_step(StepKind::publish, -1));
    }
    return plan;
}

/// The root publishes its blocks, one publication a block, by line or pull.
inline Plan published_broadcast(Rank size, Mechanism via, std::uint32_t blocks) {
    Plan plan =
        empty_plan(Collective::broadcast, size, blocks, via == Mechanism::line ? 8 : 100000);
    for (std::uint32_t block = 0; block < blocks && size > 1; ++block) {
        const Blocks one{Buffer::output, block, 1};
        plan.steps[0].push_back(make_step(StepKind::publish, -1, via, one));
        for (Rank rank = 1; rank < size; ++rank) {
            plan.steps[at(rank)].push_back(make_step(StepKind::read, 0, via, {}, one));
            plan.steps[at(rank)].back().ordinal = block;
        }
    }
    for (Rank rank = 1; rank < size && via == Mechanism::pull; ++rank) {
        plan.steps[at(rank)].push_back(make_step(StepKind::signal, 0));
        plan.steps[0].push_back(make_step(StepKind::wait, rank));
    }
    return plan;
}

/// Everybody publishes its input by line and combines all others'; keeps rank order.
inline Plan published_allreduce(Rank size) {
    Plan plan = empty_plan(Collective::allreduce, size);
    const Blocks input{Buffer::input, 0, 1};
    const Blocks output{Buffer::output, 0, 1};
    for (Rank rank = 0; rank < size; ++rank) {
        auto& steps = plan.steps[at(rank)];
        if (size == 1) {
            steps.push_back(make_step(StepKind::copy, -1, Mechanism::none, input, output));
            break;
        }
        steps.push_back(make_step(StepKind::publish, -1, Mechanism::line, input));
        // Ranks below this one combine downwards from it, so that the order is kept.
        Blocks own = input;
        for (Rank peer = rank - 1; peer >= 0; --peer) {
            steps.push_back(make_step(StepKind::read_fold, peer, Mechanism::line, own, output));
            steps.back().incoming_first = true;
            own = output;
        }
        for (Rank peer = rank + 1; peer < size; ++peer) {
            steps.push_back(make_step(StepKind::read_fold, peer, Mechanism::line, own, output));
            own = output;
        }
    }
    return plan;
}

/// Rank r exchanges with r xor 2^k; `size` is a power of two. Keeps rank order. With cells.
inline Plan doubling_allreduce(Rank size, std::uint32_t blocks, std::uint64_t bytes) {
    Plan plan = empty_plan(Collective::allreduce, size, blocks, bytes);
    for (Rank rank = 0; rank < size; ++rank) {
        Blocks own{Buffer::input, 0, blocks};
        const Blocks output{Buffer::output, 0, blocks};
        for (Rank distance = 1; distance < size; distance *= 2) {
            const Rank peer = rank ^ distance;
            auto& steps = plan.steps[at(rank)];
            const Step send = make_step(StepKind::send, peer, Mechanism::cells, own);
            Step fold = make_step(StepKind::fold, peer, Mechanism::cells, own, output);
            fold.incoming_first = peer < rank;
            steps.push_back(send);
            steps.push_back(fold);
            own = output;
        }
    }
    return plan;
}

/// A plan over random trees: random operation, size, mechanism, blocks; sets `ordered` if the plan
/// keeps rank order.
inline Plan random_tree_plan(Random& random, bool& ordered) {
    const auto size = static_cast<Rank>(2 + random.below(12));
    const auto root = static_cast<Rank>(random.below(static_cast<std::uint32_t>(size)));
    const auto op = static_cast<Collective>(random.below(4));
    const CostView costs = sample::random_costs(random, size);
    constexpr Mechanism mechanisms[] = {Mechanism::line, Mechanism::cells, Mechanism::pull};
    Transport transport;
    transport.via = mechanisms[random.below(3)];
    transport.blocks = transport.via == Mechanism::line ? 1 : 1 + random.below(6);
    transport.bytes = transport.via == Mechanism::line ? 8 : 100 + random.below(60000);
    ordered = random.below(2) == 0;
    TreePair trees;
    trees.up = ordered ? sample::contiguous_tree(random, size, root)
                       : sample::random_tree(random, size, root);
    trees.down = random.below(2) == 0 ? trees.up : sample::random_tree(random, size, root);
    return plan_of_trees(op, trees, costs, transport, ordered, "random-tree");
}

/// One of all of the above.
inline Plan random_plan(Random& random, bool& ordered) {
    ordered = true;
    const auto size = static_cast<Rank>(1 + random.below(10));
    switch (random.below(10)) {
    case 0: return dissemination_barrier(size);
    case 1: return flat_barrier(size);
    case 2: return published_broadcast(size, Mechanism::pull, 1 + random.below(6));
    case 3: return published_broadcast(size, Mechanism::line, 1 + random.below(8));
    case 4: return published_allreduce(size);
    case 5: return doubling_allreduce(2 << random.below(3), 1 + random.below(4), 30000);
    default: return random_tree_plan(random, ordered);
    }
}

} // namespace corymb::test
