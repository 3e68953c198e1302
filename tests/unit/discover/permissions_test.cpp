// SPDX-License-Identifier: Apache-2.0
#include <corymb/discover.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>

namespace corymb {
namespace {

TEST(Permissions, EveryRowSaysWhatItMeans) {
    const std::vector<Permission> rows = probe_permissions();
    std::set<std::string> names;
    for (const Permission& row : rows) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name << " stands twice";
        EXPECT_GT(row.detail.size(), 10u) << row.name;
    }
    for (const char* const name :
         {"pinning", "CPU quota", "futex", "membarrier", "transparent huge pages",
          "explicit huge pages", "/dev/shm", "memfd", "process_vm_readv", "perf events",
          "invariant cycle counter", "NUMA policy", "namespaces", "umwait"}) {
        EXPECT_TRUE(names.contains(name)) << name;
    }
}

TEST(Permissions, LeaveNoChildBehind) {
    probe_permissions();
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

TEST(Permissions, PinningAgreesWithTheMeasurement) {
    const auto rows = probe_permissions();
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [](const Permission& p) { return p.name == "pinning"; });
    ASSERT_NE(row, rows.end());
    MeasureOptions options;
    options.budget_s = 0.2;
    EXPECT_EQ(measure(options).quality.pinned || discover_topology().size() < 2, row->available);
}

} // namespace
} // namespace corymb
