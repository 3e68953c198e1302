// SPDX-License-Identifier: Apache-2.0
// What must hold for every plan on every model.
#include "../plan_core/sample_plans.hpp"
#include "models.hpp"

#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace {

using namespace corymb;
using namespace corymb::test;

struct Case {
    Plan plan;
    Machine machine;
    std::vector<int> placement;
};

void shuffle(std::vector<int>& numbers, Random& random) {
    for (std::size_t last = numbers.size(); last > 1; --last) {
        std::swap(numbers[last - 1], numbers[random.below(static_cast<std::uint32_t>(last))]);
    }
}

/// A random plan on a random machine that has room for it; nothing if the checker refuses the plan.
std::optional<Case> random_case(Random& random) {
    bool ordered = false;
    Case result{random_plan(random, ordered), {}, {}};
    try {
        check_plan(result.plan, ordered);
    } catch (const Error&) {
        return std::nullopt; // needs more buffering than is guaranteed
    }
    const int size = result.plan.size() + static_cast<int>(random.below(4));
    result.machine = random_machine(size, random);
    result.placement = in_order(size);
    shuffle(result.placement, random);
    result.placement.resize(result.plan.steps.size());
    return result;
}

/// Readers stand in line nearest first, so that costs decide their order.
bool reads(const Plan& plan) {
    for (const auto& steps : plan.steps) {
        for (const Step& step : steps) {
            if (step.kind == StepKind::read || step.kind == StepKind::read_fold) {
                return true;
            }
        }
    }
    return false;
}

bool is_sending(StepKind kind) {
    return kind == StepKind::signal || kind == StepKind::send;
}

TEST(SimulateProperties, ActivitiesFollowEachOtherAndSumUp) {
    Random random(3);
    int cases = 0;
    for (int round = 0; round < 500; ++round) {
        const auto made = random_case(random);
        if (!made) {
            continue;
        }
        ++cases;
        const auto& [plan, machine, placement] = *made;
        const Timeline timeline = simulate(plan, machine, placement, 1, true);
        ASSERT_EQ(timeline.ranks.size(), plan.steps.size());
        for (std::size_t rank = 0; rank < plan.steps.size(); ++rank) {
            const auto& activities = timeline.ranks[rank];
            ASSERT_EQ(activities.size(), plan.steps[rank].size());
            const int pu = placement[rank];
            double clock = 0;
            for (std::size_t index = 0; index < activities.size(); ++index) {
                const Activity& activity = activities[index];
                const Step& step = plan.steps[rank][index];
                EXPECT_EQ(activity.step, index);
                EXPECT_DOUBLE_EQ(activity.wait_from, clock);
                EXPECT_GE(activity.begin, activity.wait_from);
                clock = activity.end;
                const double busy = activity.end - activity.begin;
                if (step.peer < 0) {
                    EXPECT_GE(busy, 0);
                    continue;
                }
                const int peer = placement[static_cast<std::size_t>(step.peer)];
                if (step.kind == StepKind::read || step.kind == StepKind::read_fold) {
                    EXPECT_GE(busy, machine.receive_cost(peer, pu) - 1e-6);
                    continue; // It stands in line with the other readers.
                }
                // A payload of one byte: no copying, every message costs its two numbers.
                EXPECT_NEAR(busy,
                            is_sending(step.kind) ? machine.send_cost(pu, peer)
                                                  : machine.receive_cost(peer, pu),
                            1e-6)
                    << to_string(step.kind);
            }
            EXPECT_DOUBLE_EQ(timeline.finish[rank], clock);
        }
        EXPECT_DOUBLE_EQ(timeline.makespan,
                         *std::max_element(timeline.finish.begin(), timeline.finish.end()));
        EXPECT_EQ(simulate(plan, machine, placement, 1).makespan, timeline.makespan);
    }
    EXPECT_GT(cases, 400);
}

