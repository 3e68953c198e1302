// SPDX-License-Identifier: Apache-2.0
// The rounds of exchanges among positions: who takes what from whom. Families and schemes say which
// rank has a position, and where its data stands.
#pragma once

#include <cstddef>
#include <vector>

namespace corymb {

/// Position `to` takes from position `from` the data of `count` positions from `first` on, round
/// the end if need be.
struct Hop {
    std::size_t from = 0, to = 0;
    std::size_t first = 0, count = 0;
};
/// Hops of a round are made at once.
using Rounds = std::vector<std::vector<Hop>>;

/// An allgather by recursive doubling (Thakur, Rabenseifner, Gropp 2005). `size` must be a power of
/// two.
[[nodiscard]] Rounds doubling_rounds(std::size_t size);
/// Data that goes around a ring, a position further in each round: in round k a position takes the
/// data of position `from - k + shift`. 0: an allgather; -1: a reduce-scatter.
[[nodiscard]] Rounds ring_rounds(std::size_t size, int shift = 0);
/// An allgather for any number of positions (Bruck and others 1997).
[[nodiscard]] Rounds bruck_rounds(std::size_t size);
/// A scatter from position 0 down a binomial tree.
[[nodiscard]] Rounds binomial_rounds(std::size_t size);

/// These rounds backwards, each hop turned round: a reduce-scatter out of an allgather, a gather
/// out of a scatter. Hops of a round stand in the order of their takers.
[[nodiscard]] Rounds reversed(Rounds rounds);

} // namespace corymb
