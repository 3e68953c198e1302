// SPDX-License-Identifier: Apache-2.0
// Operators that do not commute, and say nothing about it, against the sequential loop over the
// ranks: every operation that combines, every form. Throws where they differ, so that ranks of any
// kind of team can run it.
#pragma once

#include "team/modes.hpp"

#include <corymb/team.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace corymb::order_test {

using team_test::Mode;

/// The ranks `first` to `last` of one place, joined. Joining what does not follow each other in the
/// order of ranks gives nonsense for good.
struct Joined {
    int first = 0;
    int last = 0;
    std::size_t place = 0;
    bool operator==(const Joined&) const = default;

    static Joined of(Rank rank, std::size_t at) { return {rank, rank, at}; }
};
struct Join {
    Joined operator()(const Joined& left, const Joined& right) const {
        const bool follow = left.last + 1 == right.first && left.place == right.place;
        return follow ? Joined{left.first, right.last, left.place} : Joined{-9, -99, 0};
    }
};

struct Matrix {
    std::uint32_t a = 1, b = 0, c = 0, d = 1;
    bool operator==(const Matrix&) const = default;

    static Matrix of(Rank rank, std::size_t at) {
        const auto some = static_cast<std::uint32_t>(static_cast<std::size_t>(rank) + at);
        return rank % 2 == 0 ? Matrix{1, some + 1, 0, 1} : Matrix{some + 2, 1, 1, 0};
    }
    friend Matrix operator*(const Matrix& x, const Matrix& y) {
        return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
                x.c * y.b + x.d * y.d};
    }
};

inline void require(bool holds, const std::string& what) {
    if (!holds) {
        throw std::runtime_error(what);
    }
}

/// The calls of one rank, with elements `T` and the operator `op`.
template <class T, class Op, class AnyTeam>
class Rounds {
public:
    Rounds(AnyTeam& team, Op op, std::size_t count) : team_(team), op_(op), count_(count) {}

    void run(Mode mode) {
        const Rank own = team_.rank();
        const Rank size = team_.size();
        const Rank root = size / 2;
        const std::vector<T> one = inputs(count_);
        const std::vector<T> all = inputs(count_ * static_cast<std::size_t>(size));
        const auto scattered = [&](std::vector<T>& out) {
            return matches(out, 0, size, static_cast<std::size_t>(own) * count_);
        };
        std::vector<T> out(count_);
        call(
            mode, "allreduce", [&] { team_.allreduce(one, out, op_); },
            [&] { return team_.iallreduce(one, out, op_); },
            [&] { return team_.allreduce_init(one, out, op_); });
        require(matches(out, 0, size, 0), "allreduce" + name_);
        call(
            mode, "reduce", [&] { team_.reduce(one, out, op_, root); },
            [&] { return team_.ireduce(one, out, op_, root); },
            [&] { return team_.reduce_init(one, out, op_, root); });
        require(own != root || matches(out, 0, size, 0), "reduce" + name_);
        call(
            mode, "scan", [&] { team_.scan(one, out, op_); },
            [&] { return team_.iscan(one, out, op_); },
            [&] { return team_.scan_init(one, out, op_); });
        require(matches(out, 0, own + 1, 0), "scan" + name_);
        call(
            mode, "exscan", [&] { team_.exscan(one, out, op_); },
            [&] { return team_.iexscan(one, out, op_); },
            [&] { return team_.exscan_init(one, out, op_); });
        require(own == 0 || matches(out, 0, own, 0), "exscan" + name_);
        call(
            mode, "reduce_scatter", [&] { team_.reduce_scatter(all, out, op_); },
            [&] { return team_.ireduce_scatter(all, out, op_); },
            [&] { return team_.reduce_scatter_init(all, out, op_); });
        require(scattered(out), "reduce_scatter" + name_);
        run_unequal(mode);
        if constexpr (std::is_same_v<AnyTeam, Team>) {
            run_packed(mode, one, all);
        }
    }

private:
    /// Rank r gets r elements more than the first one.
    void run_unequal(Mode mode) {
        const auto size = static_cast<std::size_t>(team_.size());
        std::vector<std::size_t> counts(size);
        std::iota(counts.begin(), counts.end(), count_);
        const auto own = static_cast<std::size_t>(team_.rank());
        const std::vector<T> in = inputs(std::accumulate(counts.begin(), counts.end(), 0UL));
        std::vector<T> out(counts[own]);
        const Parts parts{counts};
        call(
            mode, "reduce_scatterv", [&] { team_.reduce_scatterv(in, parts, out, op_); },
            [&] { return team_.ireduce_scatterv(in, parts, out, op_); },
            [&] { return team_.reduce_scatterv_init(in, parts, out, op_); });
        const auto end = counts.begin() + static_cast<std::ptrdiff_t>(own);
        require(matches(out, 0, team_.size(), std::accumulate(counts.begin(), end, 0UL)),
                "reduce_scatterv" + name_);
    }

