// SPDX-License-Identifier: Apache-2.0
// Ranks whose CPUs others want, too: other teams of the job, such as those that a split has made
// beside theirs, or what TeamOptions::ranks_per_cpu tells of. They give their CPU away as ranks of
// a team that is too large do, but not by their teammates' counts, which say nothing of the others.
#include "base/usable_cpus.hpp"
#include "team/team_shared.hpp"

#include <corymb/error.hpp>
#include <corymb/team.hpp>
#include <corymb/usable_cpus.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace corymb {
namespace {

std::shared_ptr<detail::TeamShared> made(int size, std::vector<int> cpus, int ranks_per_cpu) {
    auto memory = std::make_shared<HeapMemory>();
    const Arena arena(*memory);
    TeamOptions options;
    options.cpus = std::move(cpus);
    options.ranks_per_cpu = ranks_per_cpu;
    return std::make_shared<detail::TeamShared>(memory, arena, size, options);
}

class Strangers : public testing::Test {
protected:
    void SetUp() override {
        if (usable_cpus().count() < 2) {
            GTEST_SKIP() << "every team of two is crowded here";
        }
        cpus_ = usable_cpus().allowed;
    }
    std::vector<int> on_two_cpus(int ranks) const {
        std::vector<int> of;
        for (int rank = 0; rank < ranks; ++rank) {
            of.push_back(cpus_[static_cast<std::size_t>(rank % 2)]);
        }
        return of;
    }
    std::vector<int> cpus_;
};

TEST_F(Strangers, CrowdATeamThatHasACpuForEachRank) {
    EXPECT_FALSE(made(2, on_two_cpus(2), 0)->oversubscribed);
    EXPECT_FALSE(made(2, on_two_cpus(2), 1)->oversubscribed);
    const auto crowded = made(2, on_two_cpus(2), 3);
    EXPECT_TRUE(crowded->oversubscribed);
    EXPECT_EQ(crowded->ranks_per_cpu(), 3);
    EXPECT_EQ(crowded->crowd, nullptr);
}

TEST_F(Strangers, AreNotTheTeamsOwnRanks) {
    const auto alone = made(4, on_two_cpus(4), 0);
    EXPECT_EQ(alone->ranks_per_cpu(), 2);
    EXPECT_NE(alone->crowd, nullptr);
    const auto told = made(4, on_two_cpus(4), 2); // What it knows anyway.
    EXPECT_EQ(told->ranks_per_cpu(), 2);
    EXPECT_NE(told->crowd, nullptr);
}

TEST_F(Strangers, AreThoseWhoWereLeftOutOfAPart) {
    const auto whole = made(4, on_two_cpus(4), 0);
    const auto part = whole->part(Arena(*whole->memory).root(), {0, 1});
    EXPECT_TRUE(part->oversubscribed);
    EXPECT_EQ(part->ranks_per_cpu(), 2);
    EXPECT_EQ(part->crowd, nullptr);
    const auto survivors = made(4, on_two_cpus(4), 0);
    EXPECT_FALSE(
        survivors
            ->part(Arena(*survivors->memory).root(), {0, 1}, detail::TeamShared::Rest::has_gone)
            ->oversubscribed);
    const auto roomy = made(2, on_two_cpus(2), 0);
    EXPECT_FALSE(roomy->part(Arena(*roomy->memory).root(), {0, 1})->oversubscribed);
}

TEST(RanksPerCpu, MayNotBeNegative) {
    TeamOptions options;
    options.ranks_per_cpu = -1;
    try {
        ThreadTeam team(2, options);
        FAIL() << "was accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
        EXPECT_NE(std::string(error.what()).find("ranks_per_cpu is -1"), std::string::npos);
    }
}

TEST(RanksPerCpu, ChangesNoResult) {
    TeamOptions options;
    options.ranks_per_cpu = 8;
    std::atomic<int> right{0};
    threads(
        2,
        [&right](Team& team) {
            for (int i = 0; i < 50; ++i) {
                std::vector<double> in(3000, team.rank() + i);
                std::vector<double> out(in.size());
                team.allreduce(std::span<const double>(in), std::span(out));
                team.broadcast(std::span(in), i % 2);
                team.barrier();
                right += out.back() == 2 * i + 1 && in.front() == i % 2 + i ? 1 : 0;
            }
        },
        options);
    EXPECT_EQ(right.load(), 100);
}

} // namespace
} // namespace corymb
