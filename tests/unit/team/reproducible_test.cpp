// SPDX-License-Identifier: Apache-2.0
// TeamOptions::reproducible: floating-point results that depend on the ranks' numbers alone.
#include "modes.hpp"

#include <corymb/discover.hpp>
#include <corymb/planner.hpp>
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace corymb {
namespace {

using team_test::Mode;

/// What the first rank has.
struct Left {
    double operator()(double left, double /*right*/) const { return left; }
};

constexpr Mode modes[] = {Mode::blocking, Mode::nonblocking, Mode::persistent};

/// Numbers of very different magnitude, so that any other order of adding shows.
double value(Rank rank, std::size_t place) {
    const auto seed = static_cast<double>(rank * 37 + static_cast<int>(place % 61)) + 0.3;
    return std::sin(seed * 12.9898) * std::pow(10.0, static_cast<double>((rank * 7) % 13));
}

std::vector<double> values(Rank rank, std::size_t count, std::size_t first = 0) {
    std::vector<double> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        all[i] = value(rank, first + i);
    }
    return all;
}

/// The ranks `first` to `end` - 1: the largest power of two of them, then the rest, both alike.
double sum_of(Rank first, Rank end, std::size_t place) {
    if (end - first == 1) {
        return value(first, place);
    }
    const auto rest = static_cast<std::uint32_t>(end - first - 1);
    const Rank middle = first + static_cast<Rank>(std::bit_floor(rest));
    return sum_of(first, middle, place) + sum_of(middle, end, place);
}

/// A part of its own length: the rank's own, the ranks below, the nearest first, then those above.
double part_sum_of(Rank own, int size, std::size_t place) {
    double sum = value(own, place);
    for (Rank rank = own - 1; rank >= 0; --rank) {
        sum = value(rank, place) + sum;
    }
    for (Rank rank = own + 1; rank < size; ++rank) {
        sum += value(rank, place);
    }
    return sum;
}

bool are_sums(std::span<const double> found, int size, std::size_t first = 0, Rank part = -1) {
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double sum =
            part < 0 ? sum_of(0, size, first + i) : part_sum_of(part, size, first + i);
        if (std::bit_cast<std::uint64_t>(found[i]) != std::bit_cast<std::uint64_t>(sum)) {
            return false;
        }
    }
    return true;
}

TeamOptions reproducible() {
    TeamOptions options;
    options.reproducible = true;
    return options;
}

void expect_reductions(Team& team, std::size_t count, Mode mode) {
    const int size = team.size();
    const auto in = values(team.rank(), count);
    const std::span<const double> input(in);
    const std::string what =
        " of " + std::to_string(count) + " by " + std::to_string(size) + " ranks";
    std::vector<double> out(count);
    const std::span<double> output(out);
    team_test::in_mode(
        mode, [&] { team.allreduce(input, output); },
        [&] { return team.iallreduce(input, output); },
        [&] { return team.allreduce_init(input, output); });
    EXPECT_TRUE(are_sums(out, size)) << "allreduce" << what;
    for (Rank root = 0; root < size; ++root) {
        std::fill(out.begin(), out.end(), 0.0);
        team_test::in_mode(
            mode, [&] { team.reduce(input, output, std::plus<>(), root); },
            [&] { return team.ireduce(input, output, std::plus<>(), root); },
            [&] { return team.reduce_init(input, output, std::plus<>(), root); });
        EXPECT_TRUE(team.rank() != root || are_sums(out, size)) << "reduce" << what;
    }
}

void expect_parts(Team& team, std::size_t count, Mode mode) {
    const auto ranks = static_cast<std::size_t>(team.size());
    const auto own = static_cast<std::size_t>(team.rank());
    const auto all = values(team.rank(), ranks * count);
    std::vector<double> out(count);
    team_test::in_mode(
        mode, [&] { team.reduce_scatter(std::span<const double>(all), std::span(out)); },
        [&] { return team.ireduce_scatter(std::span<const double>(all), std::span(out)); },
        [&] { return team.reduce_scatter_init(std::span<const double>(all), std::span(out)); });
    EXPECT_TRUE(are_sums(out, team.size(), own * count)) << "reduce_scatter";

    std::vector<std::size_t> counts(ranks);
    std::size_t total = 0;
    std::size_t first = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
        counts[r] = r * count / ranks;
        first = r == own ? total : first;
        total += counts[r];
    }
    const auto parts = values(team.rank(), total);
    std::vector<double> part(counts[own]);
    const std::span<const double> input(parts);
    team_test::in_mode(
        mode, [&] { team.reduce_scatterv(input, {counts}, std::span(part)); },
        [&] { return team.ireduce_scatterv(input, {counts}, std::span(part)); },
        [&] { return team.reduce_scatterv_init(input, {counts}, std::span(part)); });
    EXPECT_TRUE(are_sums(part, team.size(), first, team.rank())) << "reduce_scatterv";
}

