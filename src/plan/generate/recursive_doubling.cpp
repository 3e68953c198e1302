// SPDX-License-Identifier: Apache-2.0
// Allreduce by recursive doubling (Thakur, Rabenseifner, Gropp, IJHPCA 2005): in round r, position
// p exchanges partial results with p xor 2^r (hypercube.hpp).
#include "plan/generate/family_list.hpp"
#include "plan/generate/hypercube.hpp"
#include "plan/generate/plan_writer.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// Buffer that a position's partial result is in before a round, and after it. A peer that pulls
/// still reads the first while the second is written; input and output may be one memory.
std::pair<Buffer, Buffer> buffers(Mechanism via, std::size_t round, bool folded_before) {
    const Buffer first = folded_before ? Buffer::output : Buffer::input;
    if (via != Mechanism::pull) {
        return {round == 0 ? first : Buffer::output, Buffer::output};
    }
    const bool even = round % 2 == 0;
    const Buffer before = round == 0 ? first : even ? Buffer::output : Buffer::scratch;
    return {before, even ? Buffer::scratch : Buffer::output};
}

void write_rounds(PlanWriter& writer, const Hypercube& cube, Mechanism via) {
    const auto& [shape, numbering] = cube;
    const std::uint32_t blocks = writer.plan().block_count;
    for (std::size_t round = 0; round < shape.masks.size(); ++round) {
        for (Rank p = 0; p < shape.core; ++p) {
            const Rank rank = numbering[at(p)];
            const Rank peer = numbering[at(p ^ shape.masks[round])];
            const auto [before, after] = buffers(via, round, p < shape.surplus());
            // Block by block, so that an edge never holds more than two unread messages.
            for (std::uint32_t number = 0; number < blocks; ++number) {
                writer.send(rank, peer, {before, number, 1});
                writer.fold(rank, peer, {before, number, 1}, {after, number, 1});
            }
        }
    }
    if (via == Mechanism::pull) {
        writer.need_scratch(blocks);
        for (Rank p = 0; shape.masks.size() % 2 == 1 && p < shape.core; ++p) {
            writer.copy(numbering[at(p)], {Buffer::scratch, 0, blocks},
                        {Buffer::output, 0, blocks});
        }
    }
}

Plan write_plan(const GenerateInput& input, const Hypercube& cube) {
    Transport how = transport(input);
    if (how.via == Mechanism::cells) {
        // Both ranks send before they receive, so a block must fit into the cells of an edge.
        const std::uint64_t needed = (how.bytes + cell_bytes - 1) / cell_bytes;
        how.blocks = std::max(how.blocks, static_cast<std::uint32_t>(needed));
    }
    const auto& [shape, numbering] = cube;
    PlanWriter writer(Collective::allreduce, shape.size, 0, how, recursive_doubling.name);
    const std::uint32_t blocks = writer.plan().block_count;
    if (shape.size == 1) {
        writer.copy(0, {Buffer::input, 0, blocks}, {Buffer::output, 0, blocks});
        return std::move(writer).finished();
    }
    for (Rank p = 0; p < shape.surplus(); ++p) {
        for (std::uint32_t number = 0; number < blocks; ++number) {
            const Blocks input_block{Buffer::input, number, 1};
            writer.transfer({numbering[at(shape.core + p)],
                             numbering[at(p)],
                             input_block,
                             {Buffer::output, number, 1},
                             input_block});
        }
    }
    write_rounds(writer, cube, how.via);
    for (Rank p = 0; p < shape.surplus(); ++p) {
        for (std::uint32_t number = 0; number < blocks; ++number) {
            const Blocks result{Buffer::output, number, 1};
            writer.transfer({numbering[at(p)], numbering[at(shape.core + p)], result, result, {}});
        }
    }
    return std::move(writer).finished();
}

bool applies(Collective op, const GenerateInput& input) {
    // A rank begins a round after all blocks of the one before, so cutting what is pulled gains
    // nothing.
    return op == Collective::allreduce && (input.via != Mechanism::pull || input.blocks == 1);
}

Plan make(Collective, const GenerateInput& input) {
    return write_plan(input, best_hypercube(input));
}

} // namespace

constinit const Family recursive_doubling{"recursive-doubling", applies, make};

} // namespace corymb::generate