    void run_packed(Mode mode, const std::vector<T>& one, const std::vector<T>& all) {
        std::vector<T> out(count_);
        const Packed<T> in = strided(one.data(), 1, count_, count_);
        const Packed<T> parts = strided(all.data(), 1, all.size(), all.size());
        const Packed<T> to = strided(out.data(), 1, count_, count_);
        call(
            mode, "packed allreduce", [&] { team_.allreduce(in, to, op_); },
            [&] { return team_.iallreduce(in, to, op_); },
            [&] { return team_.allreduce_init(in, to, op_); });
        require(matches(out, 0, team_.size(), 0), "packed allreduce" + name_);
        call(
            mode, "packed reduce_scatter", [&] { team_.reduce_scatter(parts, to, op_); },
            [&] { return team_.ireduce_scatter(parts, to, op_); },
            [&] { return team_.reduce_scatter_init(parts, to, op_); });
        require(matches(out, 0, team_.size(), static_cast<std::size_t>(team_.rank()) * count_),
                "packed reduce_scatter" + name_);
    }

    void call(Mode mode, const std::string& /*name*/, const std::function<void()>& blocking,
              const std::function<Request()>& nonblocking,
              const std::function<Request()>& persistent) {
        name_ = " of " + std::to_string(count_) + " elements among " +
                std::to_string(team_.size()) + " ranks, form " +
                std::to_string(static_cast<int>(mode));
        team_test::in_mode(mode, blocking, nonblocking, persistent);
    }

    [[nodiscard]] std::vector<T> inputs(std::size_t count) const {
        std::vector<T> made(count);
        for (std::size_t i = 0; i < count; ++i) {
            made[i] = T::of(team_.rank(), i);
        }
        return made;
    }
    /// The ranks `first` to `end` - 1 combined by a loop, from the element `from` of their vectors.
    [[nodiscard]] bool matches(const std::vector<T>& out, Rank first, Rank end,
                               std::size_t from) const {
        for (std::size_t i = 0; i < out.size(); ++i) {
            T wanted = T::of(first, from + i);
            for (Rank rank = first + 1; rank < end; ++rank) {
                wanted = op_(wanted, T::of(rank, from + i));
            }
            if (!(out[i] == wanted)) {
                return false;
            }
        }
        return true;
    }

    AnyTeam& team_;
    Op op_;
    std::size_t count_;
    std::string name_;
};

inline Matrix product(const Matrix& x, const Matrix& y) {
    return x * y;
}

/// Operators without and with state, functions, and one of the standard library on a type that it
/// does not know.
template <class AnyTeam>
void run_all(AnyTeam& team, std::size_t count) {
    for (const Mode mode : {Mode::blocking, Mode::nonblocking, Mode::persistent}) {
        Rounds<Joined, Join, AnyTeam>(team, Join(), count).run(mode);
        Rounds<Matrix, std::multiplies<>, AnyTeam>(team, {}, count).run(mode);
        if (count < 100) {
            const auto stateful = [join = Join(), one = 1](const Joined& x, const Joined& y) {
                return one == 1 ? join(x, y) : x;
            };
            Rounds<Joined, decltype(stateful), AnyTeam>(team, stateful, count).run(mode);
            Rounds<Matrix, decltype(&product), AnyTeam>(team, &product, count).run(mode);
        }
    }
}

} // namespace corymb::order_test
