// SPDX-License-Identifier: Apache-2.0
// Operations on data that does not lie in one piece.
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <utility>
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

TEST(PackedTest, StartedOperationsPutBackWhenTheyAreCompleted) {
    threads(3, [](Team& team) {
        const int rank = team.rank();
        std::vector<Particle> one(2, {0.5, rank + 1}), all(6, {0.5, 10 * rank}), three(6), sum(2);
        const auto none = [](bool is_used, std::vector<Particle>& particles) {
            return is_used ? charges(particles) : Packed<int>();
        };
        team.iallgather(charges(one), charges(three)).wait();
        ASSERT_EQ(three[5].charge, 3);
        team.igather(charges(one), none(rank == 1, three), 1).wait();
        ASSERT_EQ(three[2].charge, 2);
        team.ialltoall(charges(all), charges(three)).wait();
        ASSERT_EQ(three[3].charge, 10);
        team.ireduce_scatter(charges(all), charges(sum)).wait();
        ASSERT_EQ(sum[1].charge, 30);
        team.ireduce(charges(one), none(rank == 0, sum)).wait();
        ASSERT_EQ(sum[0].charge, rank == 0 ? 6 : 30);
        team.iallreduce(charges(one), charges(sum)).wait();
        ASSERT_EQ(sum[0].charge, 6);
        team.iscan(charges(one), charges(sum)).wait();
        ASSERT_EQ(sum[1].charge, (rank + 1) * (rank + 2) / 2);
        team.iexscan(charges(one), charges(sum)).wait();
        ASSERT_EQ(sum[1].charge, rank == 0 ? 1 : rank * (rank + 1) / 2);
        all[4].charge = 77;
        team.iscatter(none(rank == 0, all), charges(one)).wait();
        ASSERT_EQ(one[0].charge, rank == 2 ? 77 : 0);
        ASSERT_EQ(one[0].place, 0.5);
        Request broadcast = team.ibroadcast(charges(all), 1);
        team.complete_all();
        ASSERT_EQ(all[0].charge, 10 * rank) << "put back before it was completed";
        ASSERT_TRUE(broadcast.test());
        ASSERT_EQ(all[0].charge, 10);
    });
}

TEST(PackedTest, PersistentOperationsTakeTheElementsAtEachStart) {
    threads(3, [](Team& team) {
        std::vector<Particle> own(40), sums(40), passed(40);
        Request total = team.allreduce_init(charges(own), charges(sums));
        Request from_root = team.broadcast_init(charges(passed), 2);
        const int rank = team.rank();
        Request message = rank == 0   ? team.send_init(charges(own), 1)
                          : rank == 1 ? team.recv_init(charges(passed), 0)
                                      : Request();
        for (int round = 1; round < 50; ++round) {
            std::ranges::fill(own, Particle{0, round * (rank + 1)});
            std::ranges::fill(passed, Particle{0, round + rank});
            total.start();
            std::ranges::fill(own, Particle{0, -1}); // It has been taken.
            from_root.start();
            total.wait();
            from_root.wait();
            ASSERT_EQ(sums.back().charge, 6 * round);
            ASSERT_EQ(passed.front().charge, round + 2);
            if (message.is_persistent()) {
                message.start();
                message.wait();
                ASSERT_EQ(passed.front().charge, rank == 1 ? -1 : round + 2);
            }
        }
    });
}

TEST(PackedTest, ARequestThatIsDroppedPutsNothingBack) {
    threads(2, [](Team& team) {
        std::vector<Particle> own(3, {0, 1}), sums(3, {0, 5});
        {
            const Request dropped = team.iallreduce(charges(own), charges(sums));
        }
        ASSERT_EQ(sums[0].charge, 5);
        team.isend(charges(own), 1 - team.rank()).wait();
        team.irecv(charges(sums), 1 - team.rank()).wait();
        ASSERT_EQ(sums[2].charge, 1);
    });
}

using Ints = std::vector<int>;

/// The charges of the particles are `wanted`.
void expect_charges(const std::vector<Particle>& particles, const Ints& wanted) {
    Ints found;
    std::ranges::transform(particles, std::back_inserter(found), &Particle::charge);
    EXPECT_EQ(found, wanted);
}

