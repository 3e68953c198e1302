// SPDX-License-Identifier: Apache-2.0
// corymb-run, as a user meets it: what it starts, what it says, how it ends.
#include "children.hpp"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>

namespace corymb {
namespace {

using namespace process_test;

struct Result {
    int status = -1;
    std::string text; ///< Both streams.
};

Result run(const std::string& arguments) {
    Result result;
    const std::string command = "exec " CORYMB_RUN_PROGRAM " " + arguments + " 2>&1";
    FILE* const output = ::popen(command.c_str(), "r");
    char bytes[4096];
    for (std::size_t got = 1; got != 0;) {
        got = std::fread(bytes, 1, sizeof bytes, output);
        result.text.append(bytes, got);
    }
    const int status = ::pclose(output);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
}

/// This program as a rank of a team: one of the disabled tests below.
std::string rank_program(const std::string& test) {
    return std::filesystem::read_symlink("/proc/self/exe").string() +
           " --gtest_also_run_disabled_tests --gtest_brief=1 "
           "--gtest_filter=LaunchedRank.DISABLED_" +
           test;
}

TEST(LaunchedRank, DISABLED_AddsUp) {
    AttachOptions options;
    options.team = plans_over(Mechanism::cells);
    Team team = Team::attach(options);
    std::vector<int> sum(1, team.rank() + 1);
    team.reduce(std::span<const int>(sum), std::span(sum));
    if (team.rank() == 0) {
        std::printf("the sum of %d ranks is %d\n", team.size(), sum[0]);
    }
    team.barrier();
}

TEST(LaunchedRank, DISABLED_Dies) {
    AttachOptions options;
    options.team = plans_over(Mechanism::cells);
    Team team = Team::attach(options);
    if (team.rank() == 1) {
        ::raise(SIGKILL);
    }
    try {
        team.barrier();
    } catch (const Error& error) {
        std::printf("told: %s\n", error.what());
        std::fflush(stdout);
        ::pause();
    }
}

/// The whole team is given back by all; its memory serves what is made from it.
TEST(LaunchedRank, DISABLED_GoesOnInParts) {
    AttachOptions options;
    options.team = plans_over(Mechanism::cells);
    Team whole = Team::attach(options);
    Team all = whole.split(0);
    Team part = whole.split(whole.rank() == 0 ? -1 : 0);
    whole = Team();
    all.barrier(); // Everybody has given it back.
    std::vector<Team> more;
    for (int k = 0; k < 20; ++k) {
        more.push_back(all.split(k));
        more.back().barrier();
    }
    if (all.rank() != 0) {
        std::this_thread::sleep_for(500ms);
        part.barrier();
        std::printf("rank %d has gone on\n", all.rank());
    }
}

bool has(const Result& result, const std::string& text) {
    return result.text.find(text) != std::string::npos;
}

TEST(LauncherTest, StartsATeam) {
    const Result result = run("-n 3 -- " + rank_program("AddsUp"));
    EXPECT_EQ(result.status, 0) << result.text;
    EXPECT_TRUE(has(result, "the sum of 3 ranks is 6")) << result.text;
}

TEST(LauncherTest, KnowsWhoHasAttachedWhenTheTeamIsGivenBack) {
    const Result result = run("-n 3 --attach-deadline 0.2 -- " + rank_program("GoesOnInParts"));
    EXPECT_EQ(result.status, 0) << result.text;
    EXPECT_FALSE(has(result, "corymb run: ")) << result.text;
    EXPECT_TRUE(has(result, "rank 1 has gone on") && has(result, "rank 2 has gone on"))
        << result.text;
}

TEST(LauncherTest, UsageErrorsAreOneLine) {
    for (const char* const words :
         {"", "-n 0 -- true", "-n x -- true", "-n 2", "-n", "--bind 3-1 -n 1 -- true",
          "--bind all -n 1 -- true", "--what -n 2 -- true", "-n 2 --attach-deadline -1 -- true"}) {
        const Result result = run(words);
        EXPECT_EQ(result.status, 2) << words;
        EXPECT_EQ(std::count(result.text.begin(), result.text.end(), '\n'), 1) << result.text;
    }
    EXPECT_EQ(run("--help").status, 0);
}

TEST(LauncherTest, TheFirstFailureIsTheExitStatus) {
    EXPECT_EQ(run("-n 2 -- sh -c 'exit 7'").status, 7);
    const Result missing = run("-n 2 -- /no/such/program");
    EXPECT_EQ(missing.status, 127);
    EXPECT_TRUE(has(missing, "/no/such/program")) << missing.text;
}

TEST(LauncherTest, ADeathIsReportedAndEndsTheOthers) {
    const Result result = run("-n 3 --prefix -- " + rank_program("Dies"));
    EXPECT_EQ(result.status, 128 + SIGKILL) << result.text;
    EXPECT_TRUE(has(result, "corymb run: rank 1 (pid ")) << result.text;
    EXPECT_TRUE(has(result, "[0] told: ")) << result.text;
}

TEST(LauncherTest, AProgramThatNeverAttachesIsEnded) {
    const Result result = run("-n 2 --attach-deadline 0.2 -- sleep 60");
    EXPECT_EQ(result.status, 1) << result.text;
    EXPECT_TRUE(has(result, "did not attach")) << result.text;
}

TEST(LauncherTest, AProgramThatEndsWithoutAttachingIsReported) {
    const Result result = run("-n 2 -- true");
    EXPECT_EQ(result.status, 1) << result.text;
    EXPECT_TRUE(has(result, "ended without attaching to the team")) << result.text;
}

TEST(LauncherTest, BindsAndPrefixes) {
    const Result result =
        run("-n 1 --bind core --prefix -- sh -c 'grep Cpus_allowed_list /proc/self/status'");
    const std::size_t line = result.text.find("[0] Cpus_allowed_list:");
    ASSERT_NE(line, std::string::npos) << result.text;
    const std::string cpus = result.text.substr(line, result.text.find('\n', line) - line);
    EXPECT_EQ(cpus.find(','), std::string::npos) << result.text;
}

/// As under nohup.
TEST(LauncherTest, LeavesIgnoredSignalsIgnored) {
    Children children;
    children.start([] {
        ::signal(SIGHUP, SIG_IGN);
        ::execl(CORYMB_RUN_PROGRAM, "corymb-run", "-n", "1", "--", "sh", "-c", "sleep 1; exit 7",
                nullptr);
    });
    std::this_thread::sleep_for(500ms);
    children.signal(0, SIGHUP);
    const int status = children.wait(0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

/// Some programs hand that on to all that they start.
TEST(LauncherTest, SeesProcessesEndWhereSigchldIsIgnored) {
    Children children;
    children.start([] {
        ::signal(SIGCHLD, SIG_IGN);
        ::execl(CORYMB_RUN_PROGRAM, "corymb-run", "-n", "1", "--", "sh", "-c", "exit 7", nullptr);
    });
    const int status = children.wait(0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(LauncherTest, PrefixesAllThatGoesToAPipeThatDoesNotWait) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    Children children;
    children.start([&] {
        ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
        ::dup2(ends[1], STDOUT_FILENO);
        ::execl(CORYMB_RUN_PROGRAM, "corymb-run", "-n", "1", "--prefix", "--", "seq", "50000",
                nullptr);
    });
    ::close(ends[1]);
    std::this_thread::sleep_for(500ms); // It is full by now.
    std::string text(1 << 20, '\0');
    std::size_t got = 0;
    for (ssize_t more = 1; more > 0 && got < text.size();
         got += static_cast<std::size_t>(std::max<ssize_t>(more, 0))) {
        more = ::read(ends[0], text.data() + got, text.size() - got);
    }
    ::close(ends[0]);
    EXPECT_TRUE(WIFEXITED(children.wait(0)));
    text.resize(got);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 50000);
    EXPECT_TRUE(text.ends_with("[0] 50000\n"));
}

TEST(LauncherTest, ForwardsSignals) {
    Children children;
    children.start(
        [] { ::execl(CORYMB_RUN_PROGRAM, "corymb-run", "-n", "2", "--", "sleep", "60", nullptr); });
    std::this_thread::sleep_for(500ms);
    children.signal(0, SIGTERM);
    const int status = children.wait(0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
}

} // namespace
} // namespace corymb
