// SPDX-License-Identifier: Apache-2.0
// Tasks with a stack of their own: their blocking calls suspend them, and others go on.
#include "limits.hpp"
#include "refuse_call.hpp"
#include "remote/among.hpp"

#include <corymb/boost/stack_task.hpp>
#include <corymb/broadcast_ring.hpp>
#include <corymb/finish.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/remote.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/team.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;

TEST(StackTask, GivesItsResultOrThrowsItsException) {
    Scheduler scheduler;
    EXPECT_EQ(scheduler.run(on_stack([] { return std::string("found"); })), "found");
    int value = 5;
    EXPECT_EQ(&scheduler.run([](int& of) -> Task<int&> {
        co_return co_await on_stack([&of]() -> int& { return of; });
    }(value)),
              &value);
    EXPECT_THROW(scheduler.run(on_stack([] { throw std::out_of_range("nothing"); })),
                 std::out_of_range);
}

TEST(StackTask, OthersGoOnDuringABarrier) {
    constexpr int turns_least = 10;
    std::atomic<int> turns{0}; // Rank 0 makes them while its barrier waits for rank 1.
    threads(2, [&turns](Team& team) {
        Scheduler scheduler;
        scheduler.run([](Team& of, std::atomic<int>& seen) -> Task<> {
            while (of.rank() == 1 && seen < turns_least) {
                co_await this_task::yield();
            }
            Spawned<void> barrier = spawn(on_stack([&of] { of.barrier(); }));
            while (!barrier.is_over()) {
                seen += of.rank() == 0 ? 1 : 0;
                co_await this_task::yield();
            }
            co_await barrier;
        }(team, turns));
    });
    EXPECT_GE(turns, turns_least);
}

double sum_over(Team& team, double mine) {
    double all = 0;
    team.allreduce(std::span(&mine, 1), std::span(&all, 1));
    return all;
}

TEST(StackTask, CollectivesOfTwoTeamsGoOnTogether) {
    threads(3, [](Team& team) {
        Team other = team.split(0, team.rank());
        auto sum = [](Team& of, int rounds) {
            return on_stack([&of, rounds] {
                double total = 0;
                for (int i = 0; i < rounds; ++i) {
                    total += sum_over(of, of.rank() + 1);
                }
                return total;
            });
        };
        // One rank begins with the second team: only if both go on does anybody.
        Scheduler scheduler;
        auto [first, second] = team.rank() == 1
                                   ? scheduler.run(when_all(sum(other, 100), sum(team, 200)))
                                   : scheduler.run(when_all(sum(team, 200), sum(other, 100)));
        EXPECT_EQ(first + second, 300 * 6);
    });
}

TEST(StackTask, RequestsOfOneTeamAreWaitedForBySeveralTasks) {
    threads(2, [](Team& team) {
        constexpr int each = 50;
        std::vector<double> mine(each, team.rank() + 1.0);
        std::vector<double> all(each);
        std::vector<Request> requests(each);
        for (std::size_t i = 0; i < each; ++i) {
            requests[i] = team.iallreduce(std::span(&mine[i], 1), std::span(&all[i], 1));
        }
        Scheduler scheduler;
        scheduler.run(finish([&requests]() -> Task<> {
            for (Request& one : requests) {
                spawn(on_stack([&one] { one.wait(); }));
            }
            co_return;
        }));
        EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0.0), 3.0 * each);
    });
}

TEST(StackTask, WaitsForAMessageThatAnotherTaskOfItsThreadSends) {
    MailboxGroup group(2);
    Mailbox to = group.join(0);
    Mailbox from = group.join(1);
    Scheduler scheduler;
    int got = 0;
    auto read = on_stack([&to, &got] {
        EXPECT_TRUE(to.wait(test_limit()));
        to.probe_values<int>([&got](Rank, int value) { got = value; });
    });
    scheduler.run([](Task<> reader, Mailbox& sender) -> Task<> {
        Spawned<void> reading = spawn(std::move(reader));
        co_await this_task::sleep_for(2ms);
        EXPECT_TRUE(sender.send_value(0, 42));
        co_await reading;
    }(std::move(read), from));
    EXPECT_EQ(got, 42);
}

TEST(StackTask, ALimitOfABlockingCallIsKept) {
    MailboxGroup group(2);
    Mailbox alone = group.join(0);
    Scheduler scheduler;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(scheduler.run(on_stack([&alone] { return alone.wait(5ms); })));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 5ms);
}

TEST(StackTask, AwaitsTasksAndCallsOfOtherRanks) {
    among(2, [](Rank rank) {
        return on_stack([rank] {
            const int sum = this_task::await([](Rank other) -> Task<int> {
                co_return co_await at(other, [](int a, int b) { return a + b; }, 20, 22);
            }(1 - rank));
            EXPECT_EQ(sum, 42);
            EXPECT_THROW(this_task::await([](Rank other) -> Task<> {
                             co_await at(other, [] { throw std::domain_error("no"); });
                         }(1 - rank)),
                         std::domain_error);
        });
    });
}

