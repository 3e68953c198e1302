// SPDX-License-Identifier: Apache-2.0
// What ranks write to the folder that CORYMB_TRACE names.
#include "base/file.hpp"
#include "base/json.hpp"
#include "remote/among.hpp"
#include "remote/refusal.hpp"
#include "remote/seeded_cycle.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

namespace corymb {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class TraceFiles : public ::testing::Test {
protected:
    TraceFiles() {
        fs::remove_all(folder);
        fs::create_directories(folder);
        ::setenv("CORYMB_TRACE", folder.c_str(), 1);
    }
    ~TraceFiles() override {
        ::unsetenv("CORYMB_TRACE");
        fs::remove_all(folder);
    }
    /// Whether the file of rank 0 shows tasks.
    [[nodiscard]] bool has_shown() const { return document(0)->root().at("shown").size() != 0; }
    /// That of a rank.
    [[nodiscard]] std::unique_ptr<JsonDocument> document(Rank rank) const {
        const std::string end = "-rank-" + std::to_string(rank) + ".json";
        for (const auto& entry : fs::directory_iterator(folder)) {
            if (entry.path().string().ends_with(end)) {
                return std::make_unique<JsonDocument>(read_file(entry.path()), Errc::io);
            }
        }
        ADD_FAILURE() << "no file of rank " << rank;
        return nullptr;
    }
    const fs::path folder =
        fs::path(::testing::TempDir()) / ("corymb-trace-" + std::to_string(::getpid()));
};

TEST_F(TraceFiles, HaveTheDeadlockAndTheCalls) {
    const auto thrown = cycle_test::run_cross();
    ASSERT_TRUE(thrown[0].has_value());
    EXPECT_EQ(thrown[0]->code(), Errc::deadlock) << thrown[0]->what();
    const auto of_caller = document(0);
    const JsonView caller = of_caller->root();
    EXPECT_EQ(caller.at("schema").text(), "corymb-tasks/1");
    EXPECT_EQ(caller.at("size").integer(), 3);
    EXPECT_EQ(caller.at("deadlock").at("steps").size(), 4U);
    EXPECT_EQ(caller.at("shown").size(), 3U) << "it depends on both others";
    const JsonView calls = caller.at("calls");
    ASSERT_EQ(calls.size(), 4U) << "create, create, hold, hold; and no look";
    for (std::size_t i = 0; i < calls.size(); ++i) {
        EXPECT_GE(calls[i].at("end").number(), calls[i].at("begin").number());
    }
    const auto of_other = document(1);
    EXPECT_EQ(of_other->root().at("rank").integer(), 1);
}

TEST_F(TraceFiles, ShowWhoWaitsForARankThatDoesNotAnswer) {
    RemoteOptions options;
    options.deadlock_after = 20ms;
    bool is_shown = false;
    among(
        2,
        [&](Rank rank) -> Task<> {
            if (rank == 0) {
                co_await at(1, [this, &is_shown] { // Its rank looks at no messages.
                    const auto end = std::chrono::steady_clock::now() + 20s;
                    while (!is_shown && std::chrono::steady_clock::now() < end) {
                        std::this_thread::sleep_for(1ms);
                        is_shown = has_shown();
                    }
                });
            }
        },
        options);
    EXPECT_TRUE(is_shown);
    const auto of_caller = document(0);
    const JsonView shown = of_caller->root().at("shown");
    ASSERT_EQ(shown.size(), 1U);
    EXPECT_EQ(shown[0].at("rank").integer(), 0);
    EXPECT_EQ(shown[0].at("calls")[0].at("to").integer(), 1);
}

TEST_F(TraceFiles, AreRefusedAtOnceWhereNothingCanBeWritten) {
    ::setenv("CORYMB_TRACE", "/proc/nothing", 1);
    RemoteGroup group(1);
    try {
        static_cast<void>(group.join(0));
        ADD_FAILURE() << "nobody can write there";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::io) << error.what();
        EXPECT_NE(std::string(error.what()).find("/proc/nothing"), std::string::npos);
    }
}

} // namespace
} // namespace corymb
