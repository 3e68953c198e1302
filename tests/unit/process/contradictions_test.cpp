// SPDX-License-Identifier: Apache-2.0
// Calls of processes that contradict each other.
#include "children.hpp"
#include "contradictions.hpp"
#include "limits.hpp"

namespace corymb {
namespace {

using namespace process_test;
using namespace contradictions;

void expect_all_told(int ranks, const std::vector<Case>& cases) {
    const TeamDescriptor team(ranks);
    TeamOptions options;
    options.deadline = test_limit();
    Children children;
    for (int rank = 0; rank < ranks; ++rank) {
        children.start([&] {
            Team whole = Team::attach(by_descriptor(team, options));
            std::string all;
            for (const std::string& wrong : failures_of(whole, cases)) {
                all += wrong + '\n';
            }
            require(all.empty() || whole.rank() != 0, all);
        });
    }
    children.expect_all_good();
}

TEST(ProcessContradictionsTest, Lengths) {
    expect_all_told(2, lengths(false));
}

TEST(ProcessContradictionsTest, LengthsOfNonblockingCalls) {
    expect_all_told(2, lengths(true));
}

TEST(ProcessContradictionsTest, Operations) {
    expect_all_told(3, operations(100'000));
}

TEST(ProcessContradictionsTest, Roots) {
    expect_all_told(3, roots(2));
}

TEST(ProcessContradictionsTest, Messages) {
    expect_all_told(2, messages(false));
    expect_all_told(2, messages(true));
}

} // namespace
} // namespace corymb