/// The runtime of C++ counts caught exceptions by thread.
TEST(StackTask, ExceptionsThatAreHeldOverAWaitStayTheTasksOwn) {
    Scheduler scheduler;
    auto hold = [](int number) {
        return on_stack([number] {
            try {
                throw std::runtime_error("number " + std::to_string(number));
            } catch (const std::runtime_error&) {
                for (int i = 0; i < number; ++i) {
                    this_task::await([]() -> Task<> {
                        co_await this_task::yield();
                    }());
                }
                try {
                    throw;
                } catch (const std::runtime_error& again) {
                    EXPECT_EQ(again.what(), "number " + std::to_string(number));
                }
            }
            EXPECT_EQ(std::uncaught_exceptions(), 0);
        });
    };
    scheduler.run(when_all(hold(3), hold(1), hold(2)));
}

TEST(StackTask, AHandleInUseIsRefusedToOtherTasks) {
    MailboxGroup group(2);
    Mailbox box = group.join(0);
    Mailbox other = group.join(1);
    Scheduler scheduler;
    scheduler.run([](Mailbox& in_use, Mailbox& sender) -> Task<> {
        Spawned<void> waiting =
            spawn(on_stack([&in_use] { EXPECT_TRUE(in_use.wait(test_limit())); }));
        co_await this_task::yield();
        Errc code{};
        try {
            static_cast<void>(in_use.send_value(1, 5));
        } catch (const Error& error) {
            code = error.code();
        }
        EXPECT_EQ(code, Errc::invalid_argument);
        EXPECT_TRUE(sender.send_value(0, 7));
        co_await waiting;
        EXPECT_TRUE(in_use.send_value(1, 5));
    }(box, other));
}

TEST(StackTask, AStopEndsAnAwaitedTaskAndNoBlockingCall) {
    MailboxGroup group(2);
    Mailbox box = group.join(0);
    Mailbox other = group.join(1);
    Scheduler scheduler;
    scheduler.run([](Mailbox& to, Mailbox& from) -> Task<> {
        bool was_stopped = false;
        std::stop_source stop;
        Spawned<void> waiting = spawn(on_stack([&to, &was_stopped] {
                                          EXPECT_TRUE(to.wait(test_limit()));
                                          try {
                                              this_task::await([]() -> Task<> {
                                                  co_await this_task::sleep_for(test_limit());
                                              }());
                                          } catch (const Error& error) {
                                              was_stopped = error.code() == Errc::interrupted;
                                              throw;
                                          }
                                      }),
                                      stop.get_token());
        co_await this_task::yield();
        stop.request_stop();
        co_await this_task::yield();
        EXPECT_FALSE(waiting.is_over());
        EXPECT_TRUE(from.send_value(0, 7));
        try {
            co_await waiting;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::interrupted);
        }
        EXPECT_TRUE(was_stopped);
    }(box, other));
}

TEST(StackTask, GoesOnAloneWhenItsSchedulerGoes) {
    MailboxGroup group(1);
    Mailbox box = group.join(0);
    auto held = std::make_shared<int>(0);
    bool has_found = true;
    bool was_refused = false;
    {
        Scheduler scheduler;
        scheduler.spawn(on_stack([&box, &has_found, &was_refused, held] {
            has_found = box.wait(20ms);
            try {
                this_task::await([]() -> Task<> {
                    co_return;
                }());
            } catch (const Error& error) {
                was_refused = error.code() == Errc::interrupted;
            }
        }));
        scheduler.poll();
        EXPECT_TRUE(has_found);
    }
    EXPECT_FALSE(has_found);
    EXPECT_TRUE(was_refused);
    EXPECT_EQ(held.use_count(), 1);
}

/// A request whose wait has begun in a task is waited for by the thread then.
TEST(StackTask, ARequestIsWaitedForAloneWhenItsSchedulerGoes) {
    std::atomic<bool> has_gone{false};
    threads(2, [&has_gone](Team& team) {
        double mine = team.rank() + 1;
        double all = 0;
        if (team.rank() == 1) {
            while (!has_gone) {
                std::this_thread::yield();
            }
            team.iallreduce(std::span(&mine, 1), std::span(&all, 1)).wait();
            return;
        }
        Request request = team.iallreduce(std::span(&mine, 1), std::span(&all, 1));
        {
            Scheduler scheduler;
            scheduler.spawn(on_stack([&request] { request.wait(); }));
            scheduler.poll();
            has_gone = true;
        }
        EXPECT_FALSE(request.valid());
        EXPECT_EQ(all, 3);
    });
}

TEST(StackTask, AwaitOutsideOfAStackIsRefused) {
    Task<> task = []() -> Task<> {
        co_return;
    }();
    try {
        this_task::await(std::move(task));
        ADD_FAILURE() << "there is no stack";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
    }
}

TEST(StackTask, AThousandWaitTogether) {
    threads(2, [](Team& team) {
        Scheduler scheduler;
        int over = 0;
        scheduler.run(finish([&over]() -> Task<> {
            for (int i = 0; i < 1000; ++i) {
                spawn(on_stack([&over] {
                    this_task::await([]() -> Task<> {
                        co_await this_task::yield();
                    }());
                    ++over;
                }));
            }
            co_return;
        }));
        EXPECT_EQ(over, 1000);
        team.barrier();
    });
}

} // namespace
} // namespace corymb
