// SPDX-License-Identifier: Apache-2.0
// What the checker says: rank, step and reason.
#include "sample_plans.hpp"

#include <corymb/error.hpp>
#include <corymb/plan.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace {

using namespace corymb;
using namespace corymb::test;

constexpr Blocks one{Buffer::output, 0, 1};

/// Expects that the plan is refused, that the text starts with `where` and holds `what`.
void expect_refusal(const Plan& plan, const std::string& where, const std::string& what,
                    bool ordered = false) {
    try {
        check_plan(plan, ordered);
        FAIL() << "accepted, expected " << where << ": " << what;
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_EQ(error.code(), Errc::invalid_plan);
        EXPECT_TRUE(text.starts_with(where)) << text;
        EXPECT_NE(text.find(what), std::string::npos) << text;
        EXPECT_EQ(error.ranks().empty(), !where.starts_with("rank"));
    }
}

TEST(Refusal, NamesSingleSteps) {
    const auto with = [](void (*change)(Step&)) {
        Plan plan = line_broadcast(3);
        change(plan.steps[1][1]);
        return plan;
    };
    const std::string where = "rank 1, step 1 (";
    expect_refusal(with([](Step& s) { s.peer = 3; }), where, "peer is not one of the 3 ranks");
    expect_refusal(with([](Step& s) { s.peer = 1; }), where, "its own peer, but to read");
    expect_refusal(with([](Step& s) { s.from.count = 2; }), where, "beyond the 1 blocks");
    expect_refusal(with([](Step& s) { s.from.first = 0xffffffffu; }), where, "beyond");
    expect_refusal(with([](Step& s) { s.from.buffer = Buffer::input; }), where, "beyond the 0");
    expect_refusal(with([](Step& s) { s.from.count = 0; }), where, "no blocks");
    expect_refusal(with([](Step& s) { s.via = Mechanism::none; }), where, "goes via");
    expect_refusal(with([](Step& s) { s.ordinal = 1; }), where, "ordinal");
    expect_refusal(with([](Step& s) { s.incoming_first = true; }), where, "order of operands");
    expect_refusal(with([](Step& s) { s.to = one; }), where, "does not use");
    expect_refusal(with([](Step& s) {
                       s.kind = StepKind::fold;
                       s.to = one;
                   }),
                   where, "this operation combines nothing");
}

TEST(Refusal, NamesTheHead) {
    Plan plan = line_broadcast(2);
    plan.root = 2;
    expect_refusal(plan, "plan: ", "root 2");
    plan = line_broadcast(2);
    plan.block_count = 0;
    expect_refusal(plan, "plan: ", "block_count");
    plan = line_broadcast(2);
    plan.bytes_max = ~std::uint64_t{0};
    expect_refusal(plan, "plan: ", "bytes_max");
    plan = line_broadcast(2);
    plan.bytes_max = 57;
    expect_refusal(plan, "rank 0, step 0 (send to 1 via line)", "not fit the 56 bytes");
    // Two elements of 64 bytes cut in four blocks lie in two blocks, each longer than 128 / 4.
    plan = line_broadcast(2);
    plan.block_count = 4;
    plan.bytes_max = 128;
    expect_refusal(plan, "rank 0, step 0 (send to 1 via line)", "cut at whole elements");
    plan = flat_barrier(2);
    plan.block_count = 1;
    expect_refusal(plan, "plan: ", "a barrier has no blocks");
    expect_refusal(Plan{}, "plan: ", "ranks");
}

TEST(Refusal, NamesUnmatchedMessages) {
    Plan plan = line_broadcast(3);
    plan.steps[2].clear();
    expect_refusal(plan, "rank 1, step 1 (send to 2 via line)", "takes only 0 messages");
    plan = line_broadcast(3);
    plan.steps[0].clear();
    expect_refusal(plan, "rank 1, step 0 (recv from 0 via line)", "waits for ever");
    plan = line_broadcast(3);
    plan.steps[2][0].via = Mechanism::cells;
    expect_refusal(plan, "rank 2, step 0 (recv from 1 via cells)", "goes via line");
}

