// SPDX-License-Identifier: Apache-2.0
// Everybody sends everybody its part, without detours. Pairwise: in round k, rank r exchanges with
// r xor k, or sends to r + k and receives from r - k; in rank order, first with the ranks below,
// then with those above. Linear: all sends first, for short parts.
#include "plan/generate/family_list.hpp"
#include "plan/generate/plan_writer.hpp"

#include <bit>
#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

Rank target_of(Rank rank, Rank round, Rank size) {
    return std::has_single_bit(static_cast<std::uint32_t>(size)) ? rank ^ round
                                                                 : (rank + round) % size;
}

void write_alltoall(PlanWriter& writer) {
    const Rank size = writer.size();
    std::vector<Transfer> messages(at(size));
    for (Rank rank = 0; rank < size; ++rank) {
        writer.copy(rank, places(Buffer::input, rank), places(Buffer::output, rank));
    }
    for (Rank round = 1; round < size; ++round) {
        for (Rank rank = 0; rank < size; ++rank) {
            const Rank to = target_of(rank, round, size);
            messages[at(rank)] = {
                rank, to, places(Buffer::input, to), places(Buffer::output, rank), {}};
        }
        writer.round(messages);
    }
}

void write_reduce_scatter(PlanWriter& writer) {
    const Rank size = writer.size();
    std::vector<Transfer> messages(at(size));
    const Blocks result = places(Buffer::output, 0);
    for (Rank round = 1; round < size; ++round) {
        for (Rank rank = 0; rank < size; ++rank) {
            const Rank to = target_of(rank, round, size);
            messages[at(rank)] = {rank, to, places(Buffer::input, to), result,
                                  round == 1 ? places(Buffer::input, to) : result};
        }
        writer.round(messages);
    }
    if (size == 1) {
        writer.copy(0, places(Buffer::input, 0), result);
    }
}

/// In rank order: rank r combines its part with that of r - 1, r - 2 and so on down to 0, then with
/// that of r + 1 and up. So a partial result is always one of ranks that follow each other.
void write_ordered_reduce_scatter(PlanWriter& writer) {
    const Rank size = writer.size();
    const Blocks result = places(Buffer::output, 0);
    std::vector<bool> has_result(at(size), false);
    for (const Rank direction : {-1, 1}) {
        for (Rank distance = 1; distance < size; ++distance) {
            std::vector<Transfer> messages;
            for (Rank to = 0; to < size; ++to) {
                const Rank from = to + direction * distance;
                if (from >= 0 && from < size) {
                    const Blocks part = places(Buffer::input, to);
                    messages.push_back(
                        {from, to, part, result, has_result[at(to)] ? result : part});
                    has_result[at(to)] = true;
                }
            }
            writer.round(messages);
        }
    }
    if (size == 1) {
        writer.copy(0, places(Buffer::input, 0), result);
    }
}

bool applies(Collective op, const GenerateInput& input) {
    // Parts that are pulled need no pairing: the family "direct" does it.
    return input.blocks == 1 && input.via != Mechanism::pull &&
           (op == Collective::alltoall || op == Collective::reduce_scatter);
}

Plan make(Collective op, const GenerateInput& input) {
    PlanWriter writer(op, input.costs.size(), 0, transport(input), pairwise.name);
    if (op == Collective::alltoall) {
        write_alltoall(writer);
    } else if (input.ordered) {
        write_ordered_reduce_scatter(writer);
    } else {
        write_reduce_scatter(writer);
    }
    return std::move(writer).finished();
}

bool linear_applies(Collective op, const GenerateInput& input) {
    return op == Collective::alltoall && applies(op, input) && input.bytes <= cell_bytes;
}

Plan make_linear(Collective op, const GenerateInput& input) {
    const Rank size = input.costs.size();
    PlanWriter writer(op, size, 0, transport(input), linear.name);
    for (Rank rank = 0; rank < size; ++rank) {
        for (Rank distance = 1; distance < size; ++distance) {
            const Rank to = (rank + distance) % size;
            writer.send(rank, to, places(Buffer::input, to));
        }
        writer.copy(rank, places(Buffer::input, rank), places(Buffer::output, rank));
        for (Rank distance = 1; distance < size; ++distance) {
            const Rank from = (rank + size - distance) % size;
            writer.recv(rank, from, places(Buffer::output, from));
        }
    }
    return std::move(writer).finished();
}

} // namespace

constinit const Family pairwise{
    .name = "pairwise", .applies = applies, .make = make, .nearest_first = true};
constinit const Family linear{"linear", linear_applies, make_linear};

} // namespace corymb::generate
