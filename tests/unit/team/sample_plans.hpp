// SPDX-License-Identifier: Apache-2.0
// Small hand-written plans, so that the engine is tested without the planner.
#pragma once

#include <corymb/plan.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace corymb::team_test {

inline Plan empty_plan(Collective op, int size, Rank root, std::uint64_t bytes,
                       std::uint32_t blocks, const std::string& name) {
    Plan plan;
    plan.op = op;
    plan.root = root;
    plan.block_count = blocks;
    plan.bytes_max = bytes;
    plan.algorithm = name;
    plan.steps.resize(static_cast<std::size_t>(size));
    return plan;
}

inline Step step(StepKind kind, Mechanism via, Rank peer, Blocks from = {}, Blocks to = {}) {
    Step made;
    made.kind = kind;
    made.via = via;
    made.peer = peer;
    made.from = from;
    made.to = to;
    return made;
}

constexpr Blocks input(std::uint32_t first, std::uint32_t count = 1) {
    return {Buffer::input, first, count};
}
constexpr Blocks output(std::uint32_t first, std::uint32_t count = 1) {
    return {Buffer::output, first, count};
}

inline Plan dissemination(int size) {
    Plan plan = empty_plan(Collective::barrier, size, 0, 0, 0, "dissemination");
    for (int distance = 1; distance < size; distance *= 2) {
        for (int rank = 0; rank < size; ++rank) {
            auto& steps = plan.steps[static_cast<std::size_t>(rank)];
            steps.push_back(step(StepKind::signal, Mechanism::none, (rank + distance) % size));
            steps.push_back(step(StepKind::wait, Mechanism::none, (rank + size - distance) % size));
        }
    }
    return plan;
}

/// Two ranks meet on one line that both write.
inline Plan meeting() {
    Plan plan = empty_plan(Collective::barrier, 2, 0, 0, 0, "meeting");
    for (const Rank rank : {0, 1}) {
        plan.steps[static_cast<std::size_t>(rank)] = {
            step(StepKind::signal, Mechanism::exchange, 1 - rank),
            step(StepKind::wait, Mechanism::exchange, 1 - rank)};
    }
    return plan;
}

/// Everybody signals rank 0, which answers with one publication.
inline Plan central(int size) {
    Plan plan = empty_plan(Collective::barrier, size, 0, 0, 0, "central");
    for (int rank = 1; rank < size; ++rank) {
        auto& steps = plan.steps[static_cast<std::size_t>(rank)];
        steps.push_back(step(StepKind::signal, Mechanism::none, 0));
        steps.push_back(step(StepKind::read, Mechanism::none, 0));
        plan.steps[0].push_back(step(StepKind::wait, Mechanism::none, rank));
    }
    if (size > 1) {
        plan.steps[0].push_back(step(StepKind::publish, Mechanism::none, -1));
    }
    return plan;
}

/// The root sends to everybody; with `pull` it waits until they have copied.
inline Plan star_broadcast(int size, Rank root, std::uint64_t bytes, Mechanism via,
                           std::uint32_t blocks = 1) {
    Plan plan = empty_plan(Collective::broadcast, size, root, bytes, blocks, "star");
    auto& at_root = plan.steps[static_cast<std::size_t>(root)];
    for (std::uint32_t block = 0; block < blocks; ++block) {
        const Blocks one{Buffer::output, block, 1};
        for (int rank = 0; rank < size; ++rank) {
            if (rank != root) {
                at_root.push_back(step(StepKind::send, via, rank, one));
                plan.steps[static_cast<std::size_t>(rank)].push_back(
                    step(StepKind::recv, via, root, {}, one));
            }
        }
        for (int rank = 0; via == Mechanism::pull && rank < size; ++rank) {
            if (rank != root) {
                plan.steps[static_cast<std::size_t>(rank)].push_back(
                    step(StepKind::signal, Mechanism::none, root));
                at_root.push_back(step(StepKind::wait, Mechanism::none, rank));
            }
        }
    }
    return plan;
}

/// One publication that everybody reads; with `pull` followed by acknowledgements.
inline Plan shared_broadcast(int size, Rank root, std::uint64_t bytes, Mechanism via) {
    Plan plan = empty_plan(Collective::broadcast, size, root, bytes, 1, "shared");
    const Blocks all{Buffer::output, 0, 1};
    auto& at_root = plan.steps[static_cast<std::size_t>(root)];
    if (size > 1) {
        at_root.push_back(step(StepKind::publish, via, -1, all));
    }
    for (int rank = 0; rank < size; ++rank) {
        if (rank == root) {
            continue;
        }
        auto& steps = plan.steps[static_cast<std::size_t>(rank)];
        steps.push_back(step(StepKind::read, via, root, {}, all));
        if (via == Mechanism::pull) {
            steps.push_back(step(StepKind::signal, Mechanism::none, root));
            at_root.push_back(step(StepKind::wait, Mechanism::none, rank));
        }
    }
    return plan;
}

