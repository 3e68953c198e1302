// SPDX-License-Identifier: Apache-2.0
// Plans of operations that are called again and again are timed beside each other.
#include "cluster_team/switchboard.hpp"

#include "cluster/rehearsal.hpp"
#include "plan/nodes/scheme.hpp"

#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace corymb;
using cluster_test::on_nodes;

const std::vector<int> eight_nodes{0, 1, 2, 3, 4, 5, 6, 7};
constexpr const char* fast = "flat/doubling/messages";
constexpr const char* slow = "slow";
constexpr std::uint64_t fast_messages = 3; ///< To each rank.
constexpr std::uint64_t slow_messages = 33;

Plan plan_by(const char* scheme, const PlanNeed& need, const std::vector<int>& on = eight_nodes) {
    return nodes::plan_for(need.op, nodes::Layout(on), *nodes::scheme_named(scheme), need.bytes,
                           need.root);
}

/// The same after needless notifications around the ring.
Plan slowed(Plan plan, std::uint64_t messages = slow_messages) {
    const Rank size = plan.size();
    for (Rank rank = 0; rank < size; ++rank) {
        std::vector<Step> needless;
        for (std::uint64_t round = fast_messages; round < messages; ++round) {
            needless.push_back({.kind = StepKind::signal, .peer = (rank + 1) % size});
            needless.push_back({.kind = StepKind::wait, .peer = (rank + size - 1) % size});
        }
        auto& steps = plan.steps[static_cast<std::size_t>(rank)];
        steps.insert(steps.begin(), needless.begin(), needless.end());
    }
    plan.algorithm = slow;
    return plan;
}

/// The model's best is the slow one; `asked` gets the numbers of alternatives.
ClusterOptions slow_before_fast(std::set<int>& asked) {
    ClusterOptions options;
    options.plans = [&asked](const PlanNeed& need) {
        asked.insert(need.alternative);
        if (need.op == Collective::barrier || need.op == Collective::broadcast) {
            const bool barrier = need.op == Collective::barrier;
            return plan_by(barrier ? "flat/dissemination/messages" : "flat/binomial/messages",
                           need);
        }
        switch (need.alternative) {
        case 0: return slowed(plan_by(fast, need));
        case 1: return plan_by(fast, need);
        default: return Plan{};
        }
    };
    return options;
}

void gather_all(Team& team, int round) {
    const int mine = 10 * round + team.rank();
    std::vector<int> all(static_cast<std::size_t>(team.size()));
    team.allgather(std::span<const int>(&mine, 1), std::span(all));
    for (Rank rank = 0; rank < team.size(); ++rank) {
        EXPECT_EQ(all[static_cast<std::size_t>(rank)], 10 * round + rank);
    }
}

std::string algorithm(Team& team) {
    return team.chosen_plan(Collective::allgather, sizeof(int)).algorithm;
}

TEST(Rehearsal, FindsTheFasterPlanInTime) {
    std::set<int> asked;
    on_nodes(
        eight_nodes,
        [](Team& team) {
            int calls = 0;
            while (calls < 7) {
                gather_all(team, ++calls);
            }
            EXPECT_EQ(algorithm(team), slow) << "too early";
            while (calls < 2048 && algorithm(team) == slow) { // On all ranks in the same call.
                gather_all(team, ++calls);
            }
            EXPECT_EQ(algorithm(team), fast) << "after " << calls << " calls";
            for (int more = 0; more < 5; ++more) {
                gather_all(team, ++calls);
            }
        },
        slow_before_fast(asked));
    EXPECT_TRUE(asked.contains(1) && asked.contains(2));
}

/// Calls that take long are not held up by rehearsals that take as long as many of them.
TEST(Rehearsal, TakesAPartOfWhatCallsHaveTaken) {
    constexpr std::int64_t ms = 1'000'000;
    const team::PlanKey key{.op = Collective::alltoall, .bytes = 1 << 20};
    cluster::RehearsalPlan plan(true);
    EXPECT_GE(plan.plans_most(key, ms / 10), 2U) << "short ones may be timed in any case";
    EXPECT_EQ(plan.plans_most(key, 40 * ms), 0U);
    for (int call = 0; call < 128; ++call) {
        plan.note(key, 40 * ms);
    }
    EXPECT_EQ(plan.mean_ns(key), 40 * ms);
    const std::size_t after_128 = plan.plans_most(key, 40 * ms);
    EXPECT_GE(after_128, 2U);
    EXPECT_LE(after_128 * 40 * ms, 128 * 40 * ms / 10);
    plan.spend(key, 500 * ms);
    EXPECT_EQ(plan.plans_most(key, 40 * ms), 0U) << "all of that is spent";
    const team::PlanKey other{.op = Collective::alltoall, .bytes = 8};
    EXPECT_GE(plan.plans_most(other, ms / 10), 2U);
    plan.spend(key, 1500 * ms);
    EXPECT_EQ(plan.plans_most(other, ms), 0U) << "the team has spent enough";
}

