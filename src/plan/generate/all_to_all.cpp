// SPDX-License-Identifier: Apache-2.0
// A family without rounds: each rank publishes its data and reads the publications of all others.
// Every rank reads n - 1 lines, but no rank waits for another to have been told. That decides where
// ranks take turns on CPUs: a rank that gets its turn when all have arrived is through. Reductions
// combine one rank after the other on every rank, so that all have the same bits; so a rank reads
// its own operand, too, when its turn comes.
#include "plan/generate/family_list.hpp"
#include "plan/generate/plan_writer.hpp"
#include "plan/tuning.hpp"

#include <utility>

namespace corymb::generate {

namespace {

bool applies(Collective op, const GenerateInput& input) {
    if (tuning::square_ranks_most.decides(input.costs.size() > tuning::square_ranks_most)) {
        return false;
    }
    switch (op) {
    case Collective::barrier: return true;
    case Collective::allreduce:
    case Collective::allgather:
    case Collective::scan:
    case Collective::exscan: return input.via == Mechanism::line && input.blocks == 1;
    default: return false;
    }
}

/// Each begins with its successor, so that no line is read by all at once.
void write_exchange(PlanWriter& writer, bool has_data) {
    const Rank size = writer.size();
    for (Rank rank = 0; rank < size; ++rank) {
        const Blocks own = has_data ? places(Buffer::input, 0) : Blocks{};
        writer.publish(rank, own);
        if (has_data) {
            writer.copy(rank, own, places(Buffer::output, rank));
        }
        for (Rank distance = 1; distance < size; ++distance) {
            const Rank peer = (rank + distance) % size;
            writer.read(rank, peer, has_data ? places(Buffer::output, peer) : Blocks{});
        }
    }
}

/// Writes a reduction of all ranks, of the ranks up to each (scan), or of the ranks before it
/// (exscan).
void write_reduction(PlanWriter& writer, Collective op) {
    const Blocks own = places(Buffer::input, 0);
    const Blocks result = places(Buffer::output, 0);
    const Rank size = writer.size();
    for (Rank rank = 0; rank < size; ++rank) {
        if (op != Collective::exscan || rank + 1 < size) {
            writer.publish(rank, own);
        }
        const Rank end = op == Collective::allreduce ? size
                         : op == Collective::scan    ? rank + 1
                                                     : rank;
        for (Rank peer = 0; peer < end; ++peer) {
            if (peer == 0) {
                writer.read(rank, peer, result);
            } else {
                writer.read_fold(rank, peer, result, result);
            }
        }
    }
}

Plan make(Collective op, const GenerateInput& input) {
    PlanWriter writer(op, input.costs.size(), 0, transport(input), all_to_all.name);
    if (writer.size() == 1) {
        if (op != Collective::barrier && op != Collective::exscan) {
            writer.copy(0, places(Buffer::input, 0), places(Buffer::output, 0));
        }
    } else if (is_reduction(op)) {
        write_reduction(writer, op);
    } else {
        write_exchange(writer, op != Collective::barrier);
    }
    return std::move(writer).finished();
}

} // namespace

constinit const Family all_to_all{
    .name = "all-to-all", .applies = applies, .make = make, .publishes = true};

} // namespace corymb::generate
