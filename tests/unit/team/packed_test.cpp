// SPDX-License-Identifier: Apache-2.0
// Operations on data that does not lie in one piece.
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace corymb {
namespace {

/// A matrix of rows of `columns` numbers, filled with its places' numbers.
struct Matrix {
    static constexpr std::size_t rows = 40, columns = 7;

    explicit Matrix(int first) : cells(rows * columns) {
        std::iota(cells.begin(), cells.end(), first);
    }
    [[nodiscard]] Packed<int> column(std::size_t number, std::size_t width = 1) {
        return strided(cells.data() + number, rows, width, columns);
    }
    [[nodiscard]] Packed<int> column(std::size_t number, std::size_t width = 1) const {
        return strided(cells.data() + number, rows, width, columns);
    }
    int& at(std::size_t row, std::size_t column) { return cells[row * columns + column]; }

    std::vector<int> cells;
};

TEST(PackedTest, ColumnsAreBroadcastAndTheRestIsLeftAlone) {
    threads(3, [](Team& team) {
        Matrix mine(1000 * team.rank());
        const std::vector<int> before = mine.cells;
        team.broadcast(mine.column(2, 3), 1);
        const Matrix root(1000);
        for (std::size_t i = 0; i < before.size(); ++i) {
            const std::size_t column = i % Matrix::columns;
            ASSERT_EQ(mine.cells[i], column >= 2 && column < 5 ? root.cells[i] : before[i]);
        }
    });
}

TEST(PackedTest, SumsMayGoWhereTheInputWas) {
    threads(3, [](Team& team) {
        Matrix mine(0);
        team.allreduce(mine.column(1), mine.column(1));
        Matrix prefix(0);
        team.scan(std::as_const(prefix).column(0), prefix.column(1));
        team.exscan(std::as_const(prefix).column(0), prefix.column(2));
        team.reduce(std::as_const(prefix).column(0),
                    team.rank() == 2 ? prefix.column(3) : Packed<int>(), std::plus<>(), 2);
        const Matrix untouched(0);
        for (std::size_t row = 0; row < Matrix::rows; ++row) {
            const int first = static_cast<int>(row * Matrix::columns);
            ASSERT_EQ(mine.at(row, 0), first);
            ASSERT_EQ(mine.at(row, 1), 3 * (first + 1));
            ASSERT_EQ(prefix.at(row, 1), (team.rank() + 1) * first);
            ASSERT_EQ(prefix.at(row, 2), team.rank() == 0 ? first + 2 : team.rank() * first);
            ASSERT_EQ(prefix.at(row, 3), team.rank() == 2 ? 3 * first : first + 3);
        }
    });
}

/// Members of objects, one behind the other.
struct Particle {
    double place = 0;
    int charge = 0;
};

Packed<int> charges(std::vector<Particle>& particles) {
    return {particles.size(),
            [&](std::span<int> to) {
                std::ranges::transform(particles, to.begin(), &Particle::charge);
            },
            [&](std::span<const int> from) {
                for (std::size_t i = 0; i < from.size(); ++i) {
                    particles[i].charge = from[i];
                }
            }};
}

TEST(PackedTest, EveryOperationWithParts) {
    threads(3, [](Team& team) {
        const int rank = team.rank();
        std::vector<Particle> one(2, {0.5, rank + 1}), all(6, {0.5, 10 * rank}), three(6);
        team.allgather(charges(one), charges(three));
        ASSERT_EQ(three[5].charge, 3);
        team.gather(charges(one), rank == 1 ? charges(three) : Packed<int>(), 1);
        ASSERT_EQ(three[2].charge, 2);
        team.alltoall(charges(all), charges(three));
        ASSERT_EQ(three[3].charge, 10);
        team.reduce_scatter(charges(all), charges(one));
        ASSERT_EQ(one[1].charge, 30);
        all[4].charge = 77;
        team.scatter(rank == 0 ? charges(all) : Packed<int>(), charges(one));
        ASSERT_EQ(one[0].charge, rank == 2 ? 77 : 0);
        ASSERT_EQ(one[0].place, 0.5);
        if (rank == 0) {
            team.send(charges(all), 2);
        } else if (rank == 2) {
            team.recv(charges(three), 0);
            ASSERT_EQ(three[4].charge, 77);
        }
    });
}

TEST(PackedTest, AMissingFunctionIsNamed) {
    ThreadTeam made(1);
    Team team = made.join(0);
    int value = 3;
    const Packed<int> all = strided(&value, 1, 1, 1);
    const auto refusal = [&](Packed<int> input, Packed<int> output) -> std::string {
        try {
            team.allreduce(input, output);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal(all, all), "");
    EXPECT_NE(refusal({1, nullptr, nullptr}, all).find("pack"), std::string::npos);
    EXPECT_NE(refusal(all, {1, all.pack, nullptr}).find("unpack"), std::string::npos);
    EXPECT_NE(refusal(all, {2, all.pack, all.unpack}).find("2 elements"), std::string::npos);
    EXPECT_THROW(team.broadcast(Packed<int>{1, nullptr, all.unpack}), Error);
}

} // namespace
} // namespace corymb
