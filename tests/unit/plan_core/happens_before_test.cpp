// SPDX-License-Identifier: Apache-2.0
// What ranks surely know of each other's steps, beside a slow search for the same.
#include "plan/happens_before.hpp"

#include "base/random.hpp"
#include "plan/matching.hpp"
#include "plan/step_kind.hpp"

#include <corymb/plan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace corymb::plan {
namespace {

/// Steps in the order in which they are made, as (rank, index).
struct Made {
    Plan plan;
    std::vector<std::pair<Rank, std::size_t>> order;

    void add(Rank rank, const Step& step) {
        auto& program = plan.steps[static_cast<std::size_t>(rank)];
        order.emplace_back(rank, program.size());
        program.push_back(step);
    }
};

/// Messages between random ranks, and publications to some of them.
Made random_plan(int ranks, int messages, Random& random) {
    Made made;
    made.plan.op = Collective::broadcast;
    made.plan.block_count = 1;
    made.plan.bytes_max = 8;
    made.plan.steps.resize(static_cast<std::size_t>(ranks));
    const Blocks block{Buffer::output, 0, 1};
    std::vector<std::uint32_t> published(static_cast<std::size_t>(ranks), 0);
    const auto any = [&] {
        return static_cast<Rank>(random.below(static_cast<std::uint32_t>(ranks)));
    };
    for (int i = 0; i < messages; ++i) {
        const Rank from = any();
        if (random.below(8) == 0) {
            const std::uint32_t ordinal = published[static_cast<std::size_t>(from)]++;
            made.add(from, {.kind = StepKind::publish, .via = Mechanism::line, .from = block});
            for (Rank reader = 0; reader < ranks; ++reader) {
                if (reader != from) { // A publication has all others for its readers.
                    made.add(reader, {.kind = StepKind::read,
                                      .via = Mechanism::line,
                                      .peer = from,
                                      .to = block,
                                      .ordinal = ordinal});
                }
            }
            continue;
        }
        const Rank to = any();
        if (to != from) {
            made.add(from,
                     {.kind = StepKind::send, .via = Mechanism::line, .peer = to, .from = block});
            made.add(to,
                     {.kind = StepKind::recv, .via = Mechanism::line, .peer = from, .to = block});
        }
    }
    return made;
}

/// By following every message from the source on.
bool is_known(const Matching& matching, const std::vector<StepNumber>& order,
              const OrderQuery& query) {
    constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> knows_from(static_cast<std::size_t>(matching.plan().size()), never);
    std::vector<bool> carries(matching.step_count(), false);
    const auto from_of = [&](Rank rank) -> std::size_t& {
        return knows_from[static_cast<std::size_t>(rank)];
    };
    from_of(matching.rank_of(query.source)) = matching.index_of(query.source) + std::size_t{1};
    for (const StepNumber number : order) {
        std::size_t& from = from_of(matching.rank_of(number));
        const std::size_t index = matching.index_of(number);
        if (!has_source(matching.step(number).kind)) {
            carries[number] = from <= index;
        } else if (carries[matching.partner(number)]) {
            from = std::min(from, index);
        }
    }
    return query.before == no_step ? from_of(query.rank) != never
                                   : from_of(query.rank) <= matching.index_of(query.before);
}

TEST(HappensBefore, FindsWhatASlowSearchFinds) {
    Random random(11);
    for (const int ranks : {2, 3, 8, 128, 129, 300}) {
        std::size_t held = 0;
        std::size_t failed_ones = 0;
        for (int round = 0; round < (ranks < 100 ? 40 : 8); ++round) {
            const Made made = random_plan(ranks, std::clamp(4 * ranks, 40, 400), random);
            const Matching matching(made.plan);
            std::vector<StepNumber> order;
            for (const auto& [rank, index] : made.order) {
                order.push_back(matching.first_step(rank) + static_cast<StepNumber>(index));
            }
            std::vector<OrderQuery> queries;
            for (int q = 0; q < 100; ++q) {
                const StepNumber source = random.below(matching.step_count());
                const StepNumber target = random.below(matching.step_count());
                queries.push_back(
                    {source, matching.rank_of(target), random.below(4) == 0 ? no_step : target});
            }
            const auto failed = unordered_queries(matching, order, queries);
            ASSERT_TRUE(std::ranges::is_sorted(failed));
            for (std::size_t q = 0; q < queries.size(); ++q) {
                const bool fails = std::ranges::binary_search(failed, q);
                ASSERT_EQ(!fails, is_known(matching, order, queries[q]))
                    << ranks << " ranks, round " << round << ", query " << q;
                (fails ? failed_ones : held) += 1;
            }
        }
        EXPECT_GT(held, 20u) << ranks;
        EXPECT_GT(failed_ones, 20u) << ranks;
    }
}

} // namespace
} // namespace corymb::plan
