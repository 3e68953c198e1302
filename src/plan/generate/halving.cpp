// SPDX-License-Identifier: Apache-2.0
// Recursive halving and doubling (Thakur, Rabenseifner, Gropp, IJHPCA 2005): pairs of ranks
// exchange halves of what they still share, so that log2 n messages move each byte about once.
// Ranks beyond the largest power of two give their data to a neighbour first, which serves them
// again at the end.
#include "plan/generate/family_list.hpp"
#include "plan/generate/plan_writer.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// Positions 0 to core - 1 exchange; the first `surplus` of them serve a second rank each, the next
/// one. So a position stands for one or two neighbouring ranks.
class Positions {
public:
    /// `near_first`: position p exchanges with p xor 1 first, else last.
    Positions(Rank size, bool near_first)
        : core_(static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(size)))),
          surplus_(size - core_) {
        for (Rank mask = 1; mask < core_; mask *= 2) {
            masks_.push_back(mask);
        }
        if (!near_first) {
            std::ranges::reverse(masks_);
        }
    }

    [[nodiscard]] Rank core() const { return core_; }
    [[nodiscard]] Rank surplus() const { return surplus_; }
    [[nodiscard]] Rank rounds() const { return static_cast<Rank>(masks_.size()); }
    [[nodiscard]] Rank partner(Rank position, Rank round) const {
        return position ^ masks_[at(round)];
    }
    /// The first rank of a position; the one that takes part.
    [[nodiscard]] Rank rank(Rank position) const {
        return position < surplus_ ? 2 * position : position + surplus_;
    }
    struct Span {
        Rank first, count;
    };
    /// The positions that a position is still in charge of after so many rounds of halving.
    [[nodiscard]] Span span(Rank position, Rank rounds_done) const {
        Span span{0, core_};
        for (Rank round = 0; round < rounds_done; ++round) {
            span.count /= 2;
            span.first += (position & masks_[at(round)]) != 0 ? span.count : 0;
        }
        return span;
    }

private:
    Rank core_, surplus_;
    std::vector<Rank> masks_;
};

/// Writes the exchanges for data that stands in places by position or by rank.
class Halving {
public:
    /// `by_rank`: a place for each rank; else one for each position.
    Halving(PlanWriter& writer, const Positions& positions, bool by_rank)
        : writer_(writer), positions_(positions), by_rank_(by_rank) {}

    [[nodiscard]] Blocks range(Buffer buffer, Positions::Span span) const {
        if (!by_rank_) {
            return places(buffer, span.first, span.count);
        }
        const Rank end = span.first + span.count;
        const Rank first_rank = positions_.rank(span.first);
        const Rank end_rank = end == positions_.core() ? writer_.size() : positions_.rank(end);
        return places(buffer, first_rank, end_rank - first_rank);
    }

    /// Ranks without a position give their whole input to the one before them.
    void fold_surplus(Buffer accumulator) {
        const Blocks all = range(Buffer::input, {0, positions_.core()});
        for (Rank p = 0; p < positions_.surplus(); ++p) {
            const Rank rank = positions_.rank(p);
            writer_.transfer(
                {rank + 1, rank, all, range(accumulator, {0, positions_.core()}), all});
        }
    }

    void halve(Buffer accumulator) {
        std::vector<Transfer> messages(at(positions_.core()));
        for (Rank round = 0; round < positions_.rounds(); ++round) {
            for (Rank p = 0; p < positions_.core(); ++p) {
                const Rank q = positions_.partner(p, round);
                // q keeps the positions that p gives away.
                const Positions::Span moved = positions_.span(q, round + 1);
                messages[at(p)] = {positions_.rank(p), positions_.rank(q),
                                   range(source(p, round, accumulator), moved),
                                   range(accumulator, moved),
                                   range(source(q, round, accumulator), moved)};
            }
            writer_.round(messages);
        }
    }

