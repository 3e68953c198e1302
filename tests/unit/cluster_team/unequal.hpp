// SPDX-License-Identifier: Apache-2.0
// One of each vector operation of a team over several nodes, whose parts differ in length and may
// have gaps and any order, and whether the results are right.
#pragma once

#include <corymb/carrier.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cluster_test {

using corymb::Collective;
using corymb::Parts;
using corymb::Rank;
using corymb::Team;

/// How parts lie in the caller's buffers.
enum class Order { dense, reversed_with_gaps };

/// What `from` has for `to`; some have nothing, one has much.
struct Lengths {
    std::size_t most = 100;
    std::size_t operator()(Rank from, Rank to) const {
        const auto number = static_cast<std::size_t>(from * 7 + to * 13);
        if (number % 4 == 3) {
            return 0;
        }
        return from == 1 ? most : 1 + number % (most / 2 + 1);
    }
};

inline std::int64_t number_of(Rank from, Rank to, std::size_t place, int round) {
    return from * 1'000'003 + to * 10'007 + static_cast<std::int64_t>(place) * 7 + round;
}

/// A buffer with a part for every rank.
struct PartBuffer {
    std::vector<std::size_t> counts, places;
    std::vector<std::int64_t> data;

    template <class LengthOf>
    PartBuffer(int ranks, Order order, const LengthOf& length_of) {
        for (Rank rank = 0; rank < ranks; ++rank) {
            counts.push_back(length_of(rank));
        }
        places.resize(counts.size());
        std::size_t next = 0;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            const std::size_t part = order == Order::dense ? i : counts.size() - 1 - i;
            places[part] = next;
            next += counts[part] + (order == Order::dense ? 0 : 3);
        }
        data.assign(next, -1);
    }
    [[nodiscard]] Parts parts() const { return {counts, places}; }
    template <class ValueOf>
    void fill(const ValueOf& value_of) {
        for (std::size_t part = 0; part < counts.size(); ++part) {
            for (std::size_t i = 0; i < counts[part]; ++i) {
                data[places[part] + i] = value_of(static_cast<Rank>(part), i);
            }
        }
    }
    /// Whether the parts are so, and nothing was written between them.
    template <class ValueOf>
    [[nodiscard]] bool is(const ValueOf& value_of) const {
        PartBuffer wanted = *this;
        std::ranges::fill(wanted.data, -1);
        wanted.fill(value_of);
        return data == wanted.data;
    }
};

/// The buffers of one operation on one rank. Rooted ones have their parts at `root`.
class Unequal {
public:
    Unequal(Team& team, Collective op, Order order, Lengths lengths, Rank root)
        : team_(&team), op_(op), root_(root), lengths_(lengths), own_(team.rank()),
          input_(team.size(), order, [&](Rank to) { return lengths_(giver(), taker(to)); }),
          output_(team.size(), order, [&](Rank from) { return lengths_(from, receiver()); }) {
        one_.resize(op == Collective::scatter          ? lengths_(root, own_)
                    : op == Collective::reduce_scatter ? lengths_(0, own_)
                                                       : lengths_(own_, receiver()));
    }

    void fill(int round) {
        round_ = round;
        input_.fill([&](Rank to, std::size_t i) { return number_of(own_, to, i, round); });
        std::ranges::fill(output_.data, -1);
        for (std::size_t i = 0; i < one_.size(); ++i) {
            one_[i] = takes_one() ? -1 : number_of(own_, receiver(), i, round);
        }
    }

    void run() {
        const std::span<const std::int64_t> in(input_.data);
        switch (op_) {
        case Collective::gather: team_->gatherv(one(), out(), output_.parts(), root_); return;
        case Collective::scatter:
            team_->scatterv(in, input_.parts(), std::span(one_), root_);
            return;
        case Collective::allgather: team_->allgatherv(one(), out(), output_.parts()); return;
        case Collective::alltoall:
            team_->alltoallv(in, input_.parts(), out(), output_.parts());
            return;
        default: team_->reduce_scatterv(in, input_.parts(), std::span(one_)); return;
        }
    }

    [[nodiscard]] corymb::Request request(bool persistent) {
        const std::span<const std::int64_t> in(input_.data);
        const std::span<std::int64_t> part(one_);
        switch (op_) {
        case Collective::gather:
            return persistent ? team_->gatherv_init(one(), out(), output_.parts(), root_)
                              : team_->igatherv(one(), out(), output_.parts(), root_);
        case Collective::scatter:
            return persistent ? team_->scatterv_init(in, input_.parts(), part, root_)
                              : team_->iscatterv(in, input_.parts(), part, root_);
        case Collective::allgather:
            return persistent ? team_->allgatherv_init(one(), out(), output_.parts())
                              : team_->iallgatherv(one(), out(), output_.parts());
        case Collective::alltoall:
            return persistent ? team_->alltoallv_init(in, input_.parts(), out(), output_.parts())
                              : team_->ialltoallv(in, input_.parts(), out(), output_.parts());
        default:
            return persistent ? team_->reduce_scatterv_init(in, input_.parts(), part)
                              : team_->ireduce_scatterv(in, input_.parts(), part);
        }
    }

    [[nodiscard]] bool is_right() const {
        if (takes_one()) {
            for (std::size_t i = 0; i < one_.size(); ++i) {
                std::int64_t wanted = 0;
                for (Rank rank = 0; rank < team_->size(); ++rank) {
                    const bool counts = op_ == Collective::reduce_scatter || rank == root_;
                    wanted += counts ? number_of(rank, own_, i, round_) : 0;
                }
                if (one_[i] != wanted) {
                    return false;
                }
            }
            return true;
        }
        return (op_ == Collective::gather && own_ != root_) ||
               output_.is([&](Rank from, std::size_t i) {
                   return number_of(from, receiver(), i, round_);
               });
    }

private:
    [[nodiscard]] bool takes_one() const {
        return op_ == Collective::scatter || op_ == Collective::reduce_scatter;
    }
    /// Whose lengths this rank's input has; a reduction's are the same everywhere.
    [[nodiscard]] Rank giver() const { return op_ == Collective::reduce_scatter ? 0 : own_; }
    [[nodiscard]] static Rank taker(Rank to) { return to; }
    /// For whom a rank gives what it has but one of.
    [[nodiscard]] Rank receiver() const { return op_ == Collective::alltoall ? own_ : 0; }
    [[nodiscard]] std::span<const std::int64_t> one() const { return one_; }
    [[nodiscard]] std::span<std::int64_t> out() { return output_.data; }

    Team* team_;
    Collective op_;
    Rank root_;
    Lengths lengths_;
    Rank own_;
    int round_ = 0;
    PartBuffer input_, output_;
    std::vector<std::int64_t> one_;
};

inline constexpr Collective vector_operations[] = {
    Collective::allgather, Collective::reduce_scatter, Collective::gather,
    Collective::scatter,   Collective::alltoall,
};

} // namespace cluster_test
