// SPDX-License-Identifier: Apache-2.0
#include "sample_machine.hpp"

#include <corymb/machine.hpp>

#include <gtest/gtest.h>

namespace corymb {

namespace {

TEST(Costs, AMeasuredPairHasItsEntry) {
    const Machine machine = model_test::sample_machine();
    EXPECT_EQ(machine.send_cost(0, 1), 8.25);
    EXPECT_EQ(machine.receive_cost(2, 3), 33);
}

TEST(Costs, AMissingEntryFallsBackToTheClassMedian) {
    const Machine machine = model_test::sample_machine();
    EXPECT_EQ(machine.class_of(3, 0), 1);
    EXPECT_EQ(machine.send_cost(3, 0), 8);
    EXPECT_EQ(machine.receive_cost(3, 0), 30);
}

TEST(Costs, WithoutMatrixEveryPairHasItsClassMedian) {
    Machine machine = model_test::sample_machine();
    machine.send.clear();
    machine.receive.clear();
    EXPECT_EQ(machine.send_cost(0, 2), 3);
    EXPECT_EQ(machine.receive_cost(0, 2), 9);
    EXPECT_EQ(machine.send_cost(0, 1), 8);
}

TEST(Costs, CpuNumbersAreFound) {
    const Machine machine = model_test::sample_machine();
    EXPECT_EQ(machine.index_of_cpu(4), 2);
    EXPECT_EQ(machine.index_of_cpu(2), -1);
    EXPECT_EQ(machine.group_count(), 2);
}

} // namespace

} // namespace corymb
