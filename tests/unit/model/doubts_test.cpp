// SPDX-License-Identifier: Apache-2.0
#include <corymb/cluster.hpp>
#include <corymb/doubts.hpp>
#include <corymb/machine.hpp>

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(Doubts, SayWhatIsUnknownOrAssumedOfWhatRanksShare) {
    Machine machine;
    machine.topology.pus = {{.cpu = 0, .package = 0}, {.cpu = 1, .package = 1}};
    machine.fresh = machine.message = {{0, {64}, {150}}};
    EXPECT_EQ(doubts(machine),
              (Texts{"Lacks what ranks share: memory controllers and caches, links between "
                     "packages, words that all change. Ranks that use them at the same time are "
                     "not slowed down."}));
    machine.shared = {{SharedUse::copies_from, Scope::numa, DataOrigin::measured, 0, {1}, {9}},
                      {SharedUse::copies_between, Scope::package, DataOrigin::assumed, 0, {1}, {9}},
                      {SharedUse::word, Scope::machine, DataOrigin::measured, 0, {2}, {90}}};
    EXPECT_EQ(doubts(machine), (Texts{"Assumed of what ranks share: copies-between package."}));
    machine.shared.pop_back();
    EXPECT_EQ(doubts(machine).front(),
              "Lacks what ranks share: words that all change. Ranks that use them at the same time "
              "are not slowed down.");
}

TEST(Doubts, SayWhatAnOlderModelDoesNotKnowOfLongMessages) {
    const auto lacks = [](const Machine& machine, const char* field) {
        const Texts texts = doubts(machine);
        return std::ranges::any_of(texts, [field](const std::string& text) {
            return text.starts_with("Lacks") && text.find(field) != std::string::npos;
        });
    };
    Machine machine;
    machine.topology.pus = {{.cpu = 0}, {.cpu = 1}};
    EXPECT_TRUE(lacks(machine, "(fresh)"));
    EXPECT_TRUE(lacks(machine, "(message)"));
    machine.fresh = machine.message = {{0, {64}, {150}}};
    EXPECT_FALSE(lacks(machine, "(fresh)"));
    EXPECT_FALSE(lacks(machine, "(message)"));
    machine.message.clear();
    machine.access.classes.resize(1); // Its accesses say it.
    EXPECT_FALSE(lacks(machine, "(message)"));
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
