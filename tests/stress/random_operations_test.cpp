// SPDX-License-Identifier: Apache-2.0
// Random sequences of operations with plans of every algorithm, more ranks than CPUs included. All
// ranks draw the same sequence from the same seed and know what must come out.
#include "stress.hpp"

#include <base/random.hpp>

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace corymb {
namespace {

constexpr std::array<std::size_t, 8> counts{1, 2, 7, 8, 100, 1024, 1500, 20000};

/// One rank's walk through the sequence.
class Walk {
public:
    Walk(Team& team, std::uint64_t seed) : team_(&team), random_(seed) {}

    void operations(std::uint64_t number) {
        for (std::uint64_t k = 0; k < number && !::testing::Test::HasFailure(); ++k) {
            one();
        }
    }

private:
    void one() {
        const auto kind = random_.below(9);
        const std::size_t count = counts[random_.below(counts.size())];
        const auto root = static_cast<Rank>(random_.below(static_cast<std::uint32_t>(size())));
        const auto base = static_cast<std::int64_t>(random_.below(1000));
        switch (kind) {
        case 0:
        case 1: team_->barrier(); break;
        case 2:
        case 3: broadcast(count, root, base); break;
        case 4:
        case 5: reduce(count, root, base); break;
        case 6:
        case 7: allreduce(count, base); break;
        default: values(root, base); break;
        }
    }

    void broadcast(std::size_t count, Rank root, std::int64_t base) {
        std::vector<std::int64_t> data(count, -1);
        if (rank() == root) {
            fill(data, base, 3);
        }
        team_->broadcast(std::span(data), root);
        expect(data, base, 3, "broadcast");
    }

    void reduce(std::size_t count, Rank root, std::int64_t base) {
        const auto input = contribution(count, base);
        std::vector<std::int64_t> output(rank() == root ? count : 0, -1);
        team_->reduce(std::span<const std::int64_t>(input), std::span(output), std::plus<>(), root);
        if (rank() == root) {
            expect(output, base * size() + ranks_sum(), size(), "reduce");
        }
        EXPECT_EQ(input, contribution(count, base)) << "reduce changed its input";
    }

    void allreduce(std::size_t count, std::int64_t base) {
        auto data = contribution(count, base);
        if (base % 2 == 0) {
            team_->allreduce(std::span<const std::int64_t>(data), std::span(data));
        } else {
            const auto input = data;
            team_->allreduce(std::span<const std::int64_t>(input), std::span(data));
        }
        expect(data, base * size() + ranks_sum(), size(), "allreduce");
    }

    void values(Rank root, std::int64_t base) {
        EXPECT_EQ(team_->broadcast(rank() == root ? base : -1, root), base);
        EXPECT_EQ(team_->allreduce(base + rank()), base * size() + ranks_sum());
        EXPECT_EQ(team_->allreduce(base + rank(), maximum{}), base + size() - 1);
        EXPECT_EQ(team_->allreduce(base + rank(), minimum{}), base);
    }

    /// Element i of this rank: base + rank + i.
    [[nodiscard]] std::vector<std::int64_t> contribution(std::size_t count,
                                                         std::int64_t base) const {
        std::vector<std::int64_t> data(count);
        fill(data, base + rank(), 1);
        return data;
    }
    static void fill(std::vector<std::int64_t>& data, std::int64_t first, std::int64_t step) {
        for (std::size_t i = 0; i < data.size(); ++i) {
            data[i] = first + static_cast<std::int64_t>(i) * step;
        }
    }
    void expect(const std::vector<std::int64_t>& data, std::int64_t first, std::int64_t step,
                const char* what) const {
        std::vector<std::int64_t> wanted(data.size());
        fill(wanted, first, step);
        EXPECT_TRUE(data == wanted)
            << what << " of " << data.size() << " on rank " << rank() << " of " << size();
    }
    [[nodiscard]] Rank rank() const { return team_->rank(); }
    [[nodiscard]] std::int64_t size() const { return team_->size(); }
    [[nodiscard]] std::int64_t ranks_sum() const { return size() * (size() - 1) / 2; }

    Team* team_;
    Random random_;
};

class RandomOperationsTest : public ::testing::TestWithParam<int> {};

TEST_P(RandomOperationsTest, EveryAlgorithmGivesTheSameResults) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        threads(
            GetParam(), [&](Team& team) { Walk(team, seed).operations(stress::rounds(60)); },
            stress::options(stress::mixed_plans(seed)));
    }
}

TEST_P(RandomOperationsTest, DefaultPlans) {
    threads(
        GetParam(), [&](Team& team) { Walk(team, 99).operations(stress::rounds(60)); },
        stress::options());
}

TEST_P(RandomOperationsTest, EverySingleWaitPolicy) {
    for (const WaitPolicy policy : {WaitPolicy::spin, WaitPolicy::yield, WaitPolicy::park}) {
        if (policy == WaitPolicy::spin && GetParam() > 4) {
            continue; // Spinning with many ranks on few CPUs only waits for time slices.
        }
        TeamOptions options = stress::options(stress::mixed_plans(5));
        options.wait = policy;
        threads(
            GetParam(), [&](Team& team) { Walk(team, 7).operations(stress::rounds(20)); }, options);
    }
}

TEST_P(RandomOperationsTest, SubTeamsOfSubTeams) {
    threads(
        GetParam(),
        [&](Team& team) {
            for (std::uint64_t round = 0; round < stress::rounds(4); ++round) {
                Team half = team.split(team.rank() % 2, -team.rank());
                Walk(half, 100 + round).operations(10);
                EXPECT_EQ(team.allreduce(1), team.size());
                Team quarter = half.split(half.rank() < (half.size() + 1) / 2 ? 0 : -1);
                if (quarter.size() != 0) {
                    Walk(quarter, 200 + round).operations(10);
                }
                Walk(half, 300 + round).operations(5);
                Walk(team, 400 + round).operations(5);
            }
        },
        stress::options(stress::mixed_plans(11)));
}

INSTANTIATE_TEST_SUITE_P(Sizes, RandomOperationsTest, ::testing::Values(1, 2, 3, 4, 7, 16),
                         [](const auto& parameter) { return std::to_string(parameter.param); });

} // namespace
} // namespace corymb
