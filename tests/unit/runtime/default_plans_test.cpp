// SPDX-License-Identifier: Apache-2.0
// Which plans two processes get, whatever this machine's caches are: the model that they are made
// on is kept where the library looks for it, and what the team has found is given.
#include "base/file.hpp"
#include "base/tuned.hpp"
#include "cache_directory.hpp"
#include "machine/discover/planning_model.hpp"
#include "team/team_shared.hpp"

#include <corymb/discover.hpp>
#include <corymb/error.hpp>
#include <corymb/machine.hpp>
#include <corymb/noise.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace corymb {
namespace {

namespace fs = std::filesystem;

class DefaultPlans : public CacheDirectory {
protected:
    /// Changes the answer that the library keeps for the next ten minutes.
    template <class Change>
    void change_model(const Change& change) {
        Machine machine = discover::planning_model();
        for (const auto& entry : fs::directory_iterator(directory_)) {
            const std::string text = read_file(entry.path());
            const std::string first = text.substr(0, text.find('\n') + 1);
            change(machine);
            std::ofstream(entry.path(), std::ios::trunc) << first << to_json(machine);
        }
    }

    [[nodiscard]] static std::string algorithm(double cells_gbs, Collective op,
                                               std::uint64_t bytes) {
        team::Surroundings where;
        where.size = where.usable = 2;
        where.copies = {1500, 12};
        where.cells_gbs = cells_gbs;
        where.own_gbs = 30;
        PlanNeed need;
        need.op = op;
        need.size = 2;
        need.bytes = bytes;
        return (*team::default_plans({}, where).search(need, {}))->algorithm;
    }
    [[nodiscard]] static bool goes_through(const char* mechanism, const std::string& algorithm) {
        return algorithm.find("/" + std::string(mechanism) + "-") != std::string::npos;
    }
};

constexpr double unknown = 0, near = 30, far = 8; ///< Rates beside 12 GB/s of the kernel.

/// Two CPUs with one cache, between which cells were measured to be slower than anything.
void make_cells_slow(Machine& machine) {
    for (Pu& pu : machine.topology.pus) {
        pu.l3 = 0;
    }
    machine.transfer.clear();
    for (int pair_class = 0; pair_class < static_cast<int>(machine.classes.size()); ++pair_class) {
        machine.transfer.push_back({pair_class, {16 << 10, 1 << 20}, {1e6, 64e6}});
    }
}

TEST_F(DefaultPlans, WhatTheTeamHasFoundOfItsCachesCountsMoreThanAnOldModel) {
    if (discover::planning_model().size() < 2) {
        GTEST_SKIP() << "one CPU";
    }
    change_model(make_cells_slow);
    constexpr std::uint64_t exchanged = 128 << 10;
    const auto exchange = [](double cells_gbs) {
        return algorithm(cells_gbs, Collective::allgather, exchanged);
    };
    EXPECT_TRUE(goes_through("pull", exchange(unknown))) << exchange(unknown);
    EXPECT_TRUE(goes_through("cells", exchange(near))) << exchange(near);
    EXPECT_TRUE(goes_through("pull", exchange(far))) << exchange(far);
    // Calls that follow each other overlap through cells, and those are nearly as fast.
    for (const Collective op : {Collective::gather, Collective::scatter}) {
        const std::string of_near = algorithm(near, op, 1 << 20);
        EXPECT_TRUE(goes_through("cells", of_near)) << of_near;
        const std::string of_far = algorithm(far, op, 1 << 20);
        EXPECT_TRUE(goes_through("pull", of_far)) << of_far;
    }
}

TEST_F(DefaultPlans, ABarrierWhoseRootShouldLeaveFirstIsAStarAroundIt) {
    team::Surroundings where;
    where.size = 5;
    where.usable = 2;
    const auto search = team::default_plans({}, where).search;
    const auto plans = [&search](const PlanNeed& wanted) {
        return **search(wanted, {});
    };
    PlanNeed need;
    need.op = Collective::barrier;
    need.size = 5;
    need.root = 3;
    need.root_first = true;
    const Plan plan = plans(need);
    for (Rank rank = 0; rank < 5; ++rank) {
        const auto& steps = plan.steps[static_cast<std::size_t>(rank)];
        EXPECT_EQ(steps.size(), rank == 3 ? 8U : 2U) << "rank " << rank;
    }
    need.root_first = false;
    EXPECT_NE(plans(need).algorithm, plan.algorithm) << "a barrier behind a barrier";
}

/// Whether the first search of a team replays candidates under noise.
bool looks_at_tail(const TeamOptions& options, int size) {
    team::Surroundings where;
    where.size = size;
    where.usable = 2;
    PlanNeed need;
    need.op = Collective::allreduce;
    need.size = size;
    need.bytes = 8;
    const auto plans = team::default_plans(options, where);
    const DecidingNumbers numbers;
    EXPECT_TRUE(plans.search(need, {}));
    return std::ranges::any_of(numbers.all(), [](const TunedNumber& number) {
        return number.name == "runtime/search/replays";
    });
}

TEST_F(DefaultPlans, AreSearchedForTheTailUnderTheRecordedNoise) {
    const auto code_of = [](const std::string& objective) {
        TeamOptions options;
        options.objective = objective;
        try {
            static_cast<void>(looks_at_tail(options, 2));
        } catch (const Error& error) {
            return error.code();
        }
        return Errc::internal;
    };
    EXPECT_EQ(code_of("p95"), Errc::unknown_name);
    EXPECT_EQ(code_of("p99"), Errc::io) << "there is no recording";
    NoiseTrace trace;
    trace.cpus = {{0, 1e6, {{1000, 20'000}, {400'000, 5'000}}}};
    std::ofstream(cached_noise_path()) << to_json(trace);
    TeamOptions options;
    EXPECT_FALSE(looks_at_tail(options, 2));
    options.objective = "p99";
    if (discover::planning_model().size() >= 2) {
        EXPECT_TRUE(looks_at_tail(options, 2));
    }
    EXPECT_FALSE(looks_at_tail(options, 5)) << "ranks that take turns";
    std::ofstream(cached_noise_path()) << "{";
    EXPECT_EQ(code_of("p99"), Errc::invalid_model);
    EXPECT_EQ(code_of("median"), Errc::internal) << "no error";
}

} // namespace
} // namespace corymb
