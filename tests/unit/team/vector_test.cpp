// SPDX-License-Identifier: Apache-2.0
// Vector operations among threads.
#include "../sim/models.hpp"
#include "vector_rounds.hpp"

#include <corymb/planner.hpp>
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace corymb {
namespace {

using vector_test::Counts;

TEST(VectorTest, RandomCallsGiveWhatTheReferenceGives) {
    for (int size = 1; size <= 7; ++size) {
        threads(size, [](Team& team) { vector_test::run_rounds(team, 12); });
    }
}

/// Any plan that serves, without looking at how fast it is.
PlanSource any_plans(unsigned seed, bool pull, std::set<std::string>& seen, std::mutex& mutex) {
    return [=, &seen, &mutex](const PlanNeed& need) {
        const Machine machine = test::uniform_machine(need.size, 20, 60);
        PlanRequest request;
        request.op = need.op;
        request.root = is_rooted(need.op) ? need.root : -1;
        request.bytes = need.bytes;
        request.cell_slots = need.cell_slots;
        request.ordered = need.ordered;
        request.keeps_parts = need.keeps_parts;
        request.pull = pull;
        request.moves = 50;
        const auto portfolio = make_plan(machine, request).portfolio;
        std::mt19937 random(seed + static_cast<unsigned>(need.op) * 31 +
                            static_cast<unsigned>(need.bytes % 1009));
        request.algorithm = portfolio[random() % portfolio.size()].first;
        Plan plan = make_plan(machine, request).plan;
        const std::lock_guard lock(mutex);
        seen.insert(std::string(to_string(need.op)) + " " + plan.algorithm);
        return plan;
    };
}

TEST(VectorTest, RandomCallsGiveTheSameWithAnyPlanThatKeepsParts) {
    std::set<std::string> seen;
    std::mutex mutex;
    for (const bool pull : {true, false}) {
        for (unsigned seed = 0; seed < 6; ++seed) {
            TeamOptions options;
            options.plans = any_plans(seed, pull, seen, mutex);
            threads(
                static_cast<int>(2 + seed % 4),
                [](Team& team) { vector_test::run_rounds(team, 6); }, options);
        }
    }
    EXPECT_GT(seen.size(), 15u);
}

TEST(VectorTest, PartsMayBeWildlyUnequal) {
    threads(4, [](Team& team) {
        constexpr std::size_t huge = 3'000'000;
        const Counts counts{1, 0, huge, 3};
        for (Rank root = 0; root < team.size(); ++root) {
            const auto own = static_cast<std::size_t>(team.rank());
            const std::vector<std::uint16_t> mine(counts[own], static_cast<std::uint16_t>(own + 1));
            std::vector<std::uint16_t> all(team.rank() == root ? huge + 4 : 0);
            team.gatherv(std::span<const std::uint16_t>(mine), std::span(all), {counts}, root);
            if (team.rank() == root) {
                ASSERT_EQ(all[0], 1);
                ASSERT_EQ(std::ranges::count(all, 3), static_cast<std::ptrdiff_t>(huge));
                ASSERT_EQ(all.back(), 4);
            }
            std::vector<std::uint16_t> back(counts[own]);
            team.scatterv(std::span<const std::uint16_t>(all), {counts}, std::span(back), root);
            ASSERT_TRUE(back == mine);
        }
        const Counts nothing(4, 0);
        team.allgatherv(std::span<const int>(), std::span<int>(), {nothing});
        team.alltoallv(std::span<const int>(), {nothing}, std::span<int>(), {nothing});
        team.gatherv(std::span<const int>(), std::span<int>(), {nothing}, 2);
        team.reduce_scatterv(std::span<const int>(), {nothing}, std::span<int>());
    });
}

TEST(VectorTest, InPlace) {
    threads(3, [](Team& team) {
        const auto own = static_cast<std::size_t>(team.rank());
        const Counts counts{2, 5, 1};
        const Counts displacements{6, 1, 0};
        const Parts parts{counts, displacements};
        std::vector<int> all(8, -1);
        const auto mine = std::span(all).subspan(displacements[own], counts[own]);
        std::ranges::fill(mine, team.rank());
        team.allgatherv(std::span<const int>(mine), std::span(all), parts);
        ASSERT_EQ(all, (std::vector<int>{2, 1, 1, 1, 1, 1, 0, 0}));
        team.reduce_scatterv(std::span<const int>(all), parts, mine);
        ASSERT_EQ(mine[0], 3 * team.rank());
        ASSERT_EQ(mine.back(), 3 * team.rank());
        if (team.rank() == 1) {
            team.gatherv(std::span<const int>(mine), std::span(all), parts, 1);
            ASSERT_EQ(all, (std::vector<int>{6, 3, 3, 3, 3, 3, 0, 0}));
            team.scatterv(std::span<const int>(all), parts, mine, 1);
        } else {
            team.gatherv(std::span<const int>(mine), std::span<int>(), {}, 1);
            std::ranges::fill(mine, -1);
            team.scatterv(std::span<const int>(), {}, mine, 1);
            ASSERT_EQ(mine[0], 3 * team.rank());
        }
    });
}

/// The text of the refusal; "" if there was none.
std::string refusal(const std::function<void()>& call) {
    try {
        call();
        return "";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument) << error.what();
        return error.what();
    }
}

TEST(VectorTest, ArgumentsThatCannotBeRightAreRefused) {
    ThreadTeam made(2);
    Team team = made.join(0);
    std::vector<int> memory(64);
    const auto in = [&](std::size_t at, std::size_t count) {
        return std::span<const int>(memory).subspan(at, count);
    };
    const auto out = [&](std::size_t at, std::size_t count) {
        return std::span(memory).subspan(at, count);
    };
    const auto expect = [](const std::string& text, const std::function<void()>& call) {
        EXPECT_NE(refusal(call).find(text), std::string::npos) << refusal(call);
    };
    const Counts few{2}, many{2, 2, 2}, two{2, 3}, other{3, 3}, apart{0, 2}, across{0, 1};
    const Counts huge{2, ~std::size_t{0}}, beyond{0, 30}, far{0, ~std::size_t{0}};
    expect("1 counts", [&] { team.gatherv(in(0, 2), out(8, 8), {few}); });
    expect("3 counts", [&] { team.gatherv(in(0, 2), out(8, 8), {many}); });
    expect("1 displacements", [&] { team.scatterv(in(8, 8), {two, few}, out(0, 2)); });
    expect("0 counts", [&] { team.allgatherv(in(0, 2), out(8, 8), {}); });
    expect("part 0, which is this rank's, has 2 elements in the input and 3",
           [&] { team.allgatherv(in(0, 2), out(8, 8), {other}); });
    expect("this rank's", [&] { team.alltoallv(in(0, 8), {two}, out(8, 8), {other}); });
    expect("only 4", [&] { team.gatherv(in(0, 2), out(8, 4), {two}); });
    expect("only 8", [&] { team.gatherv(in(0, 2), out(8, 8), {huge}); });
    expect("from element 30", [&] { team.gatherv(in(0, 2), out(8, 8), {two, beyond}); });
    expect("only 8", [&] { team.gatherv(in(0, 2), out(8, 8), {two, far}); });
    expect("only 8", [&] { team.reduce_scatterv(in(8, 8), {huge}, out(0, 2)); });
    expect("parts 0 and 1 of the output overlap",
           [&] { team.allgatherv(in(0, 2), out(8, 8), {two, across}); });
    expect("input and output overlap", [&] { team.allgatherv(in(9, 2), out(8, 8), {two}); });
    expect("input and output overlap", [&] { team.scatterv(in(8, 8), {two}, out(11, 2)); });
    expect("input and output overlap",
           [&] { team.alltoallv(in(8, 8), {two, apart}, out(8, 8), {two, apart}); });
    expect("null", [&] {
        team.gatherv(std::span<const int>(static_cast<const int*>(nullptr), 2), out(8, 8), {two});
    });
    expect("root", [&] { team.gatherv(in(0, 2), out(8, 8), {two}, 2); });
    expect("counts", [&] { static_cast<void>(team.igatherv(in(0, 2), out(8, 8), {few})); });
    expect("counts",
           [&] { static_cast<void>(team.alltoallv_init(in(0, 8), {two}, out(8, 8), {})); });
}

/// What each of two ranks is told when it makes its call.
std::vector<std::string> told(const std::function<void(Team&)>& call) {
    ThreadTeam made(2);
    std::vector<std::string> texts(2);
    const auto life = [&](Rank rank) {
        Team team = made.join(rank);
        try {
            call(team);
            team.barrier(); // Whom nobody sends anything is told at its next call.
        } catch (const Error& error) {
            texts[static_cast<std::size_t>(rank)] =
                std::string(error.code() == Errc::mismatch      ? "mismatch: "
                            : error.code() == Errc::team_broken ? "broken: "
                                                                : "another error: ") +
                error.what();
        }
    };
    std::jthread other([&] { life(1); });
    life(0);
    other.join();
    return texts;
}

TEST(VectorTest, LengthsThatDifferBetweenRanksAreNoticed) {
    for (const std::size_t length : {std::size_t{1}, std::size_t{5000}, std::size_t{100'000}}) {
        for (const std::size_t sent : {length - 1, length + 1}) {
            const auto texts = told([&](Team& team) { // Rank 0 expects `length` of rank 1.
                const std::vector<int> mine(team.rank() == 0 ? 3 : sent);
                std::vector<int> all(3 + length);
                const Counts counts{3, length};
                team.gatherv(std::span<const int>(mine), std::span(all), {counts});
            });
            EXPECT_TRUE(texts[0].starts_with("mismatch")) << texts[0];
            EXPECT_NE(texts[1], "");
            EXPECT_FALSE(texts[1].starts_with("another")) << texts[1];
        }
    }
    const auto texts = told([&](Team& team) {
        const std::vector<int> mine(2);
        std::vector<int> all(8);
        const Counts counts = team.rank() == 0 ? Counts{2, 3} : Counts{1, 2};
        team.allgatherv(std::span<const int>(mine), std::span(all), {counts});
    });
    for (const std::string& text : texts) {
        EXPECT_NE(text.find("allgatherv with counts"), std::string::npos) << text;
    }
}

TEST(VectorTest, APlanThatMixesPartsIsRefused) {
    TeamOptions options;
    options.plans = [](const PlanNeed& need) { // Gathers through scratch.
        EXPECT_TRUE(need.keeps_parts);
        EXPECT_EQ(need.bytes, any_part_bytes);
        Plan plan;
        plan.op = need.op;
        plan.block_count = plan.scratch_blocks = 1;
        plan.bytes_max = need.bytes;
        plan.algorithm = "detour";
        const Blocks in{Buffer::input, 0, 1}, between{Buffer::scratch, 0, 1};
        const Blocks out{Buffer::output, 0, 1};
        plan.steps = {{{.kind = StepKind::copy, .to = between, .from = in},
                       {.kind = StepKind::copy, .to = out, .from = between}}};
        return plan;
    };
    threads(
        1,
        [](Team& team) {
            const int one = 1;
            int copy = 0;
            const Counts counts{1};
            try {
                team.gatherv(std::span<const int>(&one, 1), std::span(&copy, 1), {counts});
                FAIL() << "the plan ran";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), Errc::invalid_plan) << error.what();
            }
        },
        options);
}

} // namespace
} // namespace corymb
