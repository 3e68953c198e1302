// SPDX-License-Identifier: Apache-2.0
// Allreduce by recursive doubling (Thakur, Rabenseifner, Gropp, IJHPCA 2005): in round r, position
// p exchanges partial results with p xor 2^r (hypercube.hpp).
#include "plan/generate/family_list.hpp"
#include "plan/generate/hypercube.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// Writes the steps of the exchanges.
class Writer {
public:
    Writer(Plan& plan, Mechanism via) : plan_(plan), via_(via) {}

    void message(Rank from, Buffer source, Rank to, Buffer target, std::uint32_t number) {
        add(from, {.kind = StepKind::send, .via = via_, .peer = to, .from = {source, number, 1}});
        add(to, {.kind = StepKind::recv, .via = via_, .peer = from, .to = {target, number, 1}});
    }
    void send(Rank from, Buffer source, Rank to, std::uint32_t number) {
        add(from, {.kind = StepKind::send, .via = via_, .peer = to, .from = {source, number, 1}});
    }
    void fold(Rank rank, Buffer operand, Rank from, Buffer target, std::uint32_t number) {
        add(rank, {.kind = StepKind::fold,
                   .via = via_,
                   .peer = from,
                   .to = {target, number, 1},
                   .from = {operand, number, 1},
                   .incoming_first = from < rank});
    }
    void notify(Rank from, Rank to) {
        add(from, {.kind = StepKind::signal, .peer = to});
        add(to, {.kind = StepKind::wait, .peer = from});
    }
    void copy(Rank rank, Buffer from, Buffer to) {
        add(rank, {.kind = StepKind::copy,
                   .to = {to, 0, plan_.block_count},
                   .from = {from, 0, plan_.block_count}});
    }

private:
    void add(Rank rank, const Step& step) { plan_.steps[at(rank)].push_back(step); }

    Plan& plan_;
    Mechanism via_;
};

/// Buffer that holds a position's partial result before a round, and the one after it. A peer that
/// pulls still reads the first while the second is written; input and output may be one memory.
std::pair<Buffer, Buffer> buffers(Mechanism via, std::size_t round, bool folded_before) {
    const Buffer first = folded_before ? Buffer::output : Buffer::input;
    if (via != Mechanism::pull) {
        return {round == 0 ? first : Buffer::output, Buffer::output};
    }
    const bool even = round % 2 == 0;
    const Buffer before = round == 0 ? first : even ? Buffer::output : Buffer::scratch;
    return {before, even ? Buffer::scratch : Buffer::output};
}

void write_rounds(Plan& plan, const HypercubeShape& shape, const Numbering& numbering,
                  Mechanism via) {
    Writer writer(plan, via);
    const auto rank = [&](Rank position) {
        return numbering[at(position)];
    };
    for (std::size_t round = 0; round < shape.masks.size(); ++round) {
        const Rank mask = shape.masks[round];
        for (Rank p = 0; p < shape.core; ++p) {
            const auto [before, after] = buffers(via, round, p < shape.surplus());
            // Block by block, so that an edge never holds more than two unread messages.
            for (std::uint32_t number = 0; number < plan.block_count; ++number) {
                writer.send(rank(p), before, rank(p ^ mask), number);
                writer.fold(rank(p), before, rank(p ^ mask), after, number);
            }
        }
        for (Rank p = 0; via == Mechanism::pull && p < shape.core; ++p) {
            // The pair's signals are written before its waits on both sides: p first, then p ^
            // mask.
            if (p < (p ^ mask)) {
                writer.notify(rank(p), rank(p ^ mask));
                writer.notify(rank(p ^ mask), rank(p));
            }
        }
    }
    if (via == Mechanism::pull) {
        plan.scratch_blocks = plan.block_count;
        for (Rank p = 0; shape.masks.size() % 2 == 1 && p < shape.core; ++p) {
            writer.copy(rank(p), Buffer::scratch, Buffer::output);
        }
    }
}

Plan write_plan(const GenerateInput& input, const HypercubeShape& shape,
                const Numbering& numbering) {
    Transport how = transport(input);
    if (how.via == Mechanism::cells) {
        // Both ranks send before they receive, so a block must fit into the cells of an edge.
        const std::uint64_t needed = (how.bytes + cell_bytes - 1) / cell_bytes;
        how.blocks = std::max(how.blocks, static_cast<std::uint32_t>(needed));
    }
    Plan plan = start_plan(Collective::allreduce, shape.size, 0, how, recursive_doubling.name);
    Writer writer(plan, how.via);
    const auto rank = [&](Rank position) {
        return numbering[at(position)];
    };
    if (shape.size == 1) {
        writer.copy(0, Buffer::input, Buffer::output);
        return plan;
    }
    for (Rank p = 0; p < shape.surplus(); ++p) {
        for (std::uint32_t number = 0; number < plan.block_count; ++number) {
            writer.send(rank(shape.core + p), Buffer::input, rank(p), number);
            writer.fold(rank(p), Buffer::input, rank(shape.core + p), Buffer::output, number);
        }
    }
    write_rounds(plan, shape, numbering, how.via);
    for (Rank p = 0; p < shape.surplus(); ++p) {
        for (std::uint32_t number = 0; number < plan.block_count; ++number) {
            writer.message(rank(p), Buffer::output, rank(shape.core + p), Buffer::output, number);
        }
        if (how.via == Mechanism::pull) {
            writer.notify(rank(shape.core + p), rank(p));
        }
    }
    return plan;
}

bool applies(Collective op, const GenerateInput&) {
    return op == Collective::allreduce;
}

Plan make(Collective, const GenerateInput& input) {
    const Hypercube cube = best_hypercube(input);
    return write_plan(input, cube.shape, cube.numbering);
}

} // namespace

constinit const Family recursive_doubling{"recursive-doubling", applies, make};

} // namespace corymb::generate
