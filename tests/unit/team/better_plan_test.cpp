// SPDX-License-Identifier: Apache-2.0
// Calls begin with a fair plan, and all ranks go over to a better one at the same call.
#include "cache_directory.hpp"
#include "limits.hpp"
#include "modes.hpp"
#include "team/team_plans.hpp"
#include "team/team_shared.hpp"

#include <corymb/planner.hpp>
#include <corymb/team.hpp>
#include <corymb/usable_cpus.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace corymb {
namespace {

using detail::TeamPlans;

/// More than usable CPUs, and no other test's.
int crowded_size(int more) {
    return usable_cpus().count() + more;
}

plan::ProvenPlan named(const PlanNeed& need, const char* algorithm) {
    Machine machine;
    machine.name = "any";
    for (int pu = 0; pu < need.size; ++pu) {
        machine.topology.pus.push_back(Pu{.cpu = pu});
    }
    machine.group.assign(static_cast<std::size_t>(need.size), 0);
    machine.group_class = {0};
    PairClass pair;
    pair.send = {30, 30, 30, 1};
    pair.receive = {100, 100, 100, 1};
    machine.classes.push_back(pair);
    PlanRequest request;
    request.op = need.op;
    request.root = is_rooted(need.op) ? need.root : -1;
    request.bytes = need.bytes;
    request.algorithm = algorithm;
    return plan::ProvenPlan(make_plan(machine, request).plan);
}

class BetterPlan : public CacheDirectory {
protected:
    /// Teams of a size that no other test has: the process remembers plans.
    std::shared_ptr<detail::TeamShared> team(int size) {
        auto memory = std::make_shared<HeapMemory>();
        const Arena arena(*memory);
        return std::make_shared<detail::TeamShared>(memory, arena, size, TeamOptions{});
    }
    team::DefaultPlans made() {
        team::DefaultPlans plans;
        plans.fair = [](const PlanNeed& need) {
            return team::FairPlan{named(need, "star"), false};
        };
        plans.search = [this](const PlanNeed& need, const std::stop_token& stop) {
            ++searches_;
            while (is_held_ && !stop.stop_requested()) {
                std::this_thread::yield();
            }
            return stop.stop_requested() ? std::optional<plan::ProvenPlan>()
                                         : named(need, "binomial");
        };
        return plans;
    }
    static team::PlanKey key_of(Collective op, Rank root = 0) { return {op, root, 8}; }

    std::atomic<int> searches_ = 0;
    std::atomic<bool> is_held_ = false;
};

constexpr std::int64_t long_ns = 1'000'000'000'000;

/// Rank 0 asks, and waits as long as it must.
class AskedPlans : public TeamPlans {
public:
    AskedPlans(detail::TeamShared& shared, team::DefaultPlans made)
        : TeamPlans(shared, std::move(made)), shared_(shared) {}
    Agreed agree(team::LaneId lane, const team::PlanKey& key, unsigned turn,
                 std::int64_t spent_ns) {
        detail::PlanWait wait(shared_, 0, long_ns);
        return TeamPlans::agree(lane, key, turn, spent_ns, wait);
    }
    Agreed agree_on_best(team::LaneId lane, const team::PlanKey& key, unsigned turn) {
        detail::PlanWait wait(shared_, 0, long_ns);
        return TeamPlans::agree_on_best(lane, key, turn, wait);
    }

private:
    detail::TeamShared& shared_;
};

TEST_F(BetterPlan, ComesAtTheSameQuestionForAllRanks) {
    const auto shared = team(41);
    AskedPlans plans(*shared, made());
    const team::PlanKey key = key_of(Collective::broadcast);
    EXPECT_EQ(plans.agree(0, key, 0, 0).plan->plan->algorithm, "star");
    EXPECT_FALSE(plans.agree(0, key, 1, 0).is_last);
    EXPECT_EQ(searches_, 0);
    is_held_ = true;
    EXPECT_FALSE(plans.agree(0, key, 2, long_ns).is_last); // Does not wait for the search.
    is_held_ = false;
    unsigned turn = 3;
    while (!plans.agree(0, key, turn, 0).is_last) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ASSERT_LT(++turn, TeamPlans::turns_max);
    }
    EXPECT_EQ(plans.in_use(key, 0).algorithm, "binomial");
    EXPECT_EQ(searches_, 1);
    // A rank that comes later to the questions before gets the answers that others got.
    for (unsigned before = 0; before < turn; ++before) {
        EXPECT_EQ(plans.agree(0, key, before, 0).plan->plan->algorithm, "star") << before;
    }
    EXPECT_EQ(plans.agree(0, key, turn, 0).plan->plan->algorithm, "binomial");
    // Another lane asks for itself, another team begins with what is known.
    EXPECT_EQ(plans.agree(3, key, 0, 0).plan->plan->algorithm, "binomial");
    const auto other = team(41);
    AskedPlans second(*other, made());
    EXPECT_TRUE(second.agree(0, key, 0, 0).is_last);
    EXPECT_EQ(second.in_use(key, 0).algorithm, "binomial");
}

TEST_F(BetterPlan, IsNotSearchedForBeforeCallsHaveTakenAsLong) {
    const auto shared = team(42);
    AskedPlans plans(*shared, made());
    const team::PlanKey key = key_of(Collective::broadcast);
    for (unsigned turn = 0; turn < 10; ++turn) {
        EXPECT_FALSE(plans.agree(0, key, turn, 1).is_last);
    }
    EXPECT_EQ(searches_, 0);
}

