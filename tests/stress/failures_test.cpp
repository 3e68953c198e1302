// SPDX-License-Identifier: Apache-2.0
// Ranks that stay away or throw, in the middle of random traffic: everybody else learns it, by
// name, and a new team works.
#include "stress.hpp"

#include <base/random.hpp>

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;

/// Operation k of a sequence that all ranks know.
void operation(Team& team, std::uint64_t k) {
    std::vector<std::int64_t> data(k % 5 == 4 ? 3000 : 3, team.rank());
    const Rank root = static_cast<Rank>(k) % team.size();
    // Peers may be at them until the call has ended, in an error or not.
    std::vector<std::int64_t> all(data.size() * static_cast<std::size_t>(team.size()));
    switch (k % 6) {
    case 0: team.barrier(); break;
    case 1: team.broadcast(std::span(data), root); break;
    case 2:
        team.reduce(std::span<const std::int64_t>(data), std::span(all).first(data.size()),
                    std::plus<>{}, root);
        break;
    case 3: team.gather(std::span<const std::int64_t>(data), std::span(all), root); break;
    default: team.allreduce(std::span<const std::int64_t>(data), std::span(data)); break;
    }
}

void operations(Team& team, std::uint64_t number) {
    for (std::uint64_t k = 0; k < number; ++k) {
        operation(team, k);
    }
}

constexpr std::uint64_t sequence = 40;

/// Does the whole sequence and a barrier, which nobody gets through while somebody is missing. A
/// rank that waits for a rank that waits for the absent one may have to name both.
bool fails_naming(Team& team, Rank absent) {
    try {
        operations(team, sequence);
        team.barrier();
    } catch (const Error& error) {
        EXPECT_TRUE(error.code() == Errc::timeout || error.code() == Errc::team_broken)
            << error.what();
        const auto& named = error.ranks();
        return std::find(named.begin(), named.end(), absent) != named.end();
    }
    return false;
}

class FailuresTest : public ::testing::TestWithParam<int> {};

TEST_P(FailuresTest, ARankThatStaysAwayIsNamedToAllOthers) {
    const int size = GetParam();
    const auto deadline = scaled(2s); // A rank that plans for the first time is late, too.
    for (std::uint64_t seed = 1; seed <= stress::rounds(3); ++seed) {
        Random random(seed);
        const auto absent = static_cast<Rank>(random.below(static_cast<std::uint32_t>(size)));
        const std::uint64_t leaves = random.below(sequence);
        ThreadTeam team(size, stress::options(stress::mixed_plans(seed), deadline));
        std::atomic<int> told{0};
        {
            std::vector<std::jthread> threads;
            for (Rank rank = 0; rank < size; ++rank) {
                threads.emplace_back([&, rank] {
                    Team mine = team.join(rank);
                    if (rank == absent) {
                        EXPECT_NO_THROW(operations(mine, leaves));
                    } else if (fails_naming(mine, absent)) {
                        told.fetch_add(1, std::memory_order_relaxed);
                    }
                });
            }
        }
        EXPECT_EQ(told.load(std::memory_order_relaxed), size - 1);
    }
}

TEST_P(FailuresTest, ARankThatThrowsEndsEverybodyAtOnce) {
    const int size = GetParam();
    for (std::uint64_t seed = 1; seed <= stress::rounds(10); ++seed) {
        Random random(seed);
        const auto thrower = static_cast<Rank>(random.below(static_cast<std::uint32_t>(size)));
        const std::uint64_t when = random.below(sequence);
        std::atomic<int> broken{0};
        const auto body = [&](Team& team) {
            try {
                for (std::uint64_t k = 0; k < sequence; ++k) {
                    if (team.rank() == thrower && k == when) {
                        throw std::runtime_error("had enough");
                    }
                    operation(team, k);
                }
                team.barrier();
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), Errc::team_broken) << error.what();
                broken.fetch_add(1, std::memory_order_relaxed);
                throw;
            }
        };
        try {
            threads(size, body, stress::options(stress::mixed_plans(seed), 5 * test_limit()));
            ADD_FAILURE() << "threads() returned although a rank threw";
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "had enough");
        }
        EXPECT_EQ(broken.load(std::memory_order_relaxed), size - 1);
        threads(
            size, [&](Team& team) { EXPECT_EQ(team.allreduce(1), size); },
            stress::options(stress::mixed_plans(seed)));
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, FailuresTest, ::testing::Values(2, 3, 5, 8),
                         [](const auto& parameter) { return std::to_string(parameter.param); });

} // namespace
} // namespace corymb