/// Rank r folds what rank r + 1 sends it: combines in rank order at rank 0.
inline Plan chain_reduce(int size, std::uint64_t bytes, Mechanism via, std::uint32_t blocks = 1) {
    Plan plan = empty_plan(Collective::reduce, size, 0, bytes, blocks, "chain");
    plan.scratch_blocks = blocks;
    for (std::uint32_t block = 0; block < blocks; ++block) {
        const Blocks input{Buffer::input, block, 1};
        const Blocks scratch{Buffer::scratch, block, 1};
        const Blocks output{Buffer::output, block, 1};
        for (int rank = size - 1; rank >= 0; --rank) {
            auto& steps = plan.steps[static_cast<std::size_t>(rank)];
            const bool last = rank == size - 1;
            if (!last) {
                steps.push_back(
                    step(StepKind::fold, via, rank + 1, input, rank == 0 ? output : scratch));
                if (via == Mechanism::pull) {
                    steps.push_back(step(StepKind::signal, Mechanism::none, rank + 1));
                }
            } else if (rank == 0) {
                steps.push_back(step(StepKind::copy, Mechanism::none, -1, input, output));
            }
            if (rank > 0) {
                steps.push_back(step(StepKind::send, via, rank - 1, last ? input : scratch));
                if (via == Mechanism::pull) {
                    steps.push_back(step(StepKind::wait, Mechanism::none, rank - 1));
                }
            }
        }
    }
    return plan;
}

/// Everybody sends to rank 0 over lines, which combines in rank order.
inline Plan star_reduce(int size, std::uint64_t bytes) {
    Plan plan = empty_plan(Collective::reduce, size, 0, bytes, 1, "star");
    Blocks own = input(0);
    for (int rank = 1; rank < size; ++rank) {
        plan.steps[static_cast<std::size_t>(rank)].push_back(
            step(StepKind::send, Mechanism::line, 0, input(0)));
        plan.steps[0].push_back(step(StepKind::fold, Mechanism::line, rank, own, output(0)));
        own = output(0);
    }
    return plan;
}

/// Two ranks combine one half each; rank 1 writes its half into the root's output, if not `folds`
/// by way of its scratch.
inline Plan halves_reduce(std::uint64_t bytes, bool folds) {
    Plan plan = empty_plan(Collective::reduce, 2, 0, bytes, 2, "halves");
    const Blocks low{Buffer::input, 0, 1};
    const Blocks high{Buffer::input, 1, 1};
    const Blocks result{Buffer::output, 1, 1};
    const Blocks scratch{Buffer::scratch, 1, 1};
    if (folds) {
        plan.steps[0] = {step(StepKind::offer, Mechanism::push, 1, high, result)};
        plan.steps[1] = {step(StepKind::put_fold, Mechanism::push, 0, high)};
    } else {
        plan.scratch_blocks = 2;
        plan.steps[0] = {step(StepKind::send, Mechanism::pull, 1, high),
                         step(StepKind::offer, Mechanism::push, 1, {}, result)};
        plan.steps[1] = {step(StepKind::fold, Mechanism::pull, 0, high, scratch),
                         step(StepKind::put, Mechanism::push, 0, scratch)};
    }
    for (Step& made : plan.steps[1]) {
        made.incoming_first = made.kind != StepKind::put;
    }
    auto& second = plan.steps[1];
    second.insert(second.begin(), step(StepKind::send, Mechanism::pull, 0, low));
    plan.steps[0].push_back(step(StepKind::fold, Mechanism::pull, 1, low, {Buffer::output, 0, 1}));
    for (const Rank rank : {0, 1}) {
        auto& steps = plan.steps[static_cast<std::size_t>(rank)];
        steps.push_back(step(StepKind::signal, Mechanism::none, 1 - rank));
        steps.push_back(step(StepKind::wait, Mechanism::none, 1 - rank));
    }
    return plan;
}

/// Two ranks take turns: each combines one half, block by block, and then sends what it has.
inline Plan allreduce_in_turns() {
    Plan plan = empty_plan(Collective::allreduce, 2, 0, 4 * cell_bytes, 4, "turns");
    for (const Rank rank : {0, 1}) {
        auto& steps = plan.steps[static_cast<std::size_t>(rank)];
        const auto own = static_cast<std::uint32_t>(2 * rank);
        const std::uint32_t other = 2 - own;
        for (const std::uint32_t turn : {0U, 1U}) {
            steps.push_back(
                step(StepKind::send, Mechanism::cells, 1 - rank, {Buffer::input, other + turn, 1}));
            steps.push_back(step(StepKind::fold, Mechanism::cells, 1 - rank,
                                 {Buffer::input, own + turn, 1}, {Buffer::output, own + turn, 1}));
            steps.back().incoming_first = rank == 1;
        }
        for (const std::uint32_t turn : {0U, 1U}) {
            steps.push_back(
                step(StepKind::send, Mechanism::cells, 1 - rank, {Buffer::output, own + turn, 1}));
            steps.push_back(step(StepKind::recv, Mechanism::cells, 1 - rank, {},
                                 {Buffer::output, other + turn, 1}));
        }
    }
    return plan;
}

} // namespace corymb::team_test
