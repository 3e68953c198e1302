// SPDX-License-Identifier: Apache-2.0
#include "base/hardware_threads.hpp"

#include "fake_root.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace corymb {
namespace {

using Cpus = std::vector<int>;

/// A machine with such lists of the threads of cores.
Cpus in_order(const std::vector<const char*>& siblings, const Cpus& cpus) {
    FakeRoot root;
    for (std::size_t cpu = 0; cpu < siblings.size(); ++cpu) {
        root.file("sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                      "/topology/thread_siblings_list",
                  std::string(siblings[cpu]) + "\n");
    }
    return one_of_each_core_first(cpus, root.path());
}

TEST(HardwareThreads, ComeOneOfEachCoreFirst) {
    EXPECT_EQ(in_order({"0-1", "0-1", "2-3", "2-3"}, {0, 1, 2, 3}), (Cpus{0, 2, 1, 3}));
    EXPECT_EQ(in_order({"0,2", "1,3", "0,2", "1,3"}, {3, 2, 1, 0}), (Cpus{0, 1, 2, 3}));
    EXPECT_EQ(in_order({"0-3", "0-3", "0-3", "0-3"}, {3, 1}), (Cpus{1, 3}));
    EXPECT_EQ(in_order({"0-1", "0-1", "2-3", "2-3", "4-5", "4-5"}, {2, 3, 5}), (Cpus{2, 5, 3}))
        << "4 is not there";
}

TEST(HardwareThreads, AreCoresWhereNothingTells) {
    EXPECT_EQ(in_order({}, {5, 4}), (Cpus{4, 5}));
    EXPECT_EQ(in_order({"0-1", "x"}, {1, 0}), (Cpus{0, 1}));
    EXPECT_EQ(in_order({}, {}), Cpus{});
}

TEST(HardwareThreads, OfThisMachineAreAllThere) {
    EXPECT_EQ(one_of_each_core_first({0}), Cpus{0});
    EXPECT_EQ(one_of_each_core_first({0, 1}).size(), 2U);
    EXPECT_EQ(one_of_each_core_first({0, 1}), one_of_each_core_first({1, 0}));
}

} // namespace
} // namespace corymb
