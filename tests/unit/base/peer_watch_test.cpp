// SPDX-License-Identifier: Apache-2.0
#include "base/peer_watch.hpp"
#include "base/resource_limit.hpp"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace corymb {
namespace {

/// A process that does nothing until it is ended.
class Child {
public:
    Child() : pid_(::fork()) {
        if (pid_ == 0) {
            for (;;) {
                ::pause();
            }
        }
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() { end(); }

    [[nodiscard]] std::uint32_t pid() const noexcept { return static_cast<std::uint32_t>(pid_); }
    void kill() const noexcept { ::kill(pid_, SIGKILL); }
    /// The parent takes note of it, too.
    void end() noexcept {
        if (pid_ > 0) {
            kill();
            ::waitpid(pid_, nullptr, 0);
            pid_ = -1;
        }
    }

private:
    pid_t pid_;
};

std::ptrdiff_t descriptors() {
    namespace fs = std::filesystem;
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator{});
}

/// A killed process takes some time to end.
bool ends(PeerWatch& watch, std::uint32_t pid) {
    for (int i = 0; i < 2'000; ++i) {
        watch.look();
        if (watch.has_ended(pid)) {
            return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}

TEST(PeerWatchTest, NoticesAnEndBeforeTheParentDoes) {
    const Child child;
    PeerWatch watch;
    watch.add(child.pid());
    watch.look();
    EXPECT_FALSE(watch.has_ended(child.pid()));
    child.kill();
    EXPECT_TRUE(ends(watch, child.pid()));
}

TEST(PeerWatchTest, WatchesOfOneProcessShareADescriptor) {
    Child child;
    const std::uint32_t pid = child.pid();
    const auto before = descriptors();
    {
        PeerWatch watches[40];
        for (PeerWatch& watch : watches) {
            watch.add(pid);
        }
        EXPECT_EQ(descriptors(), before + 1);
        watches[0].keep({});
        watches[1].keep({});
        EXPECT_EQ(descriptors(), before + 1);
        child.end();
        EXPECT_TRUE(ends(watches[39], pid));
        EXPECT_TRUE(ends(watches[2], pid));
        EXPECT_FALSE(watches[0].has_ended(pid));
    }
    EXPECT_EQ(descriptors(), before);
}

TEST(PeerWatchTest, LeavesTheProgramMostOfItsDescriptors) {
    const auto before = descriptors();
    std::vector<std::unique_ptr<Child>> children;
    for (int i = 0; i < 24; ++i) {
        children.push_back(std::make_unique<Child>());
    }
    const base_test::ResourceLimit limit(RLIMIT_NOFILE, 64);
    PeerWatch watch;
    for (const auto& child : children) {
        watch.add(child->pid());
    }
    EXPECT_EQ(descriptors(), before + 16);
    watch.look();
    for (const auto& child : children) { // With and without a descriptor.
        const std::uint32_t pid = child->pid();
        EXPECT_FALSE(watch.has_ended(pid));
        child->end();
        EXPECT_TRUE(ends(watch, pid));
    }
}

TEST(PeerWatchTest, AProcessThatIsGoneHasEnded) {
    Child child;
    const std::uint32_t pid = child.pid();
    PeerWatch watch;
    watch.add(pid);
    child.end();
    PeerWatch late; // Shares nothing of what the first one has of the same number.
    late.add(pid);
    EXPECT_TRUE(late.has_ended(pid));
    EXPECT_TRUE(ends(watch, pid));
}

} // namespace
} // namespace corymb
