// SPDX-License-Identifier: Apache-2.0
#include "refuse_call.hpp"

#include <corymb/discover.hpp>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

/// The row of `name` where the call fails with this error. Written by a child.
std::string detail_if(std::uint32_t call, std::uint32_t error, const std::string& name) {
    int ends[2] = {};
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        refuse_call(call, error);
        for (const Permission& row : probe_permissions()) {
            if (row.name == name) {
                const std::string text = (row.available ? "yes: " : "no: ") + row.detail;
                _exit(write(ends[1], text.data(), text.size()) > 0 ? 0 : 1);
            }
        }
        _exit(1);
    }
    close(ends[1]);
    std::string text(4096, ' ');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(ends[0], text.data(), 4096))));
    close(ends[0]);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    return text;
}

TEST(Permissions, BlameSeccompOnlyForItsOwnErrors) {
    const std::pair<std::uint32_t, const char*> calls[] = {
        {SYS_mbind, "NUMA policy"},
        {SYS_get_mempolicy, "NUMA policy"},
        {SYS_sched_setaffinity, "pinning"},
        {SYS_process_vm_readv, "process_vm_readv"}};
    for (const auto& [call, name] : calls) {
        const std::string refused = detail_if(call, EPERM, name);
        EXPECT_TRUE(refused.starts_with("no: ")) << name << ": " << refused;
        EXPECT_NE(refused.find("seccomp"), std::string::npos) << name << ": " << refused;
        for (const std::uint32_t error : {std::uint32_t{EINVAL}, std::uint32_t{ENOSYS}}) {
            const std::string other = detail_if(call, error, name);
            EXPECT_TRUE(other.starts_with("no: ")) << name << ": " << other;
            EXPECT_EQ(other.find("seccomp"), std::string::npos) << name << ": " << other;
        }
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
