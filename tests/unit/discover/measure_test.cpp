// SPDX-License-Identifier: Apache-2.0
// The real thing on this machine. Speeds are not asserted, only what has to hold on any.
#include "base/usable_cpus.hpp"
#include "machine/discover/bandwidth.hpp"
#include "machine/discover/noise.hpp"

#include <corymb/discover.hpp>
#include <corymb/error.hpp>
#include <corymb/usable_cpus.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace corymb {
namespace {

TEST(Measure, GivesAModelOfThisMachine) {
    MeasureOptions options;
    options.budget_s = 2;
    int calls = 0;
    double last = 0;
    bool monotone = true;
    const auto caller = std::this_thread::get_id();
    options.progress = [&](double done, std::string_view what) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_FALSE(what.empty());
        monotone = monotone && done >= last && done <= 1;
        last = done;
        ++calls;
        return true;
    };
    const std::vector<int> mask = affinity_mask();
    const Machine machine = measure(options);
    EXPECT_EQ(affinity_mask(), mask);
    EXPECT_GT(calls, 0);
    EXPECT_TRUE(monotone);
    EXPECT_NO_THROW(machine.check());
    EXPECT_EQ(machine.size(), static_cast<int>(usable_cpus().allowed.size()));
    EXPECT_FALSE(machine.created.empty());
    EXPECT_GT(machine.quality.duration_s, 0);
    const auto& remarks = machine.quality.remarks;
    const bool left_out = std::any_of(remarks.begin(), remarks.end(), [](const std::string& text) {
        return text.starts_with("No memory bandwidth");
    });
    EXPECT_EQ(machine.memory.empty(), left_out) << "what a busy machine left out is said";
    if (machine.size() < 2 || machine.source != "measured") {
        EXPECT_FALSE(machine.quality.remarks.empty());
        return;
    }
    for (const Curve& curve : machine.transfer) {
        EXPECT_GE(curve.count.front(), 1 << 16);
        EXPECT_LE(curve.count.back(), 1 << 24);
        EXPECT_GT(curve.value.front(), 0);
    }
    EXPECT_LE(machine.rewrite.size(), machine.fresh.size()) << "they are measured together";
    for (const Curve& curve : machine.fresh) {
        EXPECT_EQ(curve.count.front(), 64);
        EXPECT_GT(curve.value.back(), 0);
    }
    for (const Curve& curve : machine.message) {
        EXPECT_LE(curve.count.back(), 4096);
        EXPECT_GT(curve.value.front(), 0);
    }
    for (const PairClass& pair_class : machine.classes) {
        const double parts = 2 * (pair_class.send.median + pair_class.receive.median);
        EXPECT_GT(parts, 0);
        EXPECT_GT(pair_class.round_trip.median, parts / 4) << pair_class.name;
        EXPECT_LT(pair_class.round_trip.median, parts * 4) << pair_class.name;
    }
}

TEST(Measure, OneCpuGivesAModelWithoutCosts) {
    MeasureOptions options;
    options.budget_s = 0.2;
    options.cpus = {usable_cpus().allowed.front()};
    const Machine machine = measure(options);
    EXPECT_EQ(machine.size(), 1);
    EXPECT_TRUE(machine.classes.empty());
    ASSERT_FALSE(machine.quality.remarks.empty());
    EXPECT_NE(machine.quality.remarks.front().find("one CPU"), std::string::npos);
    EXPECT_NO_THROW(machine.check());
    EXPECT_TRUE(spot_check(machine).fits);
}

TEST(Measure, CanBeStopped) {
    MeasureOptions options;
    options.budget_s = 30;
    options.progress = [](double, std::string_view) {
        return false;
    };
    try {
        measure(options);
        ADD_FAILURE() << "was not stopped";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::interrupted);
    }
}

TEST(Measure, RefusesNonsense) {
    const int allowed = usable_cpus().allowed.front();
    std::vector<MeasureOptions> wrong(5);
    wrong[0].budget_s = 0;
    wrong[1].budget_s = -1;
    wrong[2].budget_s = std::nan("");
    wrong[3].cpus = {99999};
    wrong[4].cpus = {allowed, allowed};
    for (const MeasureOptions& options : wrong) {
        try {
            measure(options);
            ADD_FAILURE() << "was accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
        }
    }
}

