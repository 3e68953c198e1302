// SPDX-License-Identifier: Apache-2.0
// Processes of the benchmark: conversation, stopping, and that nothing is left behind.
#include <threads/driver/child.hpp>
#include <threads/worker/time.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

namespace corymb::bench {
namespace {

std::int64_t soon() {
    return wall_ns() + 20'000'000'000;
}

/// The state letter of a process, or 'X' when there is none.
char state_of(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    const std::size_t end = text.rfind(')');
    return end == std::string::npos ? 'X' : text[end + 2];
}

TEST(ChildTest, AnswersLineByLine) {
    Child child({"/bin/cat"}, {});
    ASSERT_TRUE(child.send("one"));
    EXPECT_EQ(child.receive(soon()), "one");
    ASSERT_TRUE(child.send("two"));
    ASSERT_TRUE(child.send("three"));
    EXPECT_EQ(child.receive(soon()), "two");
    EXPECT_EQ(child.receive(soon()), "three");
}

TEST(ChildTest, SilenceEndsAtTheDeadline) {
    Child child({"/bin/cat"}, {});
    const std::int64_t begin = wall_ns();
    EXPECT_FALSE(child.receive(begin + 20'000'000).has_value());
    EXPECT_GE(wall_ns() - begin, 20'000'000);
    EXPECT_FALSE(child.exit_status().has_value());
}

TEST(ChildTest, AStoppedProcessAnswersWhenItIsResumed) {
    Child child({"/bin/sh", "-c", "echo $$; exec cat"}, {});
    const auto pid = child.receive(soon());
    ASSERT_TRUE(pid.has_value());
    child.stop();
    EXPECT_EQ(state_of(std::stoi(*pid)), 'T');
    ASSERT_TRUE(child.send("hello"));
    EXPECT_FALSE(child.receive(wall_ns() + 10'000'000).has_value());
    child.resume();
    EXPECT_EQ(child.receive(soon()), "hello");
}

TEST(ChildTest, NothingIsLeftBehind) {
    pid_t pid = 0;
    {
        Child child({"/bin/sh", "-c", "trap '' INT TERM HUP; echo $$; while :; do sleep 1; done"},
                    {});
        pid = std::stoi(child.receive(soon()).value());
        child.stop();
    }
    EXPECT_EQ(state_of(pid), 'X');
}

TEST(ChildTest, AMissingProgramShowsAsAnExitStatus) {
    Child child({"/nowhere/at/all"}, {});
    EXPECT_FALSE(child.receive(soon()).has_value());
    EXPECT_EQ(child.exit_status(), 127);
}

TEST(ChildTest, TheUsersOpenMpSettingsDoNotReachIt) {
    setenv("OMP_WAIT_POLICY", "passive", 1);
    setenv("KMP_BLOCKTIME", "7", 1);
    Child child({"/bin/sh", "-c", "echo \"$OMP_WAIT_POLICY,$KMP_BLOCKTIME,$OMP_NUM_THREADS\""},
                {{"OMP_NUM_THREADS", "3"}});
    EXPECT_EQ(child.receive(soon()), ",,3");
    unsetenv("OMP_WAIT_POLICY");
    unsetenv("KMP_BLOCKTIME");
}

} // namespace
} // namespace corymb::bench
