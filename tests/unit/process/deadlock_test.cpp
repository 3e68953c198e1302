// SPDX-License-Identifier: Apache-2.0
// Deadlocks whose cycles pass through processes.
#include "children.hpp"
#include "remote/seeded_cycle.hpp"

namespace corymb {
namespace {

using namespace process_test;
using cycle_test::Cycle;
using cycle_test::is_rotation;

class SeededCycle : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(SeededCycle, AmongProcessesIsFoundAsItIs) {
    const int size = 2 + static_cast<int>(GetParam() % 3);
    const Cycle cycle(GetParam(), size);
    RemoteOptions options;
    options.between_processes = true;
    RemoteGroup group(size, options);
    const Descriptor descriptor(group);
    std::optional<Deadlock> found;
    Children children;
    for (Rank rank = 1; rank < size; ++rank) {
        children.start([&, rank] {
            RemoteRank own = RemoteGroup::open(descriptor.number()).join(rank);
            cycle_test::live(own, cycle, found);
        });
    }
    {
        RemoteRank own = group.join(0);
        cycle_test::live(own, cycle, found);
    }
    EXPECT_TRUE(found.has_value() && is_rotation(cycle.steps(), *found))
        << (found.has_value() ? found->text() : "no deadlock");
    children.expect_all_good();
}

INSTANTIATE_TEST_SUITE_P(Seeds, SeededCycle, ::testing::Range<std::uint64_t>(20, 40));

} // namespace
} // namespace corymb
