// SPDX-License-Identifier: Apache-2.0
// Lines and bytes of small plans, counted by hand.
#include <corymb/simulate.hpp>

#include <gtest/gtest.h>

namespace corymb {
namespace {

Plan two_ranks(Collective op, std::uint64_t bytes) {
    Plan plan;
    plan.op = op;
    plan.block_count = 1;
    plan.bytes_max = bytes;
    plan.steps.resize(2);
    return plan;
}

constexpr Blocks output{Buffer::output, 0, 1};

Plan broadcast(Mechanism via, std::uint64_t bytes) {
    Plan plan = two_ranks(Collective::broadcast, bytes);
    plan.steps[0] = {{.kind = StepKind::send, .via = via, .peer = 1, .to = {}, .from = output}};
    plan.steps[1] = {{.kind = StepKind::recv, .via = via, .peer = 0, .to = output}};
    if (via == Mechanism::pull) {
        plan.steps[1].push_back({.kind = StepKind::signal, .peer = 0});
        plan.steps[0].push_back({.kind = StepKind::wait, .peer = 1});
    }
    check_plan(plan);
    return plan;
}

using Counts = std::vector<std::uint64_t>;

TEST(Traffic, CountsLinesAtTheReceiverAndBytesWhereTheyAreCopied) {
    const Traffic line = traffic(broadcast(Mechanism::line, 56), 56);
    EXPECT_EQ(line.lines, (Counts{0, 1}));
    EXPECT_EQ(line.copied, (Counts{0, 0}));
    const Traffic cells = traffic(broadcast(Mechanism::cells, 20'000), 20'000);
    EXPECT_EQ(cells.lines, (Counts{0, 313 + 3}));
    EXPECT_EQ(cells.copied, (Counts{20'000, 20'000}));
    const Traffic pull = traffic(broadcast(Mechanism::pull, 20'000), 20'000);
    EXPECT_EQ(pull.lines, (Counts{1, 313 + 1}));
    EXPECT_EQ(pull.copied, (Counts{0, 20'000}));
}

TEST(Traffic, CountsPartsAndShortBlocks) {
    Plan plan = two_ranks(Collective::allgather, 100);
    plan.block_count = 3; // 34, 34 and 32 bytes
    for (const Rank rank : {0, 1}) {
        const auto own = static_cast<std::uint32_t>(3 * rank);
        plan.steps[static_cast<std::size_t>(rank)] = {
            {.kind = StepKind::send,
             .via = Mechanism::cells,
             .peer = 1 - rank,
             .to = {},
             .from = {Buffer::input, 0, 3}},
            {.kind = StepKind::copy, .to = {Buffer::output, own, 3}, .from = {Buffer::input, 0, 3}},
            {.kind = StepKind::recv,
             .via = Mechanism::cells,
             .peer = 1 - rank,
             .to = {Buffer::output, 3 - own, 2}},
        };
        plan.steps[static_cast<std::size_t>(rank)][0].from.count = 2;
        auto& steps = plan.steps[static_cast<std::size_t>(rank)];
        steps.push_back(steps[2]);
        steps.back().to = {Buffer::output, 3 - own + 2, 1};
        steps.insert(steps.begin() + 1, steps[0]);
        steps[1].from = {Buffer::input, 2, 1};
    }
    check_plan(plan);
    const Traffic counted = traffic(plan, 100);
    // 68 and 32 bytes go out and come in, 100 are copied; two lines, one line, two sequences.
    EXPECT_EQ(counted.copied, (Counts{300, 300}));
    EXPECT_EQ(counted.lines, (Counts{5, 5}));
}

} // namespace
} // namespace corymb
