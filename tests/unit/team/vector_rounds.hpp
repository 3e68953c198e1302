// SPDX-License-Identifier: Apache-2.0
// Vector operations against a naive reference: random lengths, roots, places and types, every mode.
// Throws where they differ, so that ranks of any kind of team can run it.
#pragma once

#include "modes.hpp"

#include <corymb/team.hpp>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace corymb::vector_test {

using Counts = std::vector<std::size_t>;

using team_test::Mode;

/// Where the parts of a buffer lie: in a random order and with gaps, or one after the other.
struct Placed {
    Counts counts;
    Counts displacements;
    std::size_t size = 0;

    [[nodiscard]] Parts parts() const { return {counts, displacements}; }
    [[nodiscard]] std::size_t begin(std::size_t part) const {
        return displacements.empty()
                   ? std::accumulate(counts.begin(),
                                     counts.begin() + static_cast<std::ptrdiff_t>(part),
                                     std::size_t{0})
                   : displacements[part];
    }
};

inline Placed place(const Counts& counts, std::mt19937& random) {
    Placed made{counts, {}, std::accumulate(counts.begin(), counts.end(), std::size_t{0})};
    if (random() % 2 == 0) {
        return made;
    }
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::shuffle(order, random);
    made.displacements.resize(counts.size());
    made.size = 0;
    for (const std::size_t part : order) {
        made.size += random() % 3;
        made.displacements[part] = made.size;
        made.size += counts[part];
    }
    return made;
}

/// Lengths as they come: nothing, one, a few, and now and then many.
inline std::size_t some_length(std::mt19937& random) {
    switch (random() % 6) {
    case 0: return 0;
    case 1: return 1;
    case 2: return random() % 20;
    case 3: return random() % 300;
    case 4: return random() % 3000;
    default: return random() % 4 == 0 ? random() % 40'000 : 7;
    }
}

/// Element i of what rank `from` has for rank `to`; small, so that sums are exact in every type.
template <class T>
T value(std::size_t from, std::size_t to, std::size_t i) {
    return static_cast<T>(static_cast<int>((from * 5 + to * 3 + i) % 11 + 1));
}

template <class T>
constexpr bool is_number = std::is_arithmetic_v<T> || std::is_same_v<T, std::complex<double>>;

struct Pixel {
    Pixel() = default;
    explicit Pixel(int grey) : red(static_cast<std::uint8_t>(grey)), blue(red) {}
    std::uint8_t red = 0, green = 7, blue = 0;
    bool operator==(const Pixel&) const = default;
};

