// SPDX-License-Identifier: Apache-2.0
// Plans kept for later processes.
#include "base/file.hpp"
#include "cache_directory.hpp"
#include "runtime/plan_cache.hpp"
#include "team/team_shared.hpp"

#include <corymb/machine.hpp>
#include <corymb/planner.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace corymb::team {
namespace {

namespace fs = std::filesystem;

class PlanCacheTest : public CacheDirectory {
protected:
    [[nodiscard]] std::vector<fs::path> files() const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::recursive_directory_iterator(directory_)) {
            if (entry.path().extension() == ".plan") {
                found.push_back(entry.path());
            }
        }
        return found;
    }
    static Plan plan() {
        PlanRequest request;
        request.op = Collective::broadcast;
        request.placement = {0, 1, 2, 3};
        request.root = 0;
        return make_plan(gallery_machine("epyc-7742-2s-256t"), request).plan;
    }
};

TEST_F(PlanCacheTest, GivesBackWhatWasKeptUnderTheSameKey) {
    const PlanCache cache = PlanCache::of_user();
    EXPECT_FALSE(cache.find("one", false));
    cache.keep("one", plan());
    ASSERT_TRUE(PlanCache::of_user().find("one", false));
    EXPECT_EQ(**PlanCache::of_user().find("one", false), plan());
    EXPECT_FALSE(cache.find("two", false));
}

TEST_F(PlanCacheTest, RemovesWhatIsDamaged) {
    const PlanCache cache = PlanCache::of_user();
    cache.keep("one", plan());
    ASSERT_EQ(files().size(), 1U);
    const fs::path file = files().front();
    const std::string whole = read_file(file);
    for (std::size_t place = 0; place < whole.size(); place += 7) {
        std::string text = whole;
        text[place] = static_cast<char>(text[place] ^ 4);
        std::ofstream(file, std::ios::trunc | std::ios::binary) << text;
        EXPECT_FALSE(cache.find("one", false)) << place;
        EXPECT_FALSE(fs::exists(file)) << place;
    }
    std::ofstream(file, std::ios::binary) << whole.substr(0, whole.size() / 2);
    EXPECT_FALSE(cache.find("one", false));
    std::ofstream(file, std::ios::binary) << "";
    EXPECT_FALSE(cache.find("one", false));
}

TEST_F(PlanCacheTest, KeepsNoMoreThanItsMost) {
    const PlanCache cache = PlanCache::of_user();
    const Plan kept = plan();
    for (std::size_t number = 0; number < PlanCache::files_max + 40; ++number) {
        cache.keep(std::to_string(number), kept);
    }
    EXPECT_LE(files().size(), PlanCache::files_max);
    EXPECT_TRUE(cache.find(std::to_string(PlanCache::files_max + 39), false));
    Plan large = kept;
    large.steps.front().resize(PlanCache::bytes_max, large.steps.front().front());
    cache.keep("large", large);
    EXPECT_FALSE(cache.find("large", false));
}

TEST_F(PlanCacheTest, AnUnwritablePlaceIsNoError) {
    const fs::path file = directory_ / "file";
    std::ofstream(file) << "no folder";
    const PlanCache cache(file / "plans");
    cache.keep("one", plan());
    EXPECT_FALSE(cache.find("one", false));
    const PlanCache nowhere{fs::path()};
    nowhere.keep("one", plan());
    EXPECT_FALSE(nowhere.find("one", false));
}

TEST_F(PlanCacheTest, ModelsDifferByWhatPlansDependOn) {
    const Machine machine = gallery_machine("epyc-7742-2s-256t");
    Machine renamed = machine;
    renamed.name = "other";
    EXPECT_EQ(digest_of(renamed), digest_of(machine));
    Machine slower = machine;
    slower.classes.front().receive.median *= 2;
    EXPECT_NE(digest_of(slower), digest_of(machine));
    Machine moved = machine;
    moved.topology.pus.front().l3 += 1;
    EXPECT_NE(digest_of(moved), digest_of(machine));
    Machine flat = machine;
    set_levels(flat, "none");
    EXPECT_NE(digest_of(flat), digest_of(machine));
    Machine apart = flat;
    apart.levels.front().group.back() = 1;
    EXPECT_NE(digest_of(apart), digest_of(flat));
    Machine crowded = machine;
    crowded.shared = {{SharedUse::copies_from, Scope::numa, DataOrigin::assumed, 0, {1}, {10}}};
    EXPECT_NE(digest_of(crowded), digest_of(machine));
    Machine roomy = crowded;
    roomy.shared.front().value = {20};
    EXPECT_NE(digest_of(roomy), digest_of(crowded));
}

TEST_F(PlanCacheTest, LaterTeamsBeginWithWhatWasSearchedFor) {
    Surroundings where;
    where.size = 6;
    where.usable = 2;
    PlanNeed need;
    need.op = Collective::allgather;
    need.size = 6;
    need.bytes = 4096;
    const DefaultPlans first = default_plans({}, where);
    EXPECT_FALSE(first.fair(need).is_best);
    EXPECT_TRUE(files().empty());
    const auto best = first.search(need, {});
    ASSERT_TRUE(best);
    EXPECT_EQ(files().size(), 1U);
    const FairPlan later = default_plans({}, where).fair(need);
    EXPECT_TRUE(later.is_best);
    EXPECT_EQ(*later.plan, **best);
    where.usable = 3;
    EXPECT_FALSE(default_plans({}, where).fair(need).is_best);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(default_plans({}, where).search(need, stop.get_token()));
}

} // namespace
} // namespace corymb::team
