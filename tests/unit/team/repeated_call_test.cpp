// SPDX-License-Identifier: Apache-2.0
// A call that was made before is not checked anew where nothing has changed, and is where it has.
#include <corymb/error.hpp>
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace corymb {
namespace {

void expect_invalid(const std::function<void()>& call) {
    try {
        call();
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument) << error.what();
    }
}

TEST(RepeatedCall, OtherBuffersOfTheSameCall) {
    threads(2, [](Team& team) {
        std::array<std::vector<int>, 3> in;
        std::array<std::vector<int>, 3> out;
        for (int round = 0; round < 30; ++round) {
            const auto turn = static_cast<std::size_t>(round) % in.size();
            in[turn].assign(40, round + team.rank());
            out[turn].assign(40, -1);
            team.allreduce(std::span<const int>(in[turn]), std::span(out[turn]));
            EXPECT_EQ(out[turn], std::vector<int>(40, 2 * round + 1));
            team.broadcast(std::span(out[turn]), round % 2);
            EXPECT_EQ(out[turn], std::vector<int>(40, 2 * round + 1));
        }
    });
}

TEST(RepeatedCall, InPlaceAndApartInTurns) {
    threads(2, [](Team& team) {
        std::vector<int> data(16);
        std::vector<int> sum(16);
        for (int round = 0; round < 6; ++round) {
            data.assign(16, 1 + team.rank());
            auto& out = round % 2 == 0 ? data : sum;
            team.allreduce(std::span<const int>(data), std::span(out));
            EXPECT_EQ(out, std::vector<int>(16, 3));
        }
    });
}

/// Not a sum, but as associative: each joint adds something.
struct Joint {
    int something;
    int operator()(int left, int right) const { return left + right + something; }
};

TEST(RepeatedCall, OtherOperatorAndOtherState) {
    threads(2, [](Team& team) {
        const std::vector<int> in(4, 2 + team.rank());
        std::vector<int> out(4);
        for (int round = 0; round < 4; ++round) {
            team.allreduce(std::span<const int>(in), std::span(out), std::multiplies<>());
            EXPECT_EQ(out, std::vector<int>(4, 6));
            team.allreduce(std::span<const int>(in), std::span(out), Joint{round});
            EXPECT_EQ(out, std::vector<int>(4, 5 + round));
            const Joint other{100 + round};
            team.allreduce(std::span<const int>(in), std::span(out), other);
            EXPECT_EQ(out, std::vector<int>(4, 105 + round));
        }
    });
}

TEST(RepeatedCall, ManyShapesDoNotTakeEachOthersPlace) {
    threads(2, [](Team& team) {
        for (int round = 0; round < 3; ++round) {
            for (std::size_t count = 1; count < 40; ++count) {
                const std::vector<double> in(count, 1.5);
                std::vector<double> out(count);
                team.allreduce(std::span<const double>(in), std::span(out));
                EXPECT_EQ(out, std::vector<double>(count, 3));
                const auto root = static_cast<Rank>(count % 2);
                team.reduce(std::span<const double>(in), std::span(out), std::plus<>(), root);
                if (team.rank() == root) {
                    EXPECT_EQ(out, std::vector<double>(count, 3));
                }
            }
        }
    });
}

TEST(RepeatedCall, WrongBuffersAreStillRefused) {
    threads(1, [](Team& team) {
        std::vector<int> data(20);
        const auto part = [&](std::size_t from) {
            return std::span(data).subspan(from, 8);
        };
        team.allreduce(std::span<const int>(part(0)), part(8));
        expect_invalid([&] { team.allreduce(std::span<const int>(part(0)), part(4)); });
        expect_invalid([&] { team.allreduce(std::span<const int>(part(4)), part(0)); });
        const std::span<int> nothing(static_cast<int*>(nullptr), 8);
        expect_invalid([&] { team.allreduce(std::span<const int>(nothing), part(8)); });
        expect_invalid([&] { team.allreduce(std::span<const int>(part(0)), nothing); });
        expect_invalid(
            [&] { auto request = team.iallreduce(std::span<const int>(part(1)), part(4)); });
        team.allreduce(std::span<const int>(part(0)), part(8));
    });
}

using Counts = std::vector<std::size_t>;

TEST(RepeatedCall, ListsThatChangeBetweenCalls) {
    threads(2, [](Team& team) {
        const auto own = static_cast<std::size_t>(team.rank());
        Counts counts{1, 2};
        Counts places{2, 0};
        for (int round = 0; round < 12; ++round) {
            // In the same memory, some calls in a row alike.
            counts = round / 3 % 2 == 0 ? Counts{1, 2} : Counts{2, 1};
            places = round / 6 % 2 == 0 ? Counts{2, 0} : Counts{0, 3};
            const std::vector<int> in(counts[own], 10 * round + team.rank());
            std::vector<int> out(5, -1);
            team.allgatherv(std::span<const int>(in), std::span(out), {counts, places});
            std::vector<int> wanted(5, -1);
            for (std::size_t rank = 0; rank < 2; ++rank) {
                std::fill_n(wanted.begin() + static_cast<std::ptrdiff_t>(places[rank]),
                            counts[rank], 10 * round + static_cast<int>(rank));
            }
            EXPECT_EQ(out, wanted) << "round " << round;
        }
    });
}

TEST(RepeatedCall, WrongPartsAreStillRefused) {
    threads(1, [](Team& team) {
        std::vector<int> data(20);
        const Counts count{6};
        const Counts place{2};
        const auto input = [&](std::size_t from) {
            return std::span<const int>(data).subspan(from, 6);
        };
        const auto output = [&](std::size_t from, std::size_t length) {
            return std::span(data).subspan(from, length);
        };
        team.allgatherv(input(0), output(8, 8), {count, place});
        team.allgatherv(input(2), output(8, 8), {count, place}); // Up to the output.
        team.allgatherv(input(4), output(8, 8), {count, place}); // Up to the part.
        expect_invalid([&] { team.allgatherv(input(5), output(8, 8), {count, place}); });
        expect_invalid([&] { team.allgatherv(input(0), output(4, 7), {count, place}); });
        expect_invalid([&] { team.allgatherv(input(0), output(3, 8), {count, place}); });
        expect_invalid([&] { team.allgatherv(input(0), output(8, 8), {count, Counts{3}}); });
        expect_invalid([&] { team.allgatherv(input(0), output(8, 8), {Counts{7}, place}); });
        const std::span<int> nothing(static_cast<int*>(nullptr), 8);
        expect_invalid([&] { team.allgatherv(input(0), nothing, {count, place}); });
        team.allgatherv(input(0), output(8, 8), {count, place});
    });
}

} // namespace
} // namespace corymb