TEST(ReproducibleTest, SumsAreThoseOfTheRanksNumbers) {
    for (const int size : {1, 2, 3, 4, 6, 9}) {
        threads(
            size,
            [](Team& team) {
                for (const Mode mode : modes) {
                    for (const std::size_t count : {1ul, 7ul, 20'000ul}) {
                        expect_reductions(team, count, mode);
                    }
                    expect_parts(team, 300, mode);
                }
            },
            reproducible());
    }
}

TEST(ReproducibleTest, ScansAreTheSameForEveryCountAndOrderOfArrival) {
    for (const int size : {2, 3, 5, 8}) {
        std::mutex mutex;
        std::map<std::pair<Rank, std::size_t>, std::uint64_t> known;
        for (const std::size_t count : {1ul, 50ul, 9'000ul}) {
            threads(
                size,
                [&](Team& team) {
                    const auto in = values(team.rank(), count);
                    std::vector<double> out(count);
                    team.scan(std::span<const double>(in), std::span(out));
                    const std::lock_guard lock(mutex);
                    for (std::size_t i = 0; i < count; ++i) {
                        const auto bits = std::bit_cast<std::uint64_t>(out[i]);
                        const auto is_same =
                            known.try_emplace({team.rank(), i}, bits).first->second == bits;
                        ASSERT_TRUE(is_same) << "rank " << team.rank() << " of " << size;
                    }
                },
                reproducible());
        }
    }
}

TEST(ReproducibleTest, OperatorsThatDoNotCommuteKeepTheRanksOrder) {
    threads(
        6,
        [](Team& team) {
            const auto in = values(team.rank(), 3000);
            std::vector<double> out(3000);
            for (Rank root = 0; root < team.size(); ++root) {
                team.reduce(std::span<const double>(in), std::span(out), Left(), root);
                EXPECT_TRUE(team.rank() != root || out == values(0, 3000));
            }
        },
        reproducible());
}

TEST(ReproducibleTest, TeamsMadeFromTheTeamHaveItToo) {
    threads(
        5,
        [](Team& team) {
            Team part = team.split(team.rank() % 2);
            const auto in = values(part.rank(), 500);
            std::vector<double> out(500);
            part.allreduce(std::span<const double>(in), std::span(out));
            EXPECT_TRUE(are_sums(out, part.size()));
            EXPECT_EQ(part.plan(Collective::allreduce).algorithm.substr(0, 9), "canonical");
            team.barrier(); // Before anybody breaks it.
            try {
                team.abandon("a new team is wanted");
                team.barrier();
            } catch (const Error&) {
            }
            Team rest = team.shrink();
            const auto own = values(rest.rank(), 500);
            rest.allreduce(std::span<const double>(own), std::span(out));
            EXPECT_TRUE(are_sums(out, rest.size()));
        },
        reproducible());
}

TEST(ReproducibleTest, APlanSourceIsToldForReductionsOnly) {
    TeamOptions options = reproducible();
    std::mutex mutex;
    std::map<Collective, bool> told;
    options.plans = [&](const PlanNeed& need) {
        PlanRequest request;
        request.op = need.op;
        request.root = is_rooted(need.op) ? need.root : -1;
        request.bytes = need.bytes;
        request.reproducible = need.reproducible;
        const std::lock_guard lock(mutex);
        told[need.op] = need.reproducible;
        return make_plan(topology_from_synthetic("core:3 pu:1"), request).plan;
    };
    threads(
        3,
        [](Team& team) {
            EXPECT_EQ(team.allreduce(team.rank()), 3);
            EXPECT_EQ(team.broadcast(team.rank(), 2), 2);
        },
        options);
    EXPECT_EQ(told, (std::map<Collective, bool>{{Collective::allreduce, true},
                                                {Collective::broadcast, false}}));
}

} // namespace
} // namespace corymb