TEST(Refusal, NamesDeadlocksWithTheirCycle) {
    Plan plan = empty_plan(Collective::barrier, 3);
    for (Rank rank = 0; rank < 3; ++rank) {
        plan.steps[static_cast<std::size_t>(rank)] = {make_step(StepKind::wait, (rank + 1) % 3),
                                                      make_step(StepKind::signal, (rank + 2) % 3)};
    }
    expect_refusal(plan, "rank ", "waits for ever in a cycle");
}

/// Rank 0 sends `count` messages before rank 1, who must first hear from rank 0 again, takes any.
Plan unread(Mechanism via, std::uint32_t count, std::uint64_t bytes) {
    Plan plan = empty_plan(Collective::broadcast, 2, count, bytes);
    for (std::uint32_t block = 0; block < count; ++block) {
        plan.steps[0].push_back(make_step(StepKind::send, 1, via, {Buffer::output, block, 1}));
    }
    plan.steps[0].push_back(make_step(StepKind::signal, 1));
    plan.steps[1].push_back(make_step(StepKind::wait, 0));
    for (std::uint32_t block = 0; block < count; ++block) {
        plan.steps[1].push_back(make_step(StepKind::recv, 0, via, {}, {Buffer::output, block, 1}));
    }
    plan.steps[1].push_back(make_step(StepKind::signal, 0));
    plan.steps[0].push_back(make_step(StepKind::wait, 1));
    return plan;
}

TEST(Refusal, CountsNoMoreBufferingThanIsGuaranteed) {
    check_plan(unread(Mechanism::line, 4, 8));
    expect_refusal(unread(Mechanism::line, 5, 8), "rank ", "waits for ever");
    check_plan(unread(Mechanism::pull, 4, 100000));
    expect_refusal(unread(Mechanism::pull, 5, 100000), "rank ", "waits for ever");
    check_plan(unread(Mechanism::cells, 4, 4 * cell_bytes));
    expect_refusal(unread(Mechanism::cells, 5, 5 * cell_bytes), "rank ", "waits for ever");
    check_plan(unread(Mechanism::cells, 1, 7 * cell_bytes));
    expect_refusal(unread(Mechanism::cells, 1, 8 * cell_bytes), "rank ", "waits for ever");
    Plan more = unread(Mechanism::cells, 5, 5 * cell_bytes);
    more.cell_slots = 10;
    check_plan(more);
    check_plan(unread(Mechanism::network, 9, 100000)); // does not wait for its receivers
}

TEST(Refusal, CountsOutstandingPublications) {
    const auto published = [](std::uint32_t blocks) {
        Plan plan = published_broadcast(2, Mechanism::line, blocks);
        plan.steps[0].push_back(make_step(StepKind::signal, 1));
        plan.steps[1].insert(plan.steps[1].begin(), make_step(StepKind::wait, 0));
        return plan;
    };
    check_plan(published(4));
    expect_refusal(published(5), "rank ", "waits for ever");
    Plan early = published(1); // A rank reads its own only once it has published it.
    early.steps[0].insert(early.steps[0].begin(),
                          make_step(StepKind::read, 0, Mechanism::line, {}, one));
    expect_refusal(early, "rank ", "waits for ever");
}

