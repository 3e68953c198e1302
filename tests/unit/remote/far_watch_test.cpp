// SPDX-License-Identifier: Apache-2.0
// Who sleeps until a descriptor is readable is woken then, each time, before its sleep ends.
#include "limits.hpp"
#include "remote/far_watch.hpp"

#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace corymb::detail {
namespace {

class FarWatchTest : public ::testing::Test {
protected:
    void write() const {
        const std::uint64_t one = 1;
        ASSERT_EQ(::write(watched_.number(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
    }
    void read() const {
        std::uint64_t count = 0;
        ASSERT_EQ(::read(watched_.number(), &count, sizeof count),
                  static_cast<ssize_t>(sizeof count));
    }
    [[nodiscard]] bool is_readable() const {
        pollfd one{watched_.number(), POLLIN, 0};
        return ::poll(&one, 1, 0) == 1;
    }
    /// Sleeps until the descriptor is readable. `announced` is called when the first look has
    /// found nothing, and before the watcher is armed. Whether the watcher has woken this thread.
    template <class Announced>
    bool is_woken(const Announced& announced) {
        bool is_first = true;
        const auto look = [&]() noexcept {
            const bool is_there = is_readable();
            if (std::exchange(is_first, false)) {
                announced();
            }
            if (!is_there) {
                watch_.arm_if_parked();
            }
            return is_there;
        };
        const auto never = []() noexcept {
            return false;
        };
        const auto limit = []() noexcept {
            return std::chrono::nanoseconds(test_limit()).count();
        };
        watch_.event().park(look, never, limit);
        return watch_.event().waker() != 0;
    }

    Descriptor watched_ = made_descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "a test");
    FarWatch watch_{watched_.number()};
};

TEST_F(FarWatchTest, WakesEachTime) {
    for (int i = 0; i < 20; ++i) {
        std::jthread writer;
        EXPECT_TRUE(is_woken([&] {
            writer = std::jthread([this] {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                write();
            });
        }));
        writer.join();
        read();
    }
}

/// What has come between the look and the arming: here the arming finds it.
TEST_F(FarWatchTest, WakesForWhatIsThereAlready) {
    EXPECT_TRUE(is_woken([&] { write(); }));
    read();
}

} // namespace
} // namespace corymb::detail
