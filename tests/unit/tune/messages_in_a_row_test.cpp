// SPDX-License-Identifier: Apache-2.0
#include "tune/turns.hpp"

#include "../team/sample_plans.hpp"
#include "plan/matching.hpp"

#include <corymb/error.hpp>
#include <corymb/plan.hpp>

#include <gtest/gtest.h>

namespace corymb {
namespace {

using enum StepKind;
using enum Mechanism;
using team_test::empty_plan;
using team_test::step;

constexpr Blocks part = team_test::output(0);

std::uint32_t in_a_row(const Plan& plan) {
    return tune::messages_in_a_row(plan::Matching(plan));
}

TEST(MessagesInARow, CountsWhatOneRankAfterTheOtherWaitsFor) {
    Plan plan = empty_plan(Collective::broadcast, 3, 0, 8, 1, "chain");
    EXPECT_EQ(in_a_row(plan), 0);
    plan.steps[0] = {step(send, line, 1, part)};
    plan.steps[1] = {step(recv, line, 0, {}, part), step(send, line, 2, part)};
    plan.steps[2] = {step(recv, line, 1, {}, part)};
    EXPECT_EQ(in_a_row(plan), 2);
    plan.steps[2].push_back(step(signal, none, 0));
    plan.steps[0].push_back(step(wait, none, 2));
    EXPECT_EQ(in_a_row(plan), 3);
    // Sent before it waits: it follows from nothing.
    plan.steps[1] = {step(send, line, 2, part), step(recv, line, 0, {}, part)};
    EXPECT_EQ(in_a_row(plan), 2);
}

TEST(MessagesInARow, CountsReadersOfAPublicationOnce) {
    Plan plan = empty_plan(Collective::broadcast, 3, 0, 8, 1, "published");
    plan.steps[0] = {step(publish, line, -1, part)};
    plan.steps[1] = {step(read, line, 0, {}, part)};
    plan.steps[2] = {step(read, line, 0, {}, part)};
    EXPECT_EQ(in_a_row(plan), 1);
}

TEST(MessagesInARow, CountsOffersAndWhatAnswersThem) {
    Plan plan = empty_plan(Collective::reduce, 2, 0, 8, 1, "pushed");
    plan.steps[0] = {step(offer, push, 1, {}, part), step(wait, none, 1)};
    plan.steps[1] = {step(put, push, 0, team_test::input(0)), step(signal, none, 0)};
    EXPECT_EQ(in_a_row(plan), 2);
}

TEST(MessagesInARow, RefusesAPlanThatNeverEnds) {
    Plan plan = empty_plan(Collective::barrier, 2, 0, 0, 1, "stuck");
    plan.steps[0] = {step(wait, none, 1), step(signal, none, 1)};
    plan.steps[1] = {step(wait, none, 0), step(signal, none, 0)};
    EXPECT_THROW(static_cast<void>(in_a_row(plan)), Error);
}

} // namespace
} // namespace corymb
