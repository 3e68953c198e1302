// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_list.hpp"
#include "base/usable_cpus.hpp"
#include "fake_root.hpp"

#include <corymb/discover.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace corymb {
namespace {

namespace fs = std::filesystem;
using Cpus = std::vector<int>;

constexpr const char* unified_mount =
    "22 1 0:20 / /proc rw - proc proc rw\n"
    "30 1 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";

TEST(CpuList, ReadsWhatTheKernelWrites) {
    EXPECT_EQ(parse_cpu_list("0-3,8\n"), (Cpus{0, 1, 2, 3, 8}));
    EXPECT_EQ(parse_cpu_list(""), Cpus{});
    EXPECT_EQ(parse_cpu_list("5"), Cpus{5});
    EXPECT_EQ(parse_cpu_list("4,2-3,3"), (Cpus{2, 3, 4}));
}

TEST(CpuList, RefusesMalformedText) {
    for (const char* const text : {"a", "1-", "-1", "3-1", "1,,2", "0-99999999999", "1;2", "0x1"}) {
        EXPECT_FALSE(parse_cpu_list(text)) << text;
    }
}

TEST(CpuList, FormatsTheShortestForm) {
    EXPECT_EQ(format_cpu_list({8, 0, 1, 3, 2, 2}), "0-3,8");
    EXPECT_EQ(format_cpu_list({0, 1}), "0-1");
    EXPECT_EQ(format_cpu_list({}), "");
    EXPECT_EQ(parse_cpu_list(format_cpu_list({1, 3, 5, 6, 7, 1023, 4096})),
              (Cpus{1, 3, 5, 6, 7, 1023, 4096}));
}

TEST(CgroupLimits, NoFilesMeanNoLimit) {
    const FakeRoot root;
    EXPECT_FALSE(cgroup_limits(root.path()).quota);
    EXPECT_FALSE(cgroup_limits(root.path()).cpuset);
}

TEST(CgroupLimits, Version2TakesTheLeastOnThePath) {
    FakeRoot root;
    root.file("proc/self/mountinfo", unified_mount)
        .file("proc/self/cgroup", "0::/a/b/c\n")
        .file("sys/fs/cgroup/a/cpu.max", "150000 100000\n")
        .file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
        .file("sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n")
        .file("sys/fs/cgroup/other/cpu.max", "1000 100000\n")
        .file("sys/fs/cgroup/a/cpuset.cpus.effective", "0-7\n")
        .file("sys/fs/cgroup/a/b/c/cpuset.cpus.effective", "4-9\n");
    ASSERT_TRUE(cgroup_limits(root.path()).quota);
    EXPECT_DOUBLE_EQ(*cgroup_limits(root.path()).quota, 1.5);
    EXPECT_EQ(cgroup_limits(root.path()).cpuset, (Cpus{4, 5, 6, 7}));
}

TEST(CgroupLimits, Version1FindsEachControllerAtItsMount) {
    FakeRoot root;
    root.file("proc/self/mountinfo",
              "1 0 0:1 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
              "2 0 0:2 / /sys/fs/cgroup/cpu\\040set rw - cgroup cgroup rw,cpuset\n")
        .file("proc/self/cgroup", "7:memory:/x\n4:cpu,cpuacct:/job\n3:cpuset:/job\n")
        .file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
        .file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n")
        .file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n")
        .file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n")
        .file("sys/fs/cgroup/cpu set/job/cpuset.cpus", "\n")
        .file("sys/fs/cgroup/cpu set/cpuset.cpus", "2-5\n");
    ASSERT_TRUE(cgroup_limits(root.path()).quota);
    EXPECT_DOUBLE_EQ(*cgroup_limits(root.path()).quota, 2.5);
    EXPECT_EQ(cgroup_limits(root.path()).cpuset, (Cpus{2, 3, 4, 5}));
}

TEST(CgroupLimits, ContainerSeesItsOwnCgroupAtTheMountPoint) {
    FakeRoot root;
    root.file("proc/self/mountinfo",
              "30 1 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n")
        .file("proc/self/cgroup", "0::/docker/abc\n")
        .file("sys/fs/cgroup/cpu.max", "50000 100000\n");
    ASSERT_TRUE(cgroup_limits(root.path()).quota);
    EXPECT_DOUBLE_EQ(*cgroup_limits(root.path()).quota, 0.5);
}

TEST(CgroupLimits, PathOutsideTheNamespaceFallsBackToTheMountPoint) {
    FakeRoot root;
    root.file("proc/self/mountinfo", unified_mount)
        .file("proc/self/cgroup", "0::/../../elsewhere\n")
        .file("sys/fs/cgroup/cpu.max", "300000 100000\n");
    ASSERT_TRUE(cgroup_limits(root.path()).quota);
    EXPECT_DOUBLE_EQ(*cgroup_limits(root.path()).quota, 3.0);
}

TEST(CgroupLimits, MalformedFilesAreNoLimit) {
    for (const char* const text : {"", "max", "abc def", "0 0", "-5 100000", "100000"}) {
        FakeRoot root;
        root.file("proc/self/mountinfo", unified_mount)
            .file("proc/self/cgroup", "nonsense\n0::/\n:\n")
            .file("sys/fs/cgroup/cpu.max", text)
            .file("sys/fs/cgroup/cpuset.cpus.effective", "all of them");
        EXPECT_FALSE(cgroup_limits(root.path()).quota) << text;
        EXPECT_FALSE(cgroup_limits(root.path()).cpuset) << text;
    }
}

TEST(UsableCpus, CountIsTheLesserOfMaskAndQuotaAndAtLeastOne) {
    EXPECT_EQ((UsableCpus{{0, 1, 2, 3}, std::nullopt}).count(), 4);
    EXPECT_EQ((UsableCpus{{0, 1, 2, 3}, 2.9}).count(), 2);
    EXPECT_EQ((UsableCpus{{0, 1, 2, 3}, 0.5}).count(), 1);
    EXPECT_EQ((UsableCpus{{0, 1}, 16.0}).count(), 2);
    EXPECT_EQ((UsableCpus{{}, std::nullopt}).count(), 1);
}

TEST(UsableCpus, FollowsTheMaskOfTheCallingThread) {
    const UsableCpus before = usable_cpus();
    ASSERT_FALSE(before.allowed.empty());
    EXPECT_TRUE(std::is_sorted(before.allowed.begin(), before.allowed.end()));
    std::thread([&] {
        if (set_affinity_mask({before.allowed.back()})) {
            EXPECT_EQ(usable_cpus().allowed, Cpus{before.allowed.back()});
            EXPECT_EQ(usable_cpus().count(), 1);
        }
    }).join();
    EXPECT_EQ(usable_cpus().allowed, before.allowed);
    for (std::size_t place = 0; place < 5; ++place) {
        start_on_one_of_own_cpus(place);
        EXPECT_EQ(affinity_mask(), before.allowed); // It may go wherever it might.
    }
}

TEST(AffinityMask, RefusesWhatDoesNotExist) {
    EXPECT_FALSE(set_affinity_mask({}));
    EXPECT_FALSE(set_affinity_mask({-1}));
    EXPECT_FALSE(set_affinity_mask({1 << 19}));
}

} // namespace
} // namespace corymb