TEST(SimulateProperties, NothingIsReceivedBeforeItWasSent) {
    Random random(4);
    for (int round = 0; round < 300; ++round) {
        const auto made = random_case(random);
        if (!made) {
            continue;
        }
        const auto& [plan, machine, placement] = *made;
        const Timeline timeline = simulate(plan, machine, placement, 1, true);
        // The k-th signal of an edge ends before its k-th wait begins; messages alike.
        for (const bool signals : {true, false}) {
            const StepKind sends = signals ? StepKind::signal : StepKind::send;
            for (std::size_t from = 0; from < plan.steps.size(); ++from) {
                for (std::size_t to = 0; to < plan.steps.size(); ++to) {
                    std::vector<double> sent;
                    std::vector<double> taken;
                    for (std::size_t k = 0; k < plan.steps[from].size(); ++k) {
                        const Step& step = plan.steps[from][k];
                        if (step.kind == sends && step.peer == static_cast<Rank>(to)) {
                            sent.push_back(timeline.ranks[from][k].end);
                        }
                    }
                    for (std::size_t k = 0; k < plan.steps[to].size(); ++k) {
                        const Step& step = plan.steps[to][k];
                        const bool takes =
                            signals ? step.kind == StepKind::wait
                                    : step.kind == StepKind::recv || step.kind == StepKind::fold;
                        if (takes && step.peer == static_cast<Rank>(from)) {
                            taken.push_back(timeline.ranks[to][k].begin);
                        }
                    }
                    ASSERT_EQ(sent.size(), taken.size());
                    for (std::size_t k = 0; k < sent.size(); ++k) {
                        EXPECT_LE(sent[k], taken[k] + 1e-9);
                    }
                }
            }
        }
    }
}

TEST(SimulateProperties, DearerMessagesNeverMakeAPlanFaster) {
    Random random(5);
    for (int round = 0; round < 300; ++round) {
        auto made = random_case(random);
        if (!made || reads(made->plan)) {
            continue;
        }
        auto& [plan, machine, placement] = *made;
        const std::uint64_t bytes = round % 2 == 0 ? 1 : plan.bytes_max;
        const Timeline before = simulate(plan, machine, placement, bytes);
        for (int change = 0; change < 5; ++change) {
            const std::size_t entry = random.below(static_cast<std::uint32_t>(machine.send.size()));
            (random.below(2) == 0 ? machine.send : machine.receive)[entry] += 40;
        }
        const Timeline after = simulate(plan, machine, placement, bytes);
        for (std::size_t rank = 0; rank < plan.steps.size(); ++rank) {
            EXPECT_GE(after.finish[rank], before.finish[rank] - 1e-6);
        }
    }
}

TEST(SimulateProperties, NamesOfRanksDoNotMatter) {
    Random random(6);
    for (int round = 0; round < 300; ++round) {
        const auto made = random_case(random);
        if (!made) {
            continue;
        }
        const auto& [plan, machine, placement] = *made;
        std::vector<int> name = in_order(plan.size());
        shuffle(name, random);
        const auto renamed = [&](Rank rank) {
            return name[static_cast<std::size_t>(rank)];
        };
        Plan other = plan;
        other.root = renamed(plan.root);
        std::vector<int> other_placement(placement.size());
        for (std::size_t rank = 0; rank < plan.steps.size(); ++rank) {
            const auto now = static_cast<std::size_t>(name[rank]);
            other_placement[now] = placement[rank];
            other.steps[now] = plan.steps[rank];
            for (Step& step : other.steps[now]) {
                step.peer = step.peer < 0 ? -1 : renamed(step.peer);
            }
        }
        const Timeline a = simulate(plan, machine, placement, plan.bytes_max);
        const Timeline b = simulate(other, machine, other_placement, plan.bytes_max);
        for (std::size_t rank = 0; rank < plan.steps.size(); ++rank) {
            EXPECT_DOUBLE_EQ(a.finish[rank], b.finish[static_cast<std::size_t>(name[rank])]);
        }
    }
}

} // namespace
