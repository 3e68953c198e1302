// SPDX-License-Identifier: Apache-2.0
#include <corymb/cluster.hpp>
#include <corymb/doubts.hpp>
#include <corymb/machine.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace corymb {
namespace {

using Texts = std::vector<std::string>;

TEST(Doubts, NothingIsKnownAgainstAMeasuredModel) {
    EXPECT_EQ(doubts(Machine{}), Texts{});
    Machine machine;
    machine.assumption = "none: both costs were measured";
    EXPECT_EQ(doubts(machine), Texts{});
}

TEST(Doubts, AreSentencesOfAllThatTheModelSaysOfItself) {
    Machine machine;
    machine.assumption = "receive = L";
    machine.quality.noisy = true;
    machine.quality.dropped_batches = 0.314;
    machine.quality.steal = 0.02;
    machine.quality.unstable_topology = true;
    machine.quality.pinned = false;
    machine.quality.remarks = {"A remark."};
    machine.topology.disagreements = {"A disagreement."};
    EXPECT_EQ(doubts(machine),
              (Texts{"Assumed: receive = L.", "Noisy: 31 % of the batches were dropped.",
                     "The hypervisor took 2 % of the CPU time.",
                     "Pairs changed their class while measuring: the vCPUs float.",
                     "Threads could not be bound to CPUs while measuring.", "A remark.",
                     "A disagreement."}));
    machine.assumption = "A whole sentence.";
    EXPECT_EQ(doubts(machine).front(), "Assumed: A whole sentence.");
    machine.quality.steal = 0.01; // As much as any machine has.
    EXPECT_EQ(doubts(machine).size(), 6u);
}

TEST(Doubts, OfAClusterAreSaidOnce) {
    NodeKind noisy;
    noisy.machine.quality.remarks = {"Shared.", "Own."};
    NodeKind other;
    other.machine.quality.remarks = {"Shared.", "Other."};
    Cluster cluster;
    EXPECT_EQ(doubts(cluster), Texts{});
    cluster.kinds = {noisy, other};
    EXPECT_EQ(doubts(cluster), (Texts{"Shared.", "Own.", "Other."}));
}

} // namespace
} // namespace corymb
