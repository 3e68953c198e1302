// SPDX-License-Identifier: Apache-2.0
// A call that was made before is not checked anew where nothing has changed, and is where it has.
#include <corymb/error.hpp>
#include <corymb/team.hpp>

#include <gtest/gtest.h>

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

} // namespace
} // namespace corymb
