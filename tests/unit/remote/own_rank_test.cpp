// SPDX-License-Identifier: Apache-2.0
// Calls of the own rank go no way, and have the same rules as those of another one. Each test runs
// with the called rank as the own one and as another one.
#include "remote/among.hpp"

#include <corymb/finish.hpp>
#include <corymb/remote.hpp>
#include <corymb/remote_error.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/this_task.hpp>

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace corymb {
namespace {

class OwnOrOther : public ::testing::TestWithParam<Rank> {
protected:
    /// Rank 0 runs the task, with the rank that it calls.
    void caller(const std::function<Task<>(Rank)>& main) const {
        among(2, [&](Rank rank) -> Task<> {
            if (rank == 0) {
                co_await main(GetParam());
            }
        });
    }
};

struct Lines {
    std::vector<int> all;
    void add(int line) { all.push_back(line); }
    Task<> add_as_task(int line) {
        all.push_back(line);
        co_return;
    }
    std::vector<int> get() { return all; }
};

TEST_P(OwnOrOther, CallsOfOneTaskBeginInOrder) {
    caller([](Rank to) -> Task<> {
        const Remote<Lines> lines = co_await create<Lines>(to);
        co_await finish([lines]() -> Task<> {
            for (int i = 0; i < 300; i += 3) {
                co_await lines.tell<&Lines::add>(i);
                co_await lines.post<&Lines::add>(i + 1);
                co_await lines.call<&Lines::add>(i + 2);
            }
        });
        const std::vector<int> all = co_await lines.call<&Lines::get>();
        EXPECT_EQ(all.size(), 300U);
        EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
    });
}

struct Secret : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return "hidden"; }
};

TEST_P(OwnOrOther, ExceptionsArriveAlike) {
    caller([](Rank to) -> Task<> {
        try {
            co_await at(to, [] { throw std::out_of_range("far"); });
            ADD_FAILURE() << "nothing thrown";
        } catch (const std::out_of_range& error) {
            EXPECT_STREQ(error.what(), "far");
        }
        try {
            co_await at(to, []() -> Task<> {
                throw Secret();
                co_return;
            });
            ADD_FAILURE() << "nothing thrown";
        } catch (const UnknownRemoteException& error) {
            EXPECT_EQ(error.rank(), to);
        }
        try {
            co_await at(to, [] { throw Secret(); });
            ADD_FAILURE() << "nothing thrown";
        } catch (const UnknownRemoteException& error) {
            EXPECT_EQ(error.rank(), to);
        }
        try {
            co_await finish(
                [to]() -> Task<> { co_await tell(to, [] { throw std::length_error("long"); }); });
            ADD_FAILURE() << "nothing thrown";
        } catch (const std::length_error&) {
        }
        co_await post(to, [] { throw std::length_error("nobody learns"); });
    });
}

TEST_P(OwnOrOther, AFunctionIsNoTask) {
    caller([](Rank to) -> Task<> {
        try {
            co_await at(to, [] {
                spawn([]() -> Task<> {
                    co_return;
                }());
            });
            ADD_FAILURE() << "a function has spawned";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
        }
        co_await this_task::yield(); // The own task still is one.
        EXPECT_FALSE(this_task::stop_token().stop_requested());
    });
}

TEST_P(OwnOrOther, ALoopOfCallsLeavesOthersTheirTurns) {
    caller([](Rank to) -> Task<> {
        struct Flag {
            bool is_set = false;
            [[nodiscard]] bool get() const { return is_set; }
            void set() { is_set = true; }
        };
        const Remote<Flag> flag = co_await create<Flag>(to);
        const Spawned<void> sets = spawn([](Remote<Flag> of) -> Task<> {
            co_await this_task::yield();
            co_await of.call<&Flag::set>();
        }(flag));
        while (!co_await flag.call<&Flag::get>()) {
        }
    });
}

TEST_P(OwnOrOther, TasksAreAskedToStop) {
    caller([](Rank to) -> Task<> {
        const Remote<Lines> lines = co_await create<Lines>(to);
        std::stop_source stop;
        Spawned<void> waits = spawn(
            [](Rank there, Remote<Lines> told) -> Task<> {
                co_await at(
                    there,
                    [](Remote<Lines> ends) -> Task<> {
                        bool is_stopped = false;
                        try {
                            co_await this_task::sleep_for(std::chrono::hours(1));
                        } catch (const Error& error) {
                            is_stopped = error.code() == Errc::interrupted;
                        }
                        ends.local()->add(is_stopped ? 1 : 0);
                    },
                    told);
            }(to, lines),
            stop.get_token());
        co_await this_task::sleep_for(std::chrono::milliseconds(1));
        stop.request_stop();
        try {
            co_await waits;
            ADD_FAILURE() << "the wait has not ended";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::interrupted);
        }
        for (;;) {
            const std::vector<int> all = co_await lines.call<&Lines::get>();
            if (!all.empty()) {
                EXPECT_EQ(all.front(), 1);
                break;
            }
            co_await this_task::yield();
        }
    });
}

TEST_P(OwnOrOther, LongResultsAndArgumentsOfTasks) {
    caller([](Rank to) -> Task<> {
        const std::string text(10'000, 'x');
        const auto twice = [](std::string of) -> Task<std::string> {
            co_await this_task::yield();
            co_return of + of;
        };
        const std::string both = co_await at(to, twice, text);
        EXPECT_EQ(both, text + text);
    });
}

INSTANTIATE_TEST_SUITE_P(Ranks, OwnOrOther, ::testing::Values(0, 1));

} // namespace
} // namespace corymb