/// More plans than one rehearsal has room for, the fast one last. Few ranks and short operations,
/// so that there is time for all of them in slow builds, too.
TEST(Rehearsal, GoesOnWithOtherPlans) {
    constexpr int slow_ones = 7; // With the best one eight.
    constexpr std::uint64_t few_messages = 12;
    const std::vector<int> nodes{0, 1, 2, 3};
    ClusterOptions options;
    options.plans = [&nodes](const PlanNeed& need) {
        const char* const scheme =
            need.op == Collective::allgather ? fast : "flat/dissemination/messages";
        Plan plan = plan_by(scheme, need, nodes);
        if (need.op != Collective::allgather || need.alternative == slow_ones + 1) {
            return plan;
        }
        return need.alternative > slow_ones
                   ? Plan{}
                   : slowed(plan, few_messages + static_cast<std::uint64_t>(need.alternative));
    };
    // On a busy machine there may be no time for enough of them.
    constexpr int teams_most = 24;
    std::atomic<int> found{0};
    for (int number = 0; number < teams_most && found == 0; ++number) {
        on_nodes(
            nodes,
            [&found](Team& team) {
                int calls = 0;
                while (calls < 8) {
                    gather_all(team, ++calls);
                }
                EXPECT_EQ(algorithm(team), slow) << "after the first one";
                while (calls < 2048 && algorithm(team) == slow) {
                    gather_all(team, ++calls);
                }
                found += algorithm(team) == fast ? 1 : 0;
            },
            options);
    }
    EXPECT_EQ(found, 4) << "ranks";
}

void expect_fast_in_time(const ClusterOptions& options) {
    on_nodes(
        eight_nodes,
        [](Team& team) {
            int calls = 0;
            while (calls < 2048 && (calls == 0 || algorithm(team) == slow)) {
                gather_all(team, ++calls);
            }
            EXPECT_EQ(algorithm(team), fast) << "after " << calls << " calls";
        },
        options);
}

/// A source may fail at one of its alternatives: those before it are timed.
TEST(Rehearsal, KeepsWhatCameBeforeARefusedPlan) {
    std::set<int> asked;
    ClusterOptions options = slow_before_fast(asked);
    options.plans = [source = options.plans](const PlanNeed& need) {
        if (need.alternative > 1) {
            throw Error(Errc::unsupported, "no more of them");
        }
        return source(need);
    };
    expect_fast_in_time(options);
}

/// Rehearsals begin with barriers, and an allreduce says which rank was the slowest.
TEST(Rehearsal, IsLeftOutWhereThereIsNoPlanForIt) {
    for (const Collective missing : {Collective::barrier, Collective::allreduce}) {
        std::set<int> asked;
        ClusterOptions options = slow_before_fast(asked);
        options.plans = [missing, source = options.plans](const PlanNeed& need) {
            if (need.op == missing) {
                throw Error(Errc::unsupported, "not of this kind");
            }
            return source(need);
        };
        on_nodes(
            eight_nodes,
            [](Team& team) {
                for (int round = 0; round < 140; ++round) {
                    gather_all(team, round);
                }
                EXPECT_EQ(algorithm(team), slow);
            },
            options);
    }
}

/// Two alternatives may come to the present plan, under other names.
TEST(Rehearsal, GoesOnBehindNamesOfThePresentPlan) {
    std::set<int> asked;
    ClusterOptions options = slow_before_fast(asked);
    options.plans = [source = options.plans](PlanNeed need) {
        constexpr int names = 2;
        const int number = need.alternative;
        need.alternative = std::max(0, number - names);
        Plan plan = source(need);
        if (number > 0 && number <= names) {
            plan.algorithm = slow + std::to_string(number);
        }
        return plan;
    };
    expect_fast_in_time(options);
}