TEST(Refusal, NamesMissingAndDoubledContributions) {
    Plan plan = published_allreduce(3);
    plan.steps[1][2].peer = 0;
    plan.steps[1][2].ordinal = 0;
    expect_refusal(plan, "rank 1, step 2", "in order");
    // Rank 0 combines rank 1's contribution and sends the sum back; rank 1 adds its own again.
    plan = empty_plan(Collective::allreduce, 2);
    const Blocks input{Buffer::input, 0, 1};
    plan.steps[0] = {make_step(StepKind::fold, 1, Mechanism::line, input, one),
                     make_step(StepKind::send, 1, Mechanism::line, one)};
    plan.steps[1] = {make_step(StepKind::send, 0, Mechanism::line, input),
                     make_step(StepKind::fold, 0, Mechanism::line, input, one)};
    expect_refusal(plan, "rank 1, step 1 (fold from 0 via line)",
                   "contribution of rank 1 to block 0 twice");
    plan.steps[1].pop_back();
    plan.steps[0].pop_back();
    expect_refusal(plan, "rank 1: ", "ends without");
}

TEST(Refusal, KnowsTheOrderOfOperands) {
    Plan plan = published_allreduce(3);
    check_plan(plan, true);
    plan.steps[2][1].incoming_first = false;
    check_plan(plan, false);
    expect_refusal(plan, "rank 2, step 1", "out of rank order", true);
}

TEST(Refusal, SeesThatInputAndOutputMayBeTheSameMemory) {
    Plan plan = empty_plan(Collective::allreduce, 2);
    const Blocks input{Buffer::input, 0, 1};
    for (Rank rank = 0; rank < 2; ++rank) {
        plan.steps[static_cast<std::size_t>(rank)] = {
            make_step(StepKind::copy, -1, Mechanism::none, input, one),
            make_step(StepKind::send, 1 - rank, Mechanism::line, input),
            make_step(StepKind::fold, 1 - rank, Mechanism::line, one, one)};
    }
    expect_refusal(plan, "rank 0, step 1", "may be the same memory");
    for (auto& steps : plan.steps) {
        steps[1].from = one;
    }
    check_plan(plan);
}

TEST(Refusal, KeepsBlocksInTheirPlaces) {
    Plan plan = empty_plan(Collective::broadcast, 2, 2, 100);
    for (std::uint32_t block = 0; block < 2; ++block) {
        plan.steps[0].push_back(
            make_step(StepKind::send, 1, Mechanism::cells, {Buffer::output, block, 1}));
        plan.steps[1].push_back(
            make_step(StepKind::recv, 0, Mechanism::cells, {}, {Buffer::output, 1 - block, 1}));
    }
    expect_refusal(plan, "rank 1, step 0", "puts block 0 where block 1 belongs");
}

TEST(Refusal, GuardsBuffersThatArePulled) {
    Plan plan = published_broadcast(3, Mechanism::pull, 2);
    check_plan(plan);
    // The owner ends before rank 2 has said that it is done.
    Plan early = plan;
    early.steps[0].pop_back();
    early.steps[2].pop_back();
    expect_refusal(early, "rank 0, step 0 (publish via pull)", "acknowledgement");
    // Rank 2 says so before it has read the last block.
    early = plan;
    std::swap(early.steps[2][1], early.steps[2][2]);
    expect_refusal(early, "rank 0, step 1 (publish via pull)", "rank 2 may still be reading");
}

TEST(Refusal, GuardsPulledBlocksAgainstOverwriting) {
    // Rank 1 gives its partial sum to rank 0 and takes the result into the same blocks.
    Plan plan = empty_plan(Collective::allreduce, 2, 1, 5000);
    const Blocks input{Buffer::input, 0, 1};
    plan.steps[1] = {make_step(StepKind::send, 0, Mechanism::pull, input),
                     make_step(StepKind::recv, 0, Mechanism::pull, {}, one),
                     make_step(StepKind::signal, 0)};
    plan.steps[0] = {make_step(StepKind::fold, 1, Mechanism::pull, input, one),
                     make_step(StepKind::send, 1, Mechanism::pull, one),
                     make_step(StepKind::wait, 1)};
    check_plan(plan); // The result cannot arrive before the sum was taken.
    // With a copy of its input it would overwrite what rank 0 may still read.
    plan.steps[1].insert(plan.steps[1].begin() + 1,
                         make_step(StepKind::copy, -1, Mechanism::none, input, one));
    expect_refusal(plan, "rank 1, step 1 (copy)", "rank 0 may still be reading them in its step 0");
}

