// SPDX-License-Identifier: Apache-2.0
// Rings (Patarasuk, Yuan, JPDC 2009): every rank talks to two neighbours only, and all links are
// busy all the time. Ranks stand in an order that crosses between the machine's groups as seldom as
// possible.
#include "plan/generate/family_list.hpp"
#include "plan/generate/numbering.hpp"
#include "plan/generate/plan_writer.hpp"

#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// Positions around the ring.
class Ring {
public:
    explicit Ring(const GenerateInput& input)
        : rank_(best_numbering(input, 0, [&](const Numbering& numbering) {
              double sum = 0;
              for (std::size_t p = 0; p < numbering.size() && numbering.size() > 1; ++p) {
                  const Rank from = numbering[p];
                  const Rank to = numbering[(p + 1) % numbering.size()];
                  sum += input.costs.send(from, to) + input.costs.receive(from, to);
              }
              return sum;
          })) {}

    [[nodiscard]] Rank size() const { return static_cast<Rank>(rank_.size()); }
    /// Any integer counts positions, also backwards.
    [[nodiscard]] Rank rank(Rank position) const { return rank_[at(index(position))]; }
    [[nodiscard]] Rank index(Rank position) const {
        return ((position % size()) + size()) % size();
    }

private:
    Numbering rank_;
};

/// Everybody has the block of its position and gets all others in `output`. `block` says where the
/// block of a position stands; `own` is where the own one is to be had.
template <class BlockOf, class OwnOf>
void pass_around(PlanWriter& writer, const Ring& ring, BlockOf block, OwnOf own) {
    std::vector<Transfer> messages(at(ring.size()));
    for (Rank step = 0; step + 1 < ring.size(); ++step) {
        for (Rank p = 0; p < ring.size(); ++p) {
            const Blocks moved = places(Buffer::output, block(p - step));
            messages[at(p)] = {
                ring.rank(p), ring.rank(p + 1), step == 0 ? own(p) : moved, moved, {}};
        }
        writer.round(messages);
    }
}

Plan allgather(const GenerateInput& input) {
    const Ring ring(input);
    PlanWriter writer(Collective::allgather, ring.size(), 0, transport(input), generate::ring.name);
    // The own block goes out of the input: nobody waits for its copy, or for lines just written.
    pass_around(
        writer, ring, [&](Rank position) { return ring.rank(position); },
        [](Rank) { return places(Buffer::input, 0); });
    for (Rank rank = 0; rank < ring.size(); ++rank) {
        writer.copy(rank, places(Buffer::input, 0), places(Buffer::output, rank));
    }
    return std::move(writer).finished();
}

/// Partial results of the block of position q travel from q + 1 around to q.
Plan reduce_scatter(const GenerateInput& input) {
    const Ring ring(input);
    PlanWriter writer(Collective::reduce_scatter, ring.size(), 0, transport(input),
                      generate::ring.name);
    writer.need_scratch(ring.size() > 2 ? 2 : 0);
    std::vector<Transfer> messages(at(ring.size()));
    for (Rank step = 0; step + 1 < ring.size(); ++step) {
        const bool last = step + 2 == ring.size();
        // Two places take turns, since some ranks receive before they send.
        const Blocks target = last ? places(Buffer::output, 0) : places(Buffer::scratch, step % 2);
        const Blocks partial = places(Buffer::scratch, (step + 1) % 2);
        for (Rank p = 0; p < ring.size(); ++p) {
            const Blocks first = places(Buffer::input, ring.rank(p - 1));
            messages[at(p)] = {ring.rank(p), ring.rank(p + 1), step == 0 ? first : partial, target,
                               places(Buffer::input, ring.rank(p - 1 - step))};
        }
        writer.round(messages);
    }
    if (ring.size() == 1) {
        writer.copy(0, places(Buffer::input, 0), places(Buffer::output, 0));
    }
    return std::move(writer).finished();
}

/// Reduce-scatter, then allgather, of as many blocks as there are ranks.
Plan allreduce(const GenerateInput& input) {
    const Ring ring(input);
    Transport how = transport(input);
    how.blocks = static_cast<std::uint32_t>(ring.size());
    PlanWriter writer(Collective::allreduce, ring.size(), 0, how, generate::ring.name);
    std::vector<Transfer> messages(at(ring.size()));
    for (Rank step = 0; step + 1 < ring.size(); ++step) {
        for (Rank p = 0; p < ring.size(); ++p) {
            const Buffer source = step == 0 ? Buffer::input : Buffer::output;
            const Rank block = ring.index(p - 1 - step);
            messages[at(p)] = {ring.rank(p), ring.rank(p + 1), places(source, block),
                               places(Buffer::output, block), places(Buffer::input, block)};
        }
        // The block that p + 1 takes is the one that it sends next.
        writer.round(messages);
    }
    if (ring.size() == 1) {
        writer.copy(0, places(Buffer::input, 0), places(Buffer::output, 0));
    }
    const auto block = [&](Rank position) {
        return ring.index(position);
    };
    pass_around(writer, ring, block,
                [&](Rank position) { return places(Buffer::output, block(position)); });
    return std::move(writer).finished();
}

// A ring has n^2 messages. Beyond these sizes it takes longer to plan and to prove than it is
// worth, with pull above all, where every loan is followed to its end.
constexpr Rank ranks_max = 192;
constexpr Rank pulling_ranks_max = 64;

bool applies(Collective op, const GenerateInput& input) {
    const Rank size = input.costs.size();
    if (input.blocks != 1 || // The family cuts the payload itself.
        (input.via == Mechanism::pull && size > pulling_ranks_max) ||
        (op != Collective::allgather && size > ranks_max)) {
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
