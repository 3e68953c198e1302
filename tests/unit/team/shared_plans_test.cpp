// SPDX-License-Identifier: Apache-2.0
// A plan is made once for all calls that it is the same for: of teams of one shape, and of roots
// that are alike.
#include <corymb/team.hpp>
#include <corymb/usable_cpus.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace corymb {
namespace {

constexpr Collective rooted[] = {Collective::broadcast, Collective::reduce, Collective::gather,
                                 Collective::scatter};

/// Its ranks take turns on the CPUs: all of them are alike.
int crowded_size() {
    return usable_cpus().count() + 3;
}

TEST(SharedPlans, TeamsOfOneShapeHaveTheSame) {
    const int size = crowded_size();
    ThreadTeam one(size);
    ThreadTeam two(size);
    ThreadTeam larger(size + 1);
    Team of_one = one.join(0);
    Team of_two = two.join(1);
    Team of_larger = larger.join(0);
    for (const Collective op : {Collective::barrier, Collective::allreduce, Collective::gather}) {
        const Plan& plan = of_one.plan(op, 1000);
        EXPECT_EQ(&plan, &of_two.plan(op, 1000)) << to_string(op);
        EXPECT_NE(&plan, &of_larger.plan(op, 1000)) << to_string(op);
    }
}

TEST(SharedPlans, PlansOfTheUserAreNotShared) {
    TeamOptions options;
    int asked = 0;
    ThreadTeam standard(2);
    options.plans = [&](const PlanNeed& need) {
        ++asked;
        return standard.join(asked - 1).plan(need.op, need.bytes, need.root);
    };
    ThreadTeam one(2, options);
    ThreadTeam two(2, options);
    static_cast<void>(one.join(0).plan(Collective::barrier));
    static_cast<void>(two.join(0).plan(Collective::barrier));
    EXPECT_EQ(asked, 2);
}

TEST(SharedPlans, RootsThatAreAlikeHaveOneRenumbered) {
    const int size = crowded_size();
    ThreadTeam ranks(size);
    Team team = ranks.join(0);
    for (const Collective op : rooted) {
        const Plan& first = team.plan(op, 4096, 0);
        for (Rank root = 1; root < size; ++root) {
            const Plan& plan = team.plan(op, 4096, root);
            EXPECT_EQ(plan.root, root);
            EXPECT_EQ(plan.algorithm, first.algorithm);
            for (Rank rank = 0; rank < size; ++rank) {
                const auto to = static_cast<std::size_t>((rank + root) % size);
                EXPECT_EQ(plan.steps[to].size(), first.steps[static_cast<std::size_t>(rank)].size())
                    << to_string(op) << " from " << root;
            }
        }
    }
}

/// Each root in turn; ranks tell what they have got.
void expect_right_results(Team& team, std::size_t count) {
    const Rank rank = team.rank();
    const Rank size = team.size();
    const auto all = static_cast<std::size_t>(size) * count;
    for (Rank root = 0; root < size; ++root) {
        std::vector<int> data(count, rank == root ? 1000 + root : -1);
        team.broadcast(std::span(data), root);
        EXPECT_EQ(data, std::vector<int>(count, 1000 + root));

        const std::vector<int> own(count, rank + 1);
        std::vector<int> sum(count);
        team.reduce(std::span<const int>(own), std::span(sum), std::plus<>(), root);
        std::vector<int> gathered(rank == root ? all : 0);
        team.gather(std::span<const int>(own), std::span(gathered), root);
        if (rank == root) {
            EXPECT_EQ(sum, std::vector<int>(count, size * (size + 1) / 2));
            for (std::size_t place = 0; place < all; ++place) {
                ASSERT_EQ(gathered[place], static_cast<int>(place / count) + 1) << place;
            }
        }
        std::vector<int> parts(rank == root ? all : 0);
        std::iota(parts.begin(), parts.end(), root);
        std::vector<int> part(count);
        team.scatter(std::span<const int>(parts), std::span(part), root);
        std::vector<int> expected(count);
        std::iota(expected.begin(), expected.end(), root + rank * static_cast<int>(count));
        EXPECT_EQ(part, expected);
    }
}

TEST(SharedPlans, EveryRootGetsRightResults) {
    for (const int size : {2, 3, 5, crowded_size()}) {
        for (const std::size_t count : {std::size_t{1}, std::size_t{700}, std::size_t{20'000}}) {
            threads(size, [&](Team& team) { expect_right_results(team, count); });
        }
    }
}

} // namespace
} // namespace corymb
