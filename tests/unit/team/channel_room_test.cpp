// SPDX-License-Identifier: Apache-2.0
// Plans count on channels of a length, and lanes have channels of different lengths.
#include "../sim/models.hpp"
#include "channel/env.hpp"
#include "sample_plans.hpp"
#include "team/compile.hpp"

#include <corymb/error.hpp>
#include <corymb/planner.hpp>
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace corymb {
namespace {

/// Parts of the longest size class whose nonblocking calls use the short channels.
constexpr std::size_t part_words = (128 << 10) / sizeof(std::uint64_t);

Plan through_cells(const PlanNeed& need) {
    PlanRequest request;
    request.op = need.op;
    request.bytes = need.bytes;
    request.cell_slots = need.cell_slots;
    request.pull = request.push = false;
    return make_plan(test::uniform_machine(need.size, 20, 60), request).plan;
}

std::vector<std::uint64_t> words_of(Rank rank) {
    std::vector<std::uint64_t> words(part_words);
    std::iota(words.begin(), words.end(), static_cast<std::uint64_t>(rank) << 32U);
    return words;
}

TEST(ChannelRoom, LanesWithShorterChannelsHavePlansOfTheirOwn) {
    constexpr int size = 3;
    std::mutex mutex;
    std::set<std::uint32_t> asked;
    TeamOptions options;
    options.plans = [&](const PlanNeed& need) {
        if (need.op == Collective::allgather) {
            const std::lock_guard lock(mutex);
            asked.insert(need.cell_slots);
        }
        return through_cells(need);
    };
    threads(
        size,
        [&](Team& team) {
            const std::vector<std::uint64_t> own = words_of(team.rank());
            std::vector<std::uint64_t> expected;
            for (Rank rank = 0; rank < size; ++rank) {
                const std::vector<std::uint64_t> part = words_of(rank);
                expected.insert(expected.end(), part.begin(), part.end());
            }
            std::vector<std::uint64_t> all(size * part_words);
            team.allgather(std::span(own), std::span(all));
            EXPECT_EQ(all, expected);
            std::ranges::fill(all, 0);
            team.iallgather(std::span(own), std::span(all)).wait();
            EXPECT_EQ(all, expected);
        },
        options);
    EXPECT_EQ(asked.size(), 2U);
    EXPECT_EQ(*asked.rbegin(), channel::cell_ring_slots(size));
    EXPECT_EQ(*asked.begin(), team::shared_cell_ring_slots(size));
}

TEST(ChannelRoom, APlanThatCountsOnMoreIsRefused) {
    TeamOptions options;
    options.plans = [](const PlanNeed& need) {
        Plan plan = through_cells(need);
        plan.cell_slots = need.cell_slots + 1;
        return plan;
    };
    try {
        threads(2, [](Team& team) { team.barrier(); }, options);
        ADD_FAILURE() << "the plan was taken";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_plan);
        EXPECT_NE(std::string(error.what()).find("PlanNeed::cell_slots"), std::string::npos)
            << error.what();
    }
}

TEST(ChannelRoom, AChannelForWhichMemoryIsTooShortIsAnErrorOfItsOwn) {
    using Env = channel::StandardEnv;
    HeapMemory memory;
    team::Fabric<Env> fabric(Arena(memory), 2);
    Plan plan = team_test::star_broadcast(2, 0, 8, Mechanism::cells);
    plan.cell_slots = static_cast<std::uint32_t>(2 * channel::cell_ring_slots(2));
    team::Compiler<Env>::Peers peers;
    try {
        static_cast<void>(team::Compiler<Env>(fabric, 0, peers)
                              .compile(plan::ProvenPlan(plan), 0, team::publication_readers(plan)));
        ADD_FAILURE() << "the program would wait for ever";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::io);
        EXPECT_NE(std::string(error.what()).find("ulimit"), std::string::npos) << error.what();
    }
}

} // namespace
} // namespace corymb
