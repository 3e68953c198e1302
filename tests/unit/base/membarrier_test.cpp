// SPDX-License-Identifier: Apache-2.0
#include "base/membarrier.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace corymb::membarrier {
namespace {

TEST(Membarrier, CallsThatTakeLongerThanAllElseAreDear) {
    detail::Watch watch;
    std::int64_t now = 1;
    int calls = 0;
    for (bool is_dear = false; !is_dear && calls < 100; ++calls, now += 25'000'000) {
        is_dear = watch.is_dear(now, now + 20'000'000);
    }
    EXPECT_LT(calls, 10);
}

TEST(Membarrier, SingleLongCallsAreNotDear) {
    detail::Watch watch;
    std::int64_t now = 1;
    for (int call = 0; call < 1'000; ++call, now += 100'000) {
        const std::int64_t length = call % 3 == 0 ? 90'000 : 2'000;
        ASSERT_FALSE(watch.is_dear(now, now + length)) << call;
    }
}

/// Each round both sides store and look at the other's word: at least one of them must see it.
struct Dekker {
    std::atomic<int> light{0}, heavy{0};
    std::atomic<int> light_saw{0}, heavy_saw{0};
    std::atomic<int> light_done{0}, heavy_done{0};
};

/// In a child: the change is not undone. Exit status 0: nothing was missed.
int rounds_with_a_change(int change_after) {
    constexpr int rounds = 1'000;
    const auto shared = std::make_unique<Dekker>();
    const auto wait_for = [](const std::atomic<int>& word, int value) {
        while (word.load(std::memory_order_acquire) < value) {
            std::this_thread::yield();
        }
    };
    std::thread light([&] {
        for (int round = 1; round <= rounds; ++round) {
            shared->light.store(round, std::memory_order_release);
            membarrier::light();
            shared->light_saw.store(shared->heavy.load(std::memory_order_relaxed),
                                    std::memory_order_relaxed);
            shared->light_done.store(round, std::memory_order_release);
            wait_for(shared->heavy_done, round);
        }
    });
    std::thread changer([&] {
        wait_for(shared->heavy_done, change_after);
        use_full_fences();
    });
    int missed = 0;
    for (int round = 1; round <= rounds; ++round) {
        shared->heavy.store(round, std::memory_order_relaxed);
        heavy();
        const int saw = shared->light.load(std::memory_order_relaxed);
        wait_for(shared->light_done, round);
        missed += saw < round && shared->light_saw.load(std::memory_order_relaxed) < round ? 1 : 0;
        shared->heavy_done.store(round, std::memory_order_release);
    }
    light.join();
    changer.join();
    return missed == 0 && is_dear() && !available() ? 0 : 1;
}

TEST(Membarrier, GoesOverToFullFencesUnderRunningThreads) {
    for (int child = 0; child < 4; ++child) {
        const pid_t pid = fork();
        if (pid == 0) {
            _exit(rounds_with_a_change(250 * child));
        }
        int status = -1;
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        EXPECT_EQ(status, 0) << "changed after " << 250 * child << " rounds";
    }
}

} // namespace
} // namespace corymb::membarrier
