// SPDX-License-Identifier: Apache-2.0
// Messages that are taken back before they have begun. One thread plays both ranks.
#include <corymb/error.hpp>
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace corymb {
namespace {

struct Two {
    ThreadTeam team{2};
    Team one = team.join(0);
    Team other = team.join(1);
};

/// A line, cells, and a pull.
class CancelTest : public testing::TestWithParam<std::size_t> {
protected:
    [[nodiscard]] std::vector<std::byte> filled(int value) const {
        return std::vector<std::byte>(GetParam(), static_cast<std::byte>(value));
    }
    Two ranks;
};

TEST_P(CancelTest, TheNextReceiveGetsTheMessage) {
    std::array<std::vector<std::byte>, 4> got{filled(0), filled(0), filled(0), filled(0)};
    std::vector<Request> receives;
    for (auto& buffer : got) {
        receives.push_back(ranks.one.irecv(std::span(buffer), 1));
    }
    EXPECT_TRUE(receives[0].cancel()); // First, middle and last of the queue.
    EXPECT_FALSE(receives[0].valid());
    EXPECT_TRUE(receives[2].cancel());
    EXPECT_TRUE(receives[3].cancel());
    receives.push_back(ranks.one.irecv(std::span(got[3]), 1));
    const auto seven = filled(7);
    const auto eight = filled(8);
    Request first = ranks.other.isend(std::span<const std::byte>(seven), 0);
    Request second = ranks.other.isend(std::span<const std::byte>(eight), 0);
    for (int look = 0; look < 100; ++look) {
        static_cast<void>(ranks.one.progress());
        static_cast<void>(ranks.other.progress());
    }
    receives[1].wait();
    receives[4].wait();
    first.wait();
    second.wait();
    EXPECT_EQ(got[0], filled(0));
    EXPECT_EQ(got[1], seven);
    EXPECT_EQ(got[2], filled(0));
    EXPECT_EQ(got[3], eight);
}

TEST_P(CancelTest, WhatHasComeIsNotTakenBack) {
    auto got = filled(0);
    const auto nine = filled(9);
    Request receive = ranks.one.irecv(std::span(got), 1);
    Request send = ranks.other.isend(std::span<const std::byte>(nine), 0);
    EXPECT_FALSE(receive.cancel());
    EXPECT_TRUE(receive.is_active());
    receive.wait();
    EXPECT_EQ(got, nine);
    send.wait();
}

TEST_P(CancelTest, APersistentReceiveStartsAgain) {
    auto got = filled(0);
    Request receive = ranks.one.recv_init(std::span(got), 1);
    for (int round = 1; round < 4; ++round) {
        receive.start();
        EXPECT_TRUE(receive.cancel());
        EXPECT_TRUE(receive.valid());
        EXPECT_FALSE(receive.is_active());
        receive.start();
        const auto sent = filled(round);
        Request send = ranks.other.isend(std::span<const std::byte>(sent), 0);
        receive.wait();
        EXPECT_EQ(got, sent);
        send.wait();
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, CancelTest, testing::Values(1U, 56U, 5000U, 200'000U));

TEST(Cancel, ASendThatWaitsForOthers) {
    Two ranks;
    constexpr std::size_t more_than_fits = 40;
    std::vector<int> numbers(more_than_fits);
    std::vector<Request> sends;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<int>(i);
        sends.push_back(ranks.one.isend(std::span<const int>(&numbers[i], 1), 1));
    }
    EXPECT_FALSE(sends.front().cancel()); // It is on its way.
    EXPECT_TRUE(sends.back().cancel());
    EXPECT_TRUE(sends[more_than_fits - 3].cancel());
    for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
        if (i != more_than_fits - 3) {
            int got = -1;
            Request receive = ranks.other.irecv(std::span(&got, 1), 0);
            for (int look = 0; look < 100 && !receive.test(); ++look) {
                static_cast<void>(ranks.one.progress());
            }
            EXPECT_EQ(got, numbers[i]);
            sends[i].wait();
        }
    }
}

TEST(Cancel, IsOnlyForMessages) {
    Two ranks;
    const auto expect_refused = [](Request& request) {
        try {
            static_cast<void>(request.cancel());
            ADD_FAILURE() << "nothing was thrown";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument) << error.what();
        }
    };
    Request empty;
    expect_refused(empty);
    Request barrier = ranks.one.ibarrier();
    expect_refused(barrier);
    EXPECT_TRUE(barrier.is_active());
    Request others = ranks.other.ibarrier();
    barrier.wait();
    others.wait();
    int number = 0;
    Request idle = ranks.one.recv_init(std::span(&number, 1), 1);
    expect_refused(idle);
}

} // namespace
} // namespace corymb
