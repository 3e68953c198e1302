// SPDX-License-Identifier: Apache-2.0
// Rings (Patarasuk, Yuan, JPDC 2009): every rank talks to two neighbours only, and all links are
// busy all the time. Ranks stand in an order that crosses between the machine's groups as seldom as
// possible.
#include "plan/generate/family_list.hpp"
#include "plan/generate/numbering.hpp"
#include "plan/generate/plan_writer.hpp"
#include "plan/generate/rounds.hpp"
#include "plan/tuning.hpp"

#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

/// Ranks by their position around the ring.
Numbering ring_of(const GenerateInput& input) {
    return best_numbering(input, 0, [&](const Numbering& numbering) {
        double sum = 0;
        for (std::size_t p = 0; p < numbering.size() && numbering.size() > 1; ++p) {
            const Rank from = numbering[p];
            const Rank to = numbering[(p + 1) % numbering.size()];
            sum += input.costs.send(from, to) + input.costs.receive(from, to);
        }
        return sum;
    });
}

/// Writes the messages of these rounds; fill(step, hop, message) says what they carry.
template <class Fill>
void write_rounds(PlanWriter& writer, const Numbering& ring, const Rounds& rounds, Fill fill) {
    for (std::size_t step = 0; step < rounds.size(); ++step) {
        std::vector<Transfer> messages;
        for (const Hop& hop : rounds[step]) {
            messages.push_back({ring[hop.from], ring[hop.to], {}, {}, {}});
            fill(step, hop, messages.back());
        }
        writer.round(messages);
    }
}

Plan allgather(const GenerateInput& input) {
    const Numbering ring = ring_of(input);
    PlanWriter writer(Collective::allgather, input.costs.size(), 0, transport(input),
                      generate::ring.name);
    // The own block goes out of the input: nobody waits for its copy, or for lines just written.
    write_rounds(writer, ring, ring_rounds(ring.size()),
                 [&](std::size_t step, const Hop& hop, Transfer& message) {
                     message.target = places(Buffer::output, ring[hop.first]);
                     message.source = step == 0 ? places(Buffer::input, 0) : message.target;
                 });
    for (Rank rank = 0; rank < writer.size(); ++rank) {
        writer.copy(rank, places(Buffer::input, 0), places(Buffer::output, rank));
    }
    return std::move(writer).finished();
}

/// Partial results of the block of position q travel from q + 1 around to q.
Plan reduce_scatter(const GenerateInput& input) {
    const Numbering ring = ring_of(input);
    PlanWriter writer(Collective::reduce_scatter, input.costs.size(), 0, transport(input),
                      generate::ring.name);
    writer.need_scratch(ring.size() > 2 ? 2 : 0);
    const auto partial = [](std::size_t step) { // Two places take turns: some ranks receive first.
        return places(Buffer::scratch, static_cast<Rank>(step % 2));
    };
    write_rounds(writer, ring, ring_rounds(ring.size(), -1),
                 [&](std::size_t step, const Hop& hop, Transfer& message) {
                     const bool is_last = step + 2 == ring.size();
                     message.own = places(Buffer::input, ring[hop.first]);
                     message.source = step == 0 ? message.own : partial(step + 1);
                     message.target = is_last ? places(Buffer::output, 0) : partial(step);
                 });
    if (writer.size() == 1) {
        writer.copy(0, places(Buffer::input, 0), places(Buffer::output, 0));
    }
    return std::move(writer).finished();
}

/// Reduce-scatter, then allgather, of as many blocks as there are ranks.
Plan allreduce(const GenerateInput& input) {
    const Numbering ring = ring_of(input);
    Transport how = transport(input);
    how.blocks = static_cast<std::uint32_t>(ring.size());
    PlanWriter writer(Collective::allreduce, input.costs.size(), 0, how, generate::ring.name);
    const auto block = [](Buffer buffer, const Hop& hop) {
        return places(buffer, static_cast<Rank>(hop.first));
    };
    // The block that a position takes is the one that it sends next.
    write_rounds(writer, ring, ring_rounds(ring.size(), -1),
                 [&](std::size_t step, const Hop& hop, Transfer& message) {
                     message.own = block(Buffer::input, hop);
                     message.target = block(Buffer::output, hop);
                     message.source = step == 0 ? message.own : message.target;
                 });
    if (writer.size() == 1) {
        writer.copy(0, places(Buffer::input, 0), places(Buffer::output, 0));
    }
    write_rounds(writer, ring, ring_rounds(ring.size()),
                 [&](std::size_t, const Hop& hop, Transfer& message) {
                     message.source = message.target = block(Buffer::output, hop);
                 });
    return std::move(writer).finished();
}

bool applies(Collective op, const GenerateInput& input) {
    const Rank size = input.costs.size();
    const bool has_square = op != Collective::allgather || input.via == Mechanism::pull;
    if (input.blocks != 1 || // The family cuts the payload itself.
        tuning::square_ranks_most.decides(has_square && size > tuning::square_ranks_most)) {
        return false;
    }
    if (op == Collective::allreduce) {
        return !input.ordered && input.via != Mechanism::line;
    }
    return op == Collective::allgather || (op == Collective::reduce_scatter && !input.ordered);
}

Plan make(Collective op, const GenerateInput& input) {
    switch (op) {
    case Collective::allgather: return allgather(input);
    case Collective::reduce_scatter: return reduce_scatter(input);
    default: return allreduce(input);
    }
}

} // namespace

constinit const Family ring{"ring", applies, make};

} // namespace corymb::generate
