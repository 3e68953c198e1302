// SPDX-License-Identifier: Apache-2.0
// Bruck, Ho, Kipnis, Upfal, Weathersby (IEEE TPDS 1997): log2 n rounds for any number of ranks, at
// the price of copies within the ranks. For short parts.
#include "plan/generate/family_list.hpp"
#include "plan/generate/plan_writer.hpp"
#include "plan/generate/rounds.hpp"
#include "plan/tuning.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// Place i of scratch is for the part of rank r + i; turned round at the end.
Plan allgather(const GenerateInput& input) {
    const Rank size = input.costs.size();
    PlanWriter writer(Collective::allgather, size, 0, transport(input), bruck.name);
    writer.need_scratch(static_cast<std::uint32_t>(size));
    for (Rank rank = 0; rank < size; ++rank) {
        writer.copy(rank, places(Buffer::input, 0), places(Buffer::scratch, 0));
    }
    for (const std::vector<Hop>& round : bruck_rounds(at(size))) {
        std::vector<Transfer> messages;
        for (const Hop& hop : round) {
            const auto count = static_cast<Rank>(hop.count);
            const auto distance = static_cast<Rank>((hop.first + at(size) - hop.to) % at(size));
            messages.push_back({static_cast<Rank>(hop.from),
                                static_cast<Rank>(hop.to),
                                places(Buffer::scratch, 0, count),
                                places(Buffer::scratch, distance, count),
                                {}});
        }
        writer.round(messages);
    }
    for (Rank rank = 0; rank < size; ++rank) {
        writer.copy(rank, places(Buffer::scratch, 0, size - rank),
                    places(Buffer::output, rank, size - rank));
        if (rank > 0) {
            writer.copy(rank, places(Buffer::scratch, size - rank, rank),
                        places(Buffer::output, 0, rank));
        }
    }
    return std::move(writer).finished();
}

/// Runs of the numbers 0 to size - 1 that have the bit `distance`, packed one behind the other.
template <class Visit>
Rank for_each_run(Rank size, Rank distance, Visit visit) {
    Rank packed = 0;
    for (Rank first = distance; first < size; first += 2 * distance) {
        const Rank count = std::min(distance, size - first);
        visit(first, packed, count);
        packed += count;
    }
    return packed;
}

/// Place i of scratch holds the part that has to go i ranks on. In the round with distance d, the
/// places whose number has bit d are sent. Behind them lie the parts to be sent, then the parts
/// received.
Plan alltoall(const GenerateInput& input) {
    const Rank size = input.costs.size();
    PlanWriter writer(Collective::alltoall, size, 0, transport(input), bruck.name);
    const Rank half = std::max<Rank>(1, (size + 1) / 2);
    writer.need_scratch(static_cast<std::uint32_t>(size + 2 * half));
    for (Rank rank = 0; rank < size; ++rank) {
        writer.copy(rank, places(Buffer::input, rank, size - rank),
                    places(Buffer::scratch, 0, size - rank));
        if (rank > 0) {
            writer.copy(rank, places(Buffer::input, 0, rank),
                        places(Buffer::scratch, size - rank, rank));
        }
    }
    std::vector<Transfer> messages(at(size));
    for (Rank distance = 1; distance < size; distance *= 2) {
        Rank count = 0;
        for (Rank rank = 0; rank < size; ++rank) {
            count = for_each_run(size, distance, [&](Rank first, Rank packed, Rank length) {
                writer.copy(rank, places(Buffer::scratch, first, length),
                            places(Buffer::scratch, size + packed, length));
            });
        }
        for (Rank rank = 0; rank < size; ++rank) {
            messages[at(rank)] = {rank,
                                  (rank + distance) % size,
                                  places(Buffer::scratch, size, count),
                                  places(Buffer::scratch, size + half, count),
                                  {}};
        }
        writer.round(messages);
        for (Rank rank = 0; rank < size; ++rank) {
            for_each_run(size, distance, [&](Rank first, Rank packed, Rank length) {
                writer.copy(rank, places(Buffer::scratch, size + half + packed, length),
                            places(Buffer::scratch, first, length));
            });
        }
    }
    for (Rank rank = 0; rank < size; ++rank) {
        for (Rank i = 0; i < size; ++i) {
            writer.copy(rank, places(Buffer::scratch, i),
                        places(Buffer::output, (rank + size - i) % size));
        }
    }
    return std::move(writer).finished();
}

constexpr Rank alltoall_ranks_max = 512; // The steps grow with n^2.

bool applies(Collective op, const GenerateInput& input) {
    const bool is_known = op == Collective::allgather ||
                          (op == Collective::alltoall && input.costs.size() <= alltoall_ranks_max);
    return is_known && input.blocks == 1 &&
           !tuning::bruck_bytes_most.decides(input.bytes > tuning::bruck_bytes_most);
}

Plan make(Collective op, const GenerateInput& input) {
    return op == Collective::allgather ? allgather(input) : alltoall(input);
}

} // namespace

constinit const Family bruck{"bruck", applies, make};

} // namespace corymb::generate
