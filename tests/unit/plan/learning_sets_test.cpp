// SPDX-License-Identifier: Apache-2.0
// Sets of ranks that can learn of each other, beside what reaching each other says.
#include "plan/learning_sets.hpp"

#include "base/random.hpp"

#include <corymb/plan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace {

using namespace corymb;

using Messages = std::vector<std::pair<Rank, Rank>>;

void add(Plan& plan, Rank from, Rank to, Mechanism via) {
    const bool is_empty = via == Mechanism::none;
    const Blocks block = is_empty ? Blocks{} : Blocks{Buffer::output, 0, 1};
    plan.steps[static_cast<std::size_t>(from)].push_back(
        {.kind = is_empty ? StepKind::signal : StepKind::send,
         .via = via,
         .peer = to,
         .from = block});
    plan.steps[static_cast<std::size_t>(to)].push_back(
        {.kind = is_empty ? StepKind::wait : StepKind::recv,
         .via = via,
         .peer = from,
         .to = block});
}

Plan plan_of(Rank ranks, const Messages& messages, Mechanism via = Mechanism::none) {
    Plan plan;
    plan.op = via == Mechanism::none ? Collective::barrier : Collective::broadcast;
    plan.block_count = via == Mechanism::none ? 0 : 1;
    plan.bytes_max = via == Mechanism::none ? 0 : 8;
    plan.steps.resize(static_cast<std::size_t>(ranks));
    for (const auto& [from, to] : messages) {
        add(plan, from, to, via);
    }
    return plan;
}

std::vector<Rank> sets_of(const Plan& plan) {
    const plan::Matching matching(plan);
    const plan::LearningSets sets(matching);
    std::vector<Rank> all;
    for (Rank rank = 0; rank < plan.size(); ++rank) {
        all.push_back(sets.of(rank));
        EXPECT_GE(all.back(), 0);
        EXPECT_LE(all.back(), plan.size());
    }
    return all;
}

TEST(LearningSets, AreRanksThatReachEachOther) {
    constexpr std::uint32_t seed = 42;
    Random random(seed);
    for (int round = 0; round < 200; ++round) {
        const auto ranks = static_cast<Rank>(1 + random.below(9));
        Messages messages;
        for (std::uint32_t count = random.below(20); count > 0 && ranks > 1; --count) {
            const auto from = static_cast<Rank>(random.below(static_cast<std::uint32_t>(ranks)));
            const auto ahead =
                static_cast<Rank>(1 + random.below(static_cast<std::uint32_t>(ranks - 1)));
            messages.emplace_back(from, (from + ahead) % ranks);
        }
        const auto size = static_cast<std::size_t>(ranks);
        std::vector<std::vector<bool>> reaches(size, std::vector<bool>(size));
        for (std::size_t rank = 0; rank < size; ++rank) {
            reaches[rank][rank] = true;
        }
        for (const auto& [from, to] : messages) {
            reaches[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] = true;
        }
        for (std::size_t by = 0; by < size; ++by) {
            for (std::size_t from = 0; from < size; ++from) {
                for (std::size_t to = 0; to < size; ++to) {
                    reaches[from][to] = reaches[from][to] || (reaches[from][by] && reaches[by][to]);
                }
            }
        }
        const std::vector<Rank> sets = sets_of(plan_of(ranks, messages));
        for (std::size_t one = 0; one < size; ++one) {
            for (std::size_t other = 0; other < size; ++other) {
                EXPECT_EQ(sets[one] == sets[other], reaches[one][other] && reaches[other][one])
                    << "ranks " << one << " and " << other << ", round " << round << ", seed "
                    << seed;
            }
        }
    }
}

TEST(LearningSets, DoNotLearnThroughTheNetwork) {
    const Messages both_ways{{0, 1}, {1, 0}};
    const std::vector<Rank> far = sets_of(plan_of(2, both_ways, Mechanism::network));
    EXPECT_NE(far[0], far[1]);
    const std::vector<Rank> near = sets_of(plan_of(2, both_ways, Mechanism::line));
    EXPECT_EQ(near[0], near[1]);
}

TEST(LearningSets, AreOneWhereRanksOffer) {
    Plan plan = plan_of(3, {}, Mechanism::push);
    plan.steps[0] = {
        {.kind = StepKind::offer, .via = Mechanism::push, .peer = 1, .to = {Buffer::output, 0, 1}}};
    plan.steps[1] = {
        {.kind = StepKind::put, .via = Mechanism::push, .peer = 0, .from = {Buffer::input, 0, 1}}};
    const std::vector<Rank> sets = sets_of(plan);
    EXPECT_EQ(sets, std::vector<Rank>(3, sets[0]));
}

} // namespace