TEST_F(BetterPlan, IsForLaterTeamsWhereResultsDependOnIt) {
    const auto shared = team(46);
    team::PlanKey key = key_of(Collective::reduce);
    key.stays = true;
    {
        AskedPlans plans(*shared, made());
        for (unsigned turn = 0; turn < 20; ++turn) {
            EXPECT_EQ(plans.agree(0, key, turn, long_ns).plan->plan->algorithm, "star");
            std::this_thread::sleep_for(std::chrono::milliseconds(turn < 2 ? 0 : 20));
        }
        EXPECT_EQ(searches_, 1);
    }
    const auto second = team(46);
    AskedPlans later(*second, made());
    EXPECT_EQ(later.agree(0, key, 0, 0).plan->plan->algorithm, "binomial");
}

/// Numbers whose sums are rounded differently in another order.
TEST_F(BetterPlan, EqualSumsOfFloatingPointAreEqual) {
    threads(crowded_size(5), [](Team& team) {
        std::vector<double> own(100);
        for (std::size_t place = 0; place < own.size(); ++place) {
            own[place] = 1.0 / (1.0 + static_cast<double>(place) + 7.0 * team.rank());
        }
        std::vector<double> first(own.size());
        team.allreduce(std::span<const double>(own), std::span(first));
        for (int call = 0; call < 200; ++call) {
            std::vector<double> again(own.size());
            team.allreduce(std::span<const double>(own), std::span(again));
            ASSERT_EQ(again, first) << call;
        }
    });
}

TEST_F(BetterPlan, TheEndOfATeamEndsItsSearch) {
    const auto shared = team(43);
    is_held_ = true;
    {
        AskedPlans plans(*shared, made());
        static_cast<void>(plans.agree(0, key_of(Collective::reduce), 1, long_ns));
        while (searches_ == 0) {
            std::this_thread::yield();
        }
    }
    is_held_ = false;
    AskedPlans plans(*shared, made()); // What was not finished may be begun again.
    unsigned turn = 1;
    while (!plans.agree(1, key_of(Collective::reduce), turn, long_ns).is_last) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ASSERT_LT(++turn, TeamPlans::turns_max);
    }
    EXPECT_EQ(searches_, 2);
}

TEST_F(BetterPlan, WhoWarmsUpHasItAtOnce) {
    const auto shared = team(44);
    AskedPlans plans(*shared, made());
    const team::PlanKey key = key_of(Collective::scatter);
    EXPECT_EQ(plans.agree(0, key, 0, 0).plan->plan->algorithm, "star");
    EXPECT_EQ(plans.agree_on_best(0, key, 1).plan->plan->algorithm, "binomial");
    EXPECT_EQ(plans.agree(0, key, 1, 0).plan->plan->algorithm, "binomial");
    EXPECT_EQ(searches_, 1);
}

TEST_F(BetterPlan, OneThatFailsLeavesTheFirst) {
    const auto shared = team(45);
    team::DefaultPlans failing = made();
    failing.search = [this](const PlanNeed&,
                            const std::stop_token&) -> std::optional<plan::ProvenPlan> {
        ++searches_;
        throw Error(Errc::invalid_argument, "none");
    };
    AskedPlans plans(*shared, failing);
    const team::PlanKey key = key_of(Collective::broadcast);
    const auto end = std::chrono::steady_clock::now() + test_limit();
    int turns_after = 12; // The search has a thread of its own.
    for (unsigned turn = 0; turns_after > 0; ++turn) {
        ASSERT_LT(std::chrono::steady_clock::now(), end) << "nobody has searched";
        EXPECT_EQ(plans.agree(0, key, turn, long_ns).plan->plan->algorithm, "star");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        turns_after -= searches_ > 0 ? 1 : 0;
    }
    EXPECT_EQ(searches_, 1);
}

/// Sums and broadcasts of every kind of call, so often that plans change on the way.
void call_again_and_again(Team& team, int rounds) {
    constexpr std::size_t count = 500;
    const Rank rank = team.rank();
    const Rank size = team.size();
    for (int round = 0; round < rounds; ++round) {
        const Rank root = round % size;
        const std::vector<int> own(count, rank + round);
        const int sum = size * (size - 1) / 2 + size * round;
        std::vector<int> all(count);
        team.allreduce(std::span<const int>(own), std::span(all));
        ASSERT_EQ(all, std::vector<int>(count, sum)) << round;
        std::vector<int> later(count);
        Request request = team.iallreduce(std::span<const int>(own), std::span(later));
        std::vector<int> data(count, rank == root ? round : -1);
        team.broadcast(std::span(data), root);
        ASSERT_EQ(data, std::vector<int>(count, round));
        request.wait();
        ASSERT_EQ(later, std::vector<int>(count, sum)) << round;
        if (round == rounds / 3) {
            team.warm_up(Collective::broadcast, count * sizeof(int), root);
        }
        if (round == rounds / 2) {
            team.warm_up(Collective::allreduce, count * sizeof(int));
        }
    }
}

TEST_F(BetterPlan, ResultsAreRightWhilePlansChange) {
    for (const int size : {3, 5, crowded_size(4)}) {
        std::mutex mutex;
        std::set<std::string> hashes;
        threads(size, [&](Team& team) {
            call_again_and_again(team, 300);
            const std::lock_guard lock(mutex);
            hashes.insert(plan_hash(team.plan(Collective::allreduce, 2000)));
        });
        EXPECT_EQ(hashes.size(), 1U);
    }
}

TEST_F(BetterPlan, WarmingUpChecksItsArguments) {
    threads(3, [](Team& team) {
        EXPECT_THROW(team.warm_up(Collective::broadcast, 8, 3), Error);
        EXPECT_THROW(team.warm_up(Collective::broadcast, 8, -1), Error);
        team.warm_up(Collective::barrier);
        team.barrier();
    });
    Team none;
    EXPECT_THROW(none.warm_up(Collective::barrier), Error);
}

} // namespace
} // namespace corymb
