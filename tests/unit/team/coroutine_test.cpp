// SPDX-License-Identifier: Apache-2.0
// Coroutines that await requests: of a type that knows nothing of corymb.
#include "limits.hpp"
#include "sample_plans.hpp"

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <coroutine>
#include <exception>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;
using namespace team_test;

/// Begins at once, keeps its frame until it is destroyed, and remembers how it ended.
class Task {
public:
    struct promise_type {
        Task get_return_object() {
            return Task(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { error = std::current_exception(); }
        std::exception_ptr error;
    };

    Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
    Task& operator=(Task&&) = delete;
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    ~Task() {
        if (frame_) {
            frame_.destroy();
        }
    }
    [[nodiscard]] bool is_done() const { return frame_.done(); }
    void get() const {
        if (frame_.promise().error) {
            std::rethrow_exception(frame_.promise().error);
        }
    }

private:
    explicit Task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
    std::coroutine_handle<promise_type> frame_;
};

TeamOptions small_plans(std::chrono::nanoseconds deadline = test_limit()) {
    TeamOptions options;
    options.deadline = deadline;
    options.plans = [](const PlanNeed& need) {
        const auto via = need.bytes <= line_payload_bytes ? Mechanism::line : Mechanism::cells;
        switch (need.op) {
        case Collective::broadcast: return star_broadcast(need.size, need.root, need.bytes, via);
        case Collective::reduce: return chain_reduce(need.size, need.bytes, via);
        default: return dissemination(need.size);
        }
    };
    return options;
}

/// A sum to rank 0 and a broadcast of it, `rounds` times, with a barrier now and then.
Task sum_rounds(Team& team, int first, int rounds, std::vector<int>& sums) {
    for (int round = 0; round < rounds; ++round) {
        const int mine = first + round + team.rank();
        int sum = 0;
        co_await team.ireduce(std::span(&mine, 1), std::span(&sum, 1));
        co_await team.ibroadcast(std::span(&sum, 1));
        sums.push_back(sum);
        if (round % 4 == 0) {
            co_await team.ibarrier();
        }
    }
}

TEST(CoroutineTest, SeveralAwaitTheirOwnOperations) {
    threads(
        3,
        [](Team& team) {
            constexpr int rounds = 50;
            std::vector<int> sums;
            {
                const Task task = sum_rounds(team, 100, rounds, sums);
                team.complete_all();
                EXPECT_TRUE(task.is_done());
                task.get();
            }
            ASSERT_EQ(sums.size(), static_cast<std::size_t>(rounds));
            for (int round = 0; round < rounds; ++round) {
                EXPECT_EQ(sums[static_cast<std::size_t>(round)], 3 * (100 + round) + 3);
            }
        },
        small_plans());
}

Task echo(Team& team, Rank peer, int times, int& last) {
    for (int i = 0; i < times; ++i) {
        int value = 10 * i + team.rank();
        Request sent = team.isend(std::span<const int>(&value, 1), peer);
        co_await team.irecv(std::span(&last, 1), peer);
        co_await sent;
        if (last != 10 * i + peer) {
            throw std::runtime_error("a message was mixed up");
        }
    }
}

TEST(CoroutineTest, OneRankHasManyAtATimeAndProgressResumesThem) {
    threads(
        4,
        [](Team& team) {
            std::vector<int> last(4, -1);
            std::vector<Task> tasks;
            for (Rank peer = 0; peer < team.size(); ++peer) {
                if (peer != team.rank()) {
                    tasks.push_back(echo(team, peer, 30, last[static_cast<std::size_t>(peer)]));
                }
            }
            while (team.progress() > 0) {
                std::this_thread::yield();
            }
            for (const Task& task : tasks) {
                EXPECT_TRUE(task.is_done());
                task.get();
            }
        },
        small_plans());
}

Task one_barrier(Team& team, bool& was_told) {
    try {
        co_await team.ibarrier();
    } catch (const Error&) {
        was_told = true;
    }
}

TEST(CoroutineTest, ErrorsAreThrownIntoTheCoroutine) {
    ThreadTeam made(2, small_plans(50ms));
    Team team = made.join(0);
    bool was_told = false;
    const Task task = one_barrier(team, was_told);
    EXPECT_FALSE(task.is_done());
    EXPECT_THROW(team.complete_all(), Error) << "rank 1 never comes";
    EXPECT_TRUE(task.is_done());
    EXPECT_TRUE(was_told);
}

TEST(CoroutineTest, WhatIsDoneAlreadyDoesNotSuspend) {
    ThreadTeam made(1, small_plans());
    Team team = made.join(0);
    bool was_told = false;
    const Task task = one_barrier(team, was_told);
    EXPECT_TRUE(task.is_done());
    EXPECT_FALSE(was_told);
}

} // namespace
} // namespace corymb
