// SPDX-License-Identifier: Apache-2.0
// Long nonblocking collectives, most of them of more than 128 KiB, which go on one after the other
// beside the short ones (docs/internals/requests.md, "Long collectives").
#include "limits.hpp"
#include "sample_plans.hpp"

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;
using namespace team_test;

constexpr std::array<std::size_t, 6> lengths = {1, 100, 16'000, 40'000, 50'000, 100'000};

/// What rank `rank` has in operation `number`.
std::vector<std::int32_t> data_of(std::size_t number, std::size_t length, Rank rank) {
    std::vector<std::int32_t> data(length);
    std::iota(data.begin(), data.end(), static_cast<std::int32_t>(number) * 1000 + rank);
    return data;
}

/// One operation of a rank with what it must bring.
struct Case {
    std::vector<std::int32_t> in;
    std::vector<std::int32_t> out;
    std::vector<std::int32_t> expected;
    Request request;
};

void start(Team& team, Case& one, std::size_t number, int kind, std::size_t length) {
    const auto size = static_cast<std::size_t>(team.size());
    const Rank root = static_cast<Rank>(number) % team.size();
    one.in = data_of(number, length, team.rank());
    switch (kind) {
    case 0:
        one.out = team.rank() == root ? one.in : std::vector<std::int32_t>(length);
        one.expected = data_of(number, length, root);
        one.request = team.ibroadcast(std::span(one.out), root);
        break;
    case 1:
        one.out.resize(length);
        one.expected = data_of(number, length, team.size() - 1);
        one.request =
            team.iallreduce(std::span<const std::int32_t>(one.in), std::span(one.out), maximum{});
        break;
    case 2: // Long from a shorter part on.
        one.in = data_of(number, length * size, team.rank());
        one.out.resize(length);
        one.expected = data_of(number, length * size, team.size() - 1);
        one.expected.erase(one.expected.begin(),
                           one.expected.begin() +
                               static_cast<std::ptrdiff_t>(length) * team.rank());
        one.expected.resize(length);
        one.request = team.ireduce_scatter(std::span<const std::int32_t>(one.in),
                                           std::span(one.out), maximum{});
        break;
    default:
        one.out.resize(length * size);
        for (Rank rank = 0; rank < team.size(); ++rank) {
            const auto part = data_of(number, length, rank);
            one.expected.insert(one.expected.end(), part.begin(), part.end());
        }
        one.request = team.iallgather(std::span<const std::int32_t>(one.in), std::span(one.out));
    }
}

TEST(LongRequestsTest, AllLengthsTogetherInAnyOrder) {
    for (const int size : {2, 3, 5}) {
        threads(size, [](Team& team) {
            std::mt19937 same(7); // What is called; the order of completion is a rank's own.
            std::mt19937 own(static_cast<unsigned>(team.rank()));
            for (int round = 0; round < 8; ++round) {
                std::vector<Case> cases(20);
                for (std::size_t number = 0; number < cases.size(); ++number) {
                    const std::size_t length = lengths[same() % lengths.size()];
                    start(team, cases[number], number, static_cast<int>(same() % 4), length);
                    if (number % 7 == 0) {
                        team.barrier(); // Goes on with the others.
                    }
                }
                std::shuffle(cases.begin(), cases.end(), own);
                for (Case& one : cases) {
                    one.request.wait();
                    ASSERT_EQ(one.out, one.expected);
                }
            }
        });
    }
}

TEST(LongRequestsTest, EachGoesOnAsSoonAsTheLastOneIsDone) {
    ThreadTeam threads(2);
    std::array<Team, 2> team = {threads.join(0), threads.join(1)};
    constexpr std::size_t count = 20;
    std::array<std::vector<Case>, 2> cases;
    for (auto& of : cases) {
        of.resize(count);
    }
    for (std::size_t number = 0; number < count; ++number) {
        start(team[0], cases[0][number], number, 0, 40'000);
    }
    for (std::size_t number = 0; number < count; ++number) {
        start(team[1], cases[1][number], number, 0, 40'000);
    }
    for (std::size_t turn = 0; turn < 2 * count; ++turn) { // One look each for an operation.
        static_cast<void>(team[turn % 2].progress());
    }
    for (std::size_t rank = 0; rank < 2; ++rank) {
        EXPECT_EQ(team[rank].progress(), 0u);
        for (Case& one : cases[rank]) {
            EXPECT_TRUE(one.request.test());
            EXPECT_EQ(one.out, one.expected);
        }
    }
}

TEST(LongRequestsTest, WhatHoldsUpTheLastOneIsNamed) {
    TeamOptions options;
    options.deadline = 50ms;
    ThreadTeam threads(2, options);
    Team team = threads.join(0);
    std::array<std::vector<char>, 2> data = {std::vector<char>(140'000),
                                             std::vector<char>(190'000)};
    Request first = team.ibroadcast(std::span(data[0]), 1);
    Request second = team.ibroadcast(std::span(data[1]), 1);
    try {
        second.wait();
        FAIL() << "completed without rank 1";
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_EQ(error.ranks(), std::vector<int>{1});
        EXPECT_NE(text.find("broadcast (operation 1 of a team of 2)"), std::string::npos) << text;
        EXPECT_NE(text.find("on lane 1"), std::string::npos) << text;
    }
}

TEST(LongRequestsTest, AShortOneOfAPeerIsAMismatch) {
    std::array<std::string, 2> told;
    TeamOptions options;
    options.deadline = test_limit();
    threads(
        2,
        [&](Team& team) {
            try {
                std::vector<char> data(team.rank() == 0 ? 100 : 200'000);
                team.ibroadcast(std::span(data), 0).wait();
                team.barrier();
            } catch (const Error& error) {
                told[static_cast<std::size_t>(team.rank())] = error.what();
            }
        },
        options);
    for (const std::string& text : told) {
        EXPECT_NE(text.find("broadcast of 100 bytes"), std::string::npos) << text;
        EXPECT_NE(text.find("broadcast of 200000 bytes"), std::string::npos) << text;
    }
}

} // namespace
} // namespace corymb