template <class T>
struct Round {
    Round(Team& on, Mode how, unsigned seed) : team(on), mode(how), random(seed) {
        const std::size_t ranks = size();
        for (std::size_t p = 0; p < ranks; ++p) {
            one.push_back(some_length(random));
            pairs.emplace_back();
            for (std::size_t q = 0; q < ranks; ++q) {
                pairs.back().push_back(some_length(random));
            }
        }
        root = static_cast<Rank>(random() % ranks);
        random.seed(seed * 1000 + static_cast<unsigned>(own())); // Places are a rank's own matter.
    }

    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(team.size()); }
    [[nodiscard]] std::size_t own() const { return static_cast<std::size_t>(team.rank()); }

    void in_mode(const std::function<void()>& blocking, const std::function<Request()>& nonblocking,
                 const std::function<Request()>& persistent) const {
        team_test::in_mode(mode, blocking, nonblocking, persistent);
    }

    /// A buffer whose part q is what `from` has for q; nothing else is ever equal to a value.
    std::vector<T> filled(const Placed& placed, std::size_t from) const {
        std::vector<T> made(placed.size, T(0));
        for (std::size_t q = 0; q < placed.counts.size(); ++q) {
            for (std::size_t i = 0; i < placed.counts[q]; ++i) {
                made[placed.begin(q) + i] = value<T>(from, q, i);
            }
        }
        return made;
    }
    std::vector<T> part(std::size_t from, std::size_t to, std::size_t count) const {
        std::vector<T> made;
        for (std::size_t i = 0; i < count; ++i) {
            made.push_back(value<T>(from, to, i));
        }
        return made;
    }
    /// Part p is `expected(p, i)`, and the gaps are as they were.
    void expect(const std::vector<T>& got, const Placed& placed,
                const std::function<T(std::size_t, std::size_t)>& expected) const {
        std::vector<T> wanted(placed.size, T(0));
        for (std::size_t p = 0; p < placed.counts.size(); ++p) {
            for (std::size_t i = 0; i < placed.counts[p]; ++i) {
                wanted[placed.begin(p) + i] = expected(p, i);
            }
        }
        require(got == wanted);
    }

    void require(bool is_right) const {
        if (!is_right) {
            throw std::runtime_error("rank " + std::to_string(own()) + " has a wrong result");
        }
    }

    void gather() {
        const bool is_root = team.rank() == root;
        const Placed placed = place(one, random);
        const std::vector<T> mine = part(own(), 0, one[own()]);
        std::vector<T> all(is_root ? placed.size : 0, T(0));
        const Parts parts = is_root ? placed.parts() : Parts{};
        const std::span<const T> in(mine);
        in_mode([&] { team.gatherv(in, std::span(all), parts, root); },
                [&] { return team.igatherv(in, std::span(all), parts, root); },
                [&] { return team.gatherv_init(in, std::span(all), parts, root); });
        if (is_root) {
            expect(all, placed, [](std::size_t p, std::size_t i) { return value<T>(p, 0, i); });
        }
    }

    void scatter() {
        const bool is_root = team.rank() == root;
        const Placed placed = place(one, random);
        const std::vector<T> all = is_root ? filled(placed, own()) : std::vector<T>();
        std::vector<T> mine(one[own()], T(0));
        const Parts parts = is_root ? placed.parts() : Parts{};
        const std::span<const T> in(all);
        in_mode([&] { team.scatterv(in, parts, std::span(mine), root); },
                [&] { return team.iscatterv(in, parts, std::span(mine), root); },
                [&] { return team.scatterv_init(in, parts, std::span(mine), root); });
        require(mine == part(static_cast<std::size_t>(root), own(), one[own()]));
    }

    void allgather() {
        const Placed placed = place(one, random);
        const std::vector<T> mine = part(own(), 0, one[own()]);
        std::vector<T> all(placed.size, T(0));
        const std::span<const T> in(mine);
        in_mode([&] { team.allgatherv(in, std::span(all), placed.parts()); },
                [&] { return team.iallgatherv(in, std::span(all), placed.parts()); },
                [&] { return team.allgatherv_init(in, std::span(all), placed.parts()); });
        expect(all, placed, [](std::size_t p, std::size_t i) { return value<T>(p, 0, i); });
    }

    void alltoall() {
        Counts incoming;
        for (const Counts& row : pairs) {
            incoming.push_back(row[own()]);
        }
        const Placed from = place(pairs[own()], random);
        const Placed to = place(incoming, random);
        const std::vector<T> out = filled(from, own());
        std::vector<T> all(to.size, T(0));
        const std::span<const T> in(out);
        in_mode([&] { team.alltoallv(in, from.parts(), std::span(all), to.parts()); },
                [&] { return team.ialltoallv(in, from.parts(), std::span(all), to.parts()); },
                [&] { return team.alltoallv_init(in, from.parts(), std::span(all), to.parts()); });
        expect(all, to, [&](std::size_t p, std::size_t i) { return value<T>(p, own(), i); });
    }

    template <class Op>
    void reduce_scatter(Op op) {
        const Placed placed = place(one, random);
        const std::vector<T> all = filled(placed, own());
        std::vector<T> mine(one[own()], T(0));
        const std::span<const T> in(all);
        in_mode([&] { team.reduce_scatterv(in, placed.parts(), std::span(mine), op); },
                [&] { return team.ireduce_scatterv(in, placed.parts(), std::span(mine), op); },
                [&] { return team.reduce_scatterv_init(in, placed.parts(), std::span(mine), op); });
        for (std::size_t i = 0; i < mine.size(); ++i) {
            T sum = value<T>(0, own(), i);
            for (std::size_t p = 1; p < size(); ++p) {
                sum = static_cast<T>(op(sum, value<T>(p, own(), i)));
            }
            require(mine[i] == sum);
        }
    }

    Team& team;
    Mode mode;
    std::mt19937 random;
    Counts one;                ///< What each rank has.
    std::vector<Counts> pairs; ///< What each has for each.
    Rank root = 0;
};

/// Affine maps; to apply one after the other is associative but not commutative.
struct Affine {
    Affine() = default;
    explicit Affine(int x)
        : factor(2 * static_cast<std::uint32_t>(x) + 1), offset(static_cast<std::uint32_t>(x)) {}
    std::uint32_t factor = 0, offset = 0;
    bool operator==(const Affine&) const = default;
};

struct compose {
    Affine operator()(Affine first, Affine then) const {
        first.factor *= then.factor;
        first.offset = first.offset * then.factor + then.offset;
        return first;
    }
};

struct sum_modulo {
    std::int64_t modulus;
    std::int64_t operator()(std::int64_t a, std::int64_t b) const { return (a + b) % modulus; }
};

template <class T>
void run_round(Team& team, Mode mode, unsigned seed) {
    Round<T> round(team, mode, seed);
    round.gather();
    round.scatter();
    round.allgather();
    round.alltoall();
    if constexpr (is_number<T>) {
        round.reduce_scatter(std::plus<>());
    }
    if constexpr (std::is_same_v<T, std::int64_t>) {
        round.reduce_scatter(sum_modulo{7});
    }
    if constexpr (std::is_same_v<T, Affine>) {
        round.reduce_scatter(compose());
    }
}

inline void run_rounds(Team& team, unsigned rounds) {
    for (unsigned seed = 0; seed < rounds; ++seed) {
        const auto mode = static_cast<Mode>(seed % 3);
        switch (seed % 6) {
        case 0: run_round<std::int64_t>(team, mode, seed); break;
        case 1: run_round<std::uint8_t>(team, mode, seed); break;
        case 2: run_round<std::complex<double>>(team, mode, seed); break;
        case 3: run_round<Affine>(team, mode, seed); break;
        case 4: run_round<Pixel>(team, mode, seed); break;
        default: run_round<float>(team, mode, seed);
        }
    }
}

} // namespace corymb::vector_test