    /// The way back: pairs exchange all they have, in `output`. `first(p, blocks)` says where the
    /// blocks are that a position begins with; then `keep(p)` brings its own to `output`.
    template <class First, class Keep>
    void doubled(First first, Keep keep) {
        std::vector<Transfer> messages(at(positions_.core()));
        for (Rank round = positions_.rounds(); round-- > 0;) {
            for (Rank p = 0; p < positions_.core(); ++p) {
                const Blocks moved = range(Buffer::output, positions_.span(p, round + 1));
                messages[at(p)] = {positions_.rank(p),
                                   positions_.rank(positions_.partner(p, round)),
                                   round + 1 == positions_.rounds() ? first(p, moved) : moved,
                                   moved,
                                   {}};
            }
            writer_.round(messages);
            for (Rank p = 0; round + 1 == positions_.rounds() && p < positions_.core(); ++p) {
                keep(p);
            }
        }
        const Blocks all = range(Buffer::output, {0, positions_.core()});
        for (Rank p = 0; p < positions_.surplus(); ++p) {
            writer_.transfer({positions_.rank(p), positions_.rank(p) + 1, all, all, {}});
        }
    }

private:
    [[nodiscard]] Buffer source(Rank position, Rank round, Buffer accumulator) const {
        return round == 0 && position >= positions_.surplus() ? Buffer::input : accumulator;
    }

    PlanWriter& writer_;
    const Positions& positions_;
    bool by_rank_;
};

/// Near pairs first: they exchange most, and partial results stay runs of ranks.
Plan allreduce(const GenerateInput& input) {
    const Positions positions(input.costs.size(), true);
    Transport how = transport(input);
    how.blocks = static_cast<std::uint32_t>(positions.core());
    PlanWriter writer(Collective::allreduce, input.costs.size(), 0, how, halving_doubling.name);
    Halving halving(writer, positions, false);
    if (input.costs.size() == 1) {
        writer.copy(0, places(Buffer::input, 0), places(Buffer::output, 0));
    }
    halving.fold_surplus(Buffer::output);
    halving.halve(Buffer::output);
    halving.doubled([](Rank, const Blocks& blocks) { return blocks; }, [](Rank) {});
    return std::move(writer).finished();
}

Plan reduce_scatter(const GenerateInput& input) {
    const Rank size = input.costs.size();
    const Positions positions(size, false);
    PlanWriter writer(Collective::reduce_scatter, size, 0, transport(input), halving_doubling.name);
    if (size > 1) {
        writer.need_scratch(static_cast<std::uint32_t>(size));
    }
    Halving halving(writer, positions, true);
    halving.fold_surplus(Buffer::scratch);
    halving.halve(Buffer::scratch);
    for (Rank p = 0; p < positions.core(); ++p) {
        const Rank rank = positions.rank(p);
        const Buffer result = size == 1 ? Buffer::input : Buffer::scratch;
        if (p < positions.surplus()) {
            writer.transfer(
                {rank, rank + 1, places(Buffer::scratch, rank + 1), places(Buffer::output, 0), {}});
        }
        writer.copy(rank, places(result, rank), places(Buffer::output, 0));
    }
    return std::move(writer).finished();
}

Plan allgather(const GenerateInput& input) {
    const Rank size = input.costs.size();
    const Positions positions(size, false);
    PlanWriter writer(Collective::allgather, size, 0, transport(input), halving_doubling.name);
    const auto copy_own = [&](Rank p) {
        const Rank rank = positions.rank(p);
        writer.copy(rank, places(Buffer::input, 0), places(Buffer::output, rank));
    };
    for (Rank p = 0; p < positions.surplus(); ++p) {
        const Rank rank = positions.rank(p);
        copy_own(p);
        writer.transfer(
            {rank + 1, rank, places(Buffer::input, 0), places(Buffer::output, rank + 1), {}});
    }
    if (size == 1) {
        copy_own(0);
    }
    // A block that goes alone goes out of the input: nobody waits for its copy.
    Halving(writer, positions, true)
        .doubled(
            [&](Rank p, const Blocks& blocks) {
                return p < positions.surplus() ? blocks : places(Buffer::input, 0);
            },
            [&](Rank p) {
                if (p >= positions.surplus()) {
                    copy_own(p);
                }
            });
    return std::move(writer).finished();
}

bool applies(Collective op, const GenerateInput& input) {
    if (input.blocks != 1) {
        return false; // The family cuts the payload itself.
    }
    if (op == Collective::allreduce) {
        return input.via != Mechanism::line;
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

constinit const Family halving_doubling{"halving-doubling", applies, make};

} // namespace corymb::generate