/// What crosses the network in the program's calls, and nothing else; the requests of an operation
/// take the plan that was found.
TEST(Rehearsal, IsNotCounted) {
    std::set<int> asked;
    on_nodes(
        eight_nodes,
        [](Team& team) {
            int calls = 0;
            std::uint64_t last = 0;
            std::uint64_t before = 0;
            do {
                before = carried(team).messages_in;
                gather_all(team, ++calls);
                last = carried(team).messages_in - before;
                EXPECT_TRUE(last == slow_messages || last == fast_messages) << last;
            } while (calls < 2048 && last == slow_messages);
            EXPECT_EQ(last, fast_messages);
            before = carried(team).messages_in;
            const int mine = team.rank();
            std::vector<int> all(static_cast<std::size_t>(team.size()));
            team.iallgather(std::span<const int>(&mine, 1), std::span(all)).wait();
            EXPECT_EQ(carried(team).messages_in - before, fast_messages);
        },
        slow_before_fast(asked));
}

/// Sums of floating point depend on the plan, so it may not change after the first call.
TEST(Rehearsal, LeavesEqualCallsWithEqualResults) {
    std::set<int> asked;
    on_nodes(
        eight_nodes,
        [](Team& team) {
            const double mine = 1.0 / (3 + team.rank());
            double first = 0;
            team.allreduce(std::span<const double>(&mine, 1), std::span(&first, 1));
            const std::string with = team.chosen_plan(Collective::allreduce, sizeof mine).algorithm;
            for (int call = 0; call < 40; ++call) {
                double sum = 0;
                team.allreduce(std::span<const double>(&mine, 1), std::span(&sum, 1));
                EXPECT_EQ(sum, first);
            }
            EXPECT_EQ(team.chosen_plan(Collective::allreduce, sizeof mine).algorithm, with);
        },
        slow_before_fast(asked));
    EXPECT_TRUE(asked.contains(1)) << "before the first call";
}

/// An operator of the user's is called for the user's data only.
TEST(Rehearsal, LeavesOperatorsOfTheUserAlone) {
    std::set<int> asked;
    std::atomic<int> zeros{0};
    on_nodes(
        eight_nodes,
        [&](Team& team) {
            const auto larger = [&zeros](int one, int other) {
                zeros += one == 0 || other == 0 ? 1 : 0;
                return std::max(one, other);
            };
            for (int call = 0; call < 40; ++call) {
                const int mine = 1 + team.rank();
                int most = 0;
                team.allreduce(std::span<const int>(&mine, 1), std::span(&most, 1), larger);
                EXPECT_EQ(most, 8);
            }
        },
        slow_before_fast(asked));
    EXPECT_EQ(zeros.load(), 0);
    EXPECT_FALSE(asked.contains(1));
}

TEST(Rehearsal, CanBeLeftOut) {
    std::set<int> asked;
    ClusterOptions options = slow_before_fast(asked);
    options.rehearse = false;
    on_nodes(
        eight_nodes,
        [](Team& team) {
            for (int call = 0; call < 40; ++call) {
                gather_all(team, call);
            }
            EXPECT_EQ(algorithm(team), slow);
        },
        options);
    EXPECT_EQ(asked, std::set<int>{0});
}

/// The planner has others to offer.
TEST(Rehearsal, OfThePlannersPlans) {
    on_nodes({0, 0, 1, 1, 2, 2, 3, 3}, [](Team& team) {
        for (int call = 0; call < 40; ++call) {
            gather_all(team, call);
            std::vector<int> in(2 * static_cast<std::size_t>(team.size()), team.rank());
            std::vector<int> out(in.size());
            team.alltoall(std::span<const int>(in), std::span(out));
            for (std::size_t place = 0; place < out.size(); ++place) {
                EXPECT_EQ(out[place], static_cast<int>(place / 2));
            }
            int root = call;
            team.broadcast(std::span(&root, 1), Rank{3});
            EXPECT_EQ(root, call);
            const int sum = std::accumulate(in.begin(), in.end(), 0);
            int total = 0;
            team.reduce(std::span<const int>(&sum, 1), std::span(&total, 1), std::plus<>(), 2);
            EXPECT_EQ(total, team.rank() == 2 ? 16 * 28 : 0);
            team.barrier();
        }
    });
}

/// Barriers come before what is timed, also where that is a barrier whose plans are being compared.
TEST(Rehearsal, OfBarriersThemselves) {
    on_nodes({0, 0, 0, 0, 1, 1, 1, 1}, [](Team& team) {
        for (int call = 0; call < 300; ++call) {
            team.barrier();
            std::vector<double> mine(64, team.rank());
            std::vector<double> most(mine.size());
            team.allreduce(std::span<const double>(mine), std::span(most), maximum());
            EXPECT_EQ(most.front(), team.size() - 1);
        }
    });
}

} // namespace
