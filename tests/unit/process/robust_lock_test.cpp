// SPDX-License-Identifier: Apache-2.0
// The lock between processes, while some of those who wait for it or have it are killed.
#include "children.hpp"
#include "limits.hpp"

#include "base/robust_lock.hpp"

#include <atomic>
#include <mutex>
#include <new>
#include <sys/mman.h>

namespace corymb {
namespace {

using namespace process_test;

constexpr std::size_t processes = 4;
constexpr std::size_t survivors = 2;

/// Shared by the test and its children.
struct Shared {
    RobustLock lock;
    std::atomic<std::uint64_t> taken[processes]; ///< How often each process has had the lock.
    std::atomic<std::uint32_t> inside;
};

class RobustLockTest : public ::testing::Test {
protected:
    RobustLockTest()
        : shared(*new(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared{}) {}
    ~RobustLockTest() override { ::munmap(&shared, sizeof(Shared)); }

    std::uint64_t taken(std::size_t process) const {
        return shared.taken[process].load(std::memory_order_relaxed);
    }

    /// Waits until `process` has had the lock once more.
    bool goes_on(std::size_t process) const {
        const std::uint64_t before = taken(process);
        const auto end = std::chrono::steady_clock::now() + test_limit();
        while (taken(process) == before) {
            if (std::chrono::steady_clock::now() > end) {
                return false;
            }
            std::this_thread::sleep_for(100us);
        }
        return true;
    }

    Shared& shared;
    Children children;
};

TEST_F(RobustLockTest, SurvivorsGoOnWhenWaitersAreKilled) {
    // One takes the lock again at once, so that it is nearly never free; the others queue up.
    const auto life = [this](std::size_t own) {
        for (;;) {
            {
                const std::lock_guard lock(shared.lock);
                for (int spin = 0; spin < 3000; ++spin) {
                    shared.inside.store(static_cast<std::uint32_t>(own), std::memory_order_relaxed);
                }
                shared.taken[own].fetch_add(1, std::memory_order_relaxed);
            }
            if (own != 0) {
                std::this_thread::sleep_for(1us);
            }
        }
    };
    for (std::size_t own = 0; own < survivors; ++own) {
        children.start([&life, own] { life(own); });
    }
    for (int round = 0; round < 300; ++round) {
        std::vector<std::size_t> victims;
        for (std::size_t own = survivors; own < processes; ++own) {
            victims.push_back(children.start([&life, own] { life(own); }));
        }
        std::this_thread::sleep_for(std::chrono::microseconds(round * 37 % 600));
        for (const std::size_t victim : victims) {
            children.signal(victim, SIGKILL);
        }
        for (const std::size_t victim : victims) {
            EXPECT_EQ(children.wait(victim), SIGKILL);
        }
        for (std::size_t own = 0; own < survivors; ++own) {
            ASSERT_TRUE(goes_on(own)) << "process " << own << " in round " << round;
        }
    }
}

TEST_F(RobustLockTest, AStoppedOwnerIsNamedAtTheLimit) {
    children.start([this] {
        const std::lock_guard lock(shared.lock);
        shared.inside.store(1, std::memory_order_relaxed);
        ::raise(SIGSTOP);
    });
    int status = 0;
    ASSERT_EQ(::waitpid(children.pid(0), &status, WUNTRACED), children.pid(0));
    ASSERT_EQ(shared.inside.load(std::memory_order_relaxed), 1u);
    try {
        shared.lock.lock(50ms);
        FAIL() << "two have the lock";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::timeout);
        const std::string owner = "process " + std::to_string(children.pid(0)) + ", stopped";
        EXPECT_NE(std::string(error.what()).find(owner), std::string::npos) << error.what();
    }
    children.signal(0, SIGKILL);
    EXPECT_EQ(children.wait(0), SIGKILL);
    const std::lock_guard lock(shared.lock); // Its owner is dead, so it can be had.
}

TEST_F(RobustLockTest, OneAtATimeHasIt) {
    std::uint64_t sum = 0;
    for (std::size_t own = 0; own < processes; ++own) {
        children.start([this, own] {
            for (int turn = 0; turn < 2000; ++turn) {
                const std::lock_guard lock(shared.lock);
                require(shared.inside.fetch_add(1, std::memory_order_relaxed) == 0, "alone");
                shared.taken[own].fetch_add(1, std::memory_order_relaxed);
                shared.inside.fetch_sub(1, std::memory_order_relaxed);
            }
        });
    }
    children.expect_all_good();
    for (std::size_t own = 0; own < processes; ++own) {
        sum += taken(own);
    }
    EXPECT_EQ(sum, processes * 2000);
}

} // namespace
} // namespace corymb