TEST(SpotCheck, TellsAMachineThatIsTooSlow) {
    if (usable_cpus().count() < 2) {
        GTEST_SKIP() << "one CPU has no pairs";
    }
    Machine machine = discover_topology();
    for (PairClass& pair_class : machine.classes) { // A thousand seconds a message.
        pair_class.send = pair_class.receive = {1e12, 1e12, 1e12, 1};
    }
    const SpotCheck check = spot_check(machine);
    EXPECT_FALSE(check.text.empty());
    // On a machine without two free CPUs there is nothing to compare with.
    EXPECT_TRUE(!check.fits || check.text.find("busy") != std::string::npos) << check.text;
    EXPECT_TRUE(!check.fits ? check.worst_ratio < 0.5 : check.worst_ratio == 1);
}

TEST(SpotCheck, RefusesAModelWithOtherCpus) {
    Machine machine = topology_from_synthetic("pack:1 core:2 pu:1");
    machine.topology.pus[0].cpu = usable_cpus().allowed.front();
    machine.topology.pus[1].cpu = 12345;
    const SpotCheck check = spot_check(machine);
    EXPECT_FALSE(check.fits);
    EXPECT_NE(check.text.find("12345"), std::string::npos);
}

TEST(Noise, ReadsCpuTimes) {
    const auto file =
        std::filesystem::temp_directory_path() / ("corymb-stat-" + std::to_string(getpid()));
    std::ofstream(file) << "cpu  10 0 20 60 5 1 2 2 0 0\ncpu0 1 2 3\n";
    const auto times = discover::read_cpu_times(file);
    ASSERT_TRUE(times);
    EXPECT_EQ(times->total, 100);
    EXPECT_EQ(times->steal, 2);
    EXPECT_EQ(times->idle, 65);
    EXPECT_DOUBLE_EQ(discover::stolen_share({100, 2, 0}, {200, 27, 0}), 0.25);
    EXPECT_DOUBLE_EQ(discover::stolen_share({100, 2, 0}, {100, 2, 0}), 0);
    std::ofstream(file) << "intr 1 2 3";
    EXPECT_FALSE(discover::read_cpu_times(file));
    std::filesystem::remove(file);
    EXPECT_FALSE(discover::read_cpu_times(file));
}

TEST(Bandwidth, MeasuresWhatItIsAllowedTo) {
    const std::vector<discover::WorkingSet> sets = {{"l1", 16 << 10}, {"dram", 1 << 30}};
    const auto levels =
        discover::measure_bandwidth(sets, [](double expected_s) { return expected_s < 1; });
    ASSERT_EQ(levels.size(), 1u);
    EXPECT_EQ(levels[0].level, "l1");
    EXPECT_GT(levels[0].read_gbs, 0);
    EXPECT_GT(levels[0].write_gbs, 0);
    EXPECT_GT(levels[0].copy_gbs, 0);
}

TEST(Bandwidth, WorkingSetsFollowTheCaches) {
    constexpr std::int64_t kibi = 1024;
    constexpr std::int64_t mebi = 1024 * kibi;
    const auto sets = discover::working_sets(32 * kibi, mebi, 32 * mebi, 8192 * mebi);
    ASSERT_EQ(sets.size(), 4u);
    EXPECT_EQ(sets[0].bytes, 16 * kibi);
    EXPECT_EQ(sets[3].level, "dram");
    EXPECT_EQ(sets[3].bytes, 128 * mebi);
    // With little memory there is no set that is larger than the cache.
    EXPECT_EQ(discover::working_sets(32 * kibi, mebi, 32 * mebi, 64 * mebi).size(), 3u);
    // Nothing known about caches.
    ASSERT_EQ(discover::working_sets(0, 0, 0, 8192 * mebi).size(), 1u);
}

} // namespace
} // namespace corymb
