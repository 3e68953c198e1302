// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/planning_model.hpp"

#include "cache_directory.hpp"

#include <corymb/discover.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace corymb::discover {
namespace {

namespace fs = std::filesystem;

/// There is no measured model in the directory.
class PlanningModel : public CacheDirectory {
protected:
    void TearDown() override {
        unsetenv("HWLOC_SYNTHETIC");
        CacheDirectory::TearDown();
    }
    /// The file with the answer; empty if there is none.
    [[nodiscard]] fs::path kept() const {
        for (const auto& entry : fs::directory_iterator(directory_)) {
            if (entry.path().filename().string().starts_with("planning-")) {
                return entry.path();
            }
        }
        return {};
    }
    /// Makes the kept answer recognisable, so that the next one shows where it comes from.
    void mark() const {
        std::ifstream in(kept());
        std::string text{std::istreambuf_iterator<char>(in), {}};
        const std::string source = "topology only, not measured";
        const auto at = text.find(source);
        ASSERT_NE(at, std::string::npos) << text;
        std::ofstream(kept()) << text.replace(at, source.size(), marked);
    }
    static constexpr const char* marked = "marked by the test";
};

TEST_F(PlanningModel, IsTheTopologyWhereNothingWasMeasured) {
    const Machine topology = discover_topology();
    for (int i = 0; i < 2; ++i) { // Found, then read.
        const Machine model = planning_model();
        EXPECT_EQ(model.fingerprint.topology_sha256, topology.fingerprint.topology_sha256);
        EXPECT_EQ(model.classes.size(), topology.classes.size());
        EXPECT_EQ(model.exchange.size(), topology.exchange.size());
        EXPECT_EQ(model.size(), topology.size());
    }
}

TEST_F(PlanningModel, IsKept) {
    EXPECT_GE(planning_model().size(), 1);
    mark();
    EXPECT_EQ(planning_model().source, marked);
}

TEST_F(PlanningModel, IsAskedAnewAfterTenMinutes) {
    EXPECT_GE(planning_model().size(), 1);
    mark();
    fs::last_write_time(kept(), fs::file_time_type::clock::now() - std::chrono::minutes(11));
    EXPECT_NE(planning_model().source, marked);
    mark();
    fs::last_write_time(kept(), fs::file_time_type::clock::now() + std::chrono::hours(1));
    EXPECT_NE(planning_model().source, marked);
}

TEST_F(PlanningModel, IsAskedAnewForAnotherMeasuredModel) {
    EXPECT_GE(planning_model().size(), 1);
    mark();
    std::ofstream(cached_model_path()) << "not a model";
    EXPECT_NE(planning_model().source, marked);
}

TEST_F(PlanningModel, IsAskedAnewUnderHwlocsVariables) {
    EXPECT_GE(planning_model().size(), 1);
    mark();
    setenv("HWLOC_SYNTHETIC", "pack:2 core:2 pu:1", 1);
    EXPECT_EQ(planning_model().size(), 4);
    unsetenv("HWLOC_SYNTHETIC");
    EXPECT_EQ(planning_model().source, marked) << "the answer under the variable was kept";
}

TEST_F(PlanningModel, DamagedAnswersAreAskedAnew) {
    EXPECT_GE(planning_model().size(), 1);
    for (const char* const text : {"", "corymb", "{}"}) {
        std::ofstream(kept()) << text;
        EXPECT_GE(planning_model().size(), 1) << text;
    }
    std::ifstream in(kept());
    std::string text{std::istreambuf_iterator<char>(in), {}};
    std::ofstream(kept()) << text.substr(0, text.size() / 2);
    EXPECT_GE(planning_model().size(), 1);
}

TEST_F(PlanningModel, NeedsNoPlaceToBeKept) {
    setenv("CORYMB_CACHE_DIR", "/proc/nowhere", 1);
    EXPECT_GE(planning_model().size(), 1);
}

} // namespace
} // namespace corymb::discover