TEST(Refusal, GuardsWhatIsOnItsWayThroughTheNetwork) {
    // Rank 0 sends its block twice around; nothing needs to be acknowledged at the end.
    Plan plan = empty_plan(Collective::allreduce, 2, 1, 5000);
    plan.scratch_blocks = 1;
    const Blocks input{Buffer::input, 0, 1};
    const Blocks scratch{Buffer::scratch, 0, 1};
    for (std::size_t rank = 0; rank < 2; ++rank) {
        const Rank peer = rank == 0 ? 1 : 0;
        plan.steps[rank] = {make_step(StepKind::copy, -1, Mechanism::none, input, scratch),
                            make_step(StepKind::send, peer, Mechanism::network, scratch),
                            make_step(StepKind::fold, peer, Mechanism::network, input, one)};
        plan.steps[rank][2].incoming_first = rank == 1;
    }
    check_plan(plan, true);
    // What arrives says nothing about what was sent.
    plan.steps[0].push_back(make_step(StepKind::copy, -1, Mechanism::none, one, scratch));
    expect_refusal(plan, "rank 0, step 3 (copy)", "to the network");
}

TEST(Refusal, NamesWhoLeavesABarrierTooEarly) {
    Plan plan = flat_barrier(3);
    plan.steps[0].erase(plan.steps[0].begin() + 1);
    plan.steps[2].erase(plan.steps[2].begin());
    expect_refusal(plan, "rank 0: ", "before rank 2 has entered it");
}

/// Two ranks that meet twice via exchange.
Plan meetings() {
    Plan plan = empty_plan(Collective::barrier, 2, 0, 0);
    for (const Rank rank : {0, 1}) {
        for (int meeting = 0; meeting < 2; ++meeting) {
            auto& steps = plan.steps[static_cast<std::size_t>(rank)];
            steps.push_back(make_step(StepKind::signal, 1 - rank, Mechanism::exchange));
            steps.push_back(make_step(StepKind::wait, 1 - rank, Mechanism::exchange));
        }
    }
    return plan;
}

TEST(Refusal, ExchangeGoesInTurns) {
    EXPECT_NO_THROW(check_plan(meetings()));
    Plan plan = meetings();
    std::swap(plan.steps[0][1], plan.steps[0][2]);
    expect_refusal(plan, "rank 0, step 1 (signal to 1 via exchange)", "sends twice");
    plan = meetings();
    std::swap(plan.steps[1][0], plan.steps[1][1]);
    expect_refusal(plan, "rank 1, step 0 (wait for 0 via exchange)", "without having sent");
    plan = meetings();
    plan.steps[1].pop_back();
    expect_refusal(plan, "rank 1, step 2 (signal to 0 via exchange)", "never takes");
    plan = meetings();
    plan.steps[1].resize(2);
    expect_refusal(plan, "rank 0, step 3 (wait for 1 via exchange)", "sends only 1 message");
}

TEST(Refusal, ExchangeCarriesEightBytes) {
    const auto allreduce = [](std::uint64_t bytes) {
        Plan plan = empty_plan(Collective::allreduce, 2, 1, bytes);
        for (const Rank rank : {0, 1}) {
            const Blocks input{Buffer::input, 0, 1};
            auto& steps = plan.steps[static_cast<std::size_t>(rank)];
            steps.push_back(make_step(StepKind::send, 1 - rank, Mechanism::exchange, input));
            steps.push_back(make_step(StepKind::fold, 1 - rank, Mechanism::exchange, input, one));
            steps.back().incoming_first = rank == 1;
        }
        return plan;
    };
    EXPECT_NO_THROW(check_plan(allreduce(8), true));
    expect_refusal(allreduce(9), "rank 0, step 0 (send to 1 via exchange)", "8 bytes");
}

} // namespace