// One buffer of each call lies in one piece. Three ranks, whose own numbers are r and 10 + r.
TEST(PackedTest, ALayoutMeetsABufferInOnePiece) {
    threads(3, [](Team& team) {
        const int rank = team.rank();
        const Ints own{rank, 10 + rank};
        Ints two(2), six(6);
        std::vector<Particle> charged(2), many(6), from(2, Particle{0, rank}), none;
        team.allreduce(own, charges(charged));
        expect_charges(charged, {3, 33});
        team.allreduce(charges(charged), two, maximum());
        EXPECT_EQ(two, (Ints{3, 33}));
        team.reduce(own, charges(charged), std::multiplies<>(), 1);
        expect_charges(charged, rank == 1 ? Ints{0, 1320} : Ints{3, 33});
        if (rank == 0) {
            team.reduce(charges(from), two);
            EXPECT_EQ(two, (Ints{3, 3}));
        } else {
            team.reduce(charges(from), {});
        }
        team.gather(charges(from), rank == 2 ? std::span<int>(six) : std::span<int>(), 2);
        EXPECT_EQ(six, rank == 2 ? (Ints{0, 0, 1, 1, 2, 2}) : Ints(6));
        team.gather(own, charges(rank == 0 ? many : none));
        expect_charges(many, rank == 0 ? Ints{0, 10, 1, 11, 2, 12} : Ints(6));
        team.scatter(charges(many), two);
        EXPECT_EQ(two, own);
        const Ints table{10 * rank,     10 * rank,     10 * rank + 1,
                         10 * rank + 1, 10 * rank + 2, 10 * rank + 2};
        team.alltoall(table, charges(many));
        expect_charges(many, {rank, rank, 10 + rank, 10 + rank, 20 + rank, 20 + rank});
        team.reduce_scatter(charges(many), two);
        EXPECT_EQ(two, (Ints{3 + 30 * rank, 3 + 30 * rank}));
        team.allgather(own, charges(many));
        expect_charges(many, {0, 10, 1, 11, 2, 12});
        team.scan(own, charges(charged));
        expect_charges(charged, {rank * (rank + 1) / 2, 10 * (rank + 1) + rank * (rank + 1) / 2});
        two = {-1, -1};
        team.exscan(charges(from), two);
        EXPECT_EQ(two, rank == 0 ? (Ints{-1, -1}) : Ints(2, rank * (rank - 1) / 2));
    });
}

TEST(PackedTest, RequestsOfALayoutAndABufferInOnePiece) {
    threads(2, [](Team& team) {
        const int rank = team.rank();
        const Rank other = 1 - rank;
        Ints own{rank + 1}, all(2);
        std::vector<Particle> sums(1), both(2);
        // An operator with state lives as long as its request.
        Request sum = team.allreduce_init(own, charges(sums),
                                          [factor = 10](int a, int b) { return factor * (a + b); });
        for (int round = 1; round < 4; ++round) {
            own = {round * (rank + 1)};
            sum.start();
            sum.wait();
            expect_charges(sums, {30 * round});
        }
        team.iallgather(charges(sums), all).wait();
        EXPECT_EQ(all, (Ints{90, 90}));
        team.iallgather(own, charges(both)).wait();
        expect_charges(both, {3, 6});
        Ints in(2);
        team.sendrecv(charges(both), other, in, other);
        EXPECT_EQ(in, (Ints{3, 6}));
        team.sendrecv(Ints{rank, 7}, other, charges(both), other);
        expect_charges(both, {other, 7});
    });
}

/// A layout with a name of its own.
struct Column : Packed<int> {
    explicit Column(Packed<int> of) : Packed<int>(std::move(of)) {}
};

TEST(PackedTest, ALayoutMayHaveATypeOfItsOwn) {
    threads(2, [](Team& team) {
        Matrix mine(100 * team.rank());
        Column column(mine.column(1));
        const Column& returned = team.broadcast(column, 1);
        EXPECT_EQ(&returned, &column);
        EXPECT_EQ(mine.at(0, 1), 101);
        team.allreduce<int>(column, mine.column(2));
        EXPECT_EQ(mine.at(1, 2), 2 * (101 + static_cast<int>(Matrix::columns)));
    });
}

TEST(PackedTest, ABufferThatDoesNotFitIsRefusedBeforeItIsPacked) {
    ThreadTeam made(1);
    Team team = made.join(0);
    int packed = 0;
    const Packed<int> layout{1, [&](std::span<int>) { ++packed; }, nullptr};
    Ints two(2);
    EXPECT_THROW(team.allreduce(layout, two), Error);
    EXPECT_THROW(static_cast<void>(team.iallgather(layout, two)), Error);
    EXPECT_EQ(packed, 0);
    team.barrier();
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
