// SPDX-License-Identifier: Apache-2.0
#include "remote/among.hpp"
#include "remote/refusal.hpp"

#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <gtest/gtest.h>
#include <new>
#include <numeric>
#include <optional>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;

int twice(int value) {
    return 2 * value;
}

Task<int> twice_later(int value) {
    co_await this_task::sleep_for(1ms);
    co_return 2 * value;
}

struct Nothing {
    void operator()() const {}
};

TEST(RemoteCall, RunsAFunctionOnAnotherRank) {
    among(3, [](Rank rank) -> Task<> {
        EXPECT_EQ(here(), rank);
        EXPECT_EQ(ranks(), 3);
        for (Rank to = 0; to < 3; ++to) {
            EXPECT_EQ(co_await at(to, [](int add) { return here() + add; }, 10), to + 10);
            EXPECT_EQ(co_await at<&twice>(to, 21), 42);
            EXPECT_EQ(co_await at<&twice_later>(to, 21), 42);
            co_await at(to, Nothing());
        }
    });
}

TEST(RemoteCall, TakesFunctionObjectsWithState) {
    among(2, [](Rank rank) -> Task<> {
        const int base = 100 * (rank + 1);
        EXPECT_EQ(co_await at(1 - rank, [base](int add) { return base + add; }, 5), base + 5);
    });
}

TEST(RemoteCall, CarriesStringsAndVectorsOfAnyLength) {
    for (const std::size_t message_bytes : {32U, 56U, 1000U}) {
        among(2,
              [](Rank rank) -> Task<> {
                  for (const std::size_t length : {0U, 1U, 15U, 16U, 100U, 100'000U}) {
                      const std::string text(length, static_cast<char>('a' + rank));
                      const auto echo = [](const std::string& given, std::vector<double> numbers) {
                          return given + std::to_string(numbers.size());
                      };
                      std::vector<double> numbers(length / 7);
                      EXPECT_EQ(co_await at(1 - rank, echo, text, numbers),
                                text + std::to_string(length / 7));
                  }
                  EXPECT_EQ(co_await at(
                                1 - rank, [](const std::string& s) { return s; }, "literal"),
                            "literal");
              },
              {.message_bytes = message_bytes});
    }
}

TEST(RemoteCall, CarriesWhatIsMadeOfStrings) {
    using Row = std::vector<std::string>;
    using All = std::tuple<Row, std::pair<int, std::string>, std::optional<std::string>,
                           std::optional<Row>, std::tuple<std::tuple<long>>>;
    among(2, [](Rank rank) -> Task<> {
        const All all{{"one", "", std::string(500, 'x')}, {7, "seven"}, "eight", {}, {{9}}};
        const All back = co_await at(1 - rank, [](All given) { return given; }, all);
        EXPECT_EQ(back, all);
    });
}

Task<int> fall(int depth) {
    if (depth == 0) {
        co_return 0;
    }
    co_return 1 + co_await at<&fall>(1 - here(), depth - 1);
}

TEST(RemoteCall, AndBackToTheCaller) {
    among(2, [](Rank) -> Task<> { EXPECT_EQ(co_await at<&fall>(1 - here(), 50), 50); });
}

TEST(RemoteCall, EverybodyCallsEverybodyWithLittleRoom) {
    constexpr int size = 4;
    among(size,
          [](Rank) -> Task<> {
              std::vector<Task<int>> calls;
              for (int i = 0; i < 200; ++i) {
                  calls.push_back([](int number) -> Task<int> {
                      const std::string text(static_cast<std::size_t>(number), 'x');
                      const std::string back = co_await at(
                          number % size,
                          [](const std::string& given) -> Task<std::string> {
                              co_await this_task::yield();
                              co_return given;
                          },
                          text);
                      co_return static_cast<int>(back.size());
                  }(i));
              }
              const std::vector<int> lengths = co_await when_all(std::move(calls));
              for (int i = 0; i < 200; ++i) {
                  EXPECT_EQ(lengths[static_cast<std::size_t>(i)], i);
              }
          },
          {.message_bytes = 32, .capacity = 1});
}

TEST(RemoteCall, ExceptionsArriveAsWhatTheyWere) {
    among(2, [](Rank rank) -> Task<> {
        const Rank other = 1 - rank;
        const auto text_of = []<class E>(auto call, const E* /*type*/) -> Task<std::string> {
            try {
                co_await std::move(call);
            } catch (const E& error) {
                co_return error.what();
            }
            co_return "nothing thrown";
        };
        auto range = [](Rank to) -> Task<> {
            co_await at(to, [] { throw std::out_of_range("a place"); });
        };
        EXPECT_EQ(co_await text_of(range(other), static_cast<std::out_of_range*>(nullptr)),
                  "a place");
        auto later = [](Rank to) -> Task<> {
            co_await at(to, []() -> Task<> {
                co_await this_task::yield();
                throw std::domain_error("later");
            });
        };
        EXPECT_EQ(co_await text_of(later(other), static_cast<std::domain_error*>(nullptr)),
                  "later");
        auto memory = [](Rank to) -> Task<> {
            co_await at(to, [] { throw std::bad_alloc(); });
        };
        EXPECT_NE(co_await text_of(memory(other), static_cast<std::bad_alloc*>(nullptr)),
                  "nothing thrown");
        try {
            co_await at(other, [] { throw Error(Errc::stale_model, "old", {7}); });
            ADD_FAILURE() << "nothing thrown";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::stale_model);
            EXPECT_EQ(error.ranks(), std::vector<int>{7});
            EXPECT_STREQ(error.what(), "old");
        }
    });
}

struct Registered : std::runtime_error {
    using std::runtime_error::runtime_error;
};
const RemoteException<Registered> registered_travels;
struct OwnError : Error {
    explicit OwnError(const std::string& text) : Error(Errc::io, text) {}
};
const RemoteException<OwnError> own_error_travels;
struct Unregistered : std::runtime_error {
    using std::runtime_error::runtime_error;
};

TEST(RemoteCall, ExceptionsOfTheUserTravelIfRegistered) {
    among(2, [](Rank rank) -> Task<> {
        const Rank other = 1 - rank;
        try {
            co_await at(other, [] { throw Registered("known"); });
            ADD_FAILURE() << "nothing thrown";
        } catch (const Registered& error) {
            EXPECT_STREQ(error.what(), "known");
        }
        try {
            co_await at(other, [] { throw OwnError("an Error"); });
            ADD_FAILURE() << "nothing thrown";
        } catch (const OwnError& error) {
            EXPECT_STREQ(error.what(), "an Error");
        }
        try {
            co_await at(other, [] { throw Unregistered("why"); });
            ADD_FAILURE() << "nothing thrown";
        } catch (const UnknownRemoteException& error) {
            EXPECT_NE(error.type_name().find("Unregistered"), std::string::npos);
            EXPECT_EQ(error.rank(), other);
            EXPECT_NE(std::string(error.what()).find("why"), std::string::npos);
        }
        try {
            co_await at(other, [] { throw 7; });
            ADD_FAILURE() << "nothing thrown";
        } catch (const UnknownRemoteException& error) {
            EXPECT_EQ(error.type_name(), "int");
        }
    });
}

TEST(RemoteCall, AStopReachesTheCalledTask) {
    static std::atomic<int> stopped;
    stopped = 0;
    among(2, [](Rank rank) -> Task<> {
        auto endless = []() -> Task<> {
            try {
                co_await this_task::sleep_for(1h);
            } catch (const Error& error) {
                stopped += error.code() == Errc::interrupted ? 1 : 0;
                throw;
            }
        };
        auto call = [endless](Rank to) -> Task<> {
            co_await at(to, endless);
        };
        try {
            co_await within(5ms, call(1 - rank));
            ADD_FAILURE() << "it ended";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::timeout);
        }
        while (stopped < 2) {
            co_await this_task::sleep_for(1ms);
        }
    });
}

TEST(RemoteCall, WrongRanksAndPlacesAreRefused) {
    among(1, [](Rank) -> Task<> {
        for (const Rank wrong : {-1, 1, 1000}) {
            try {
                co_await at(wrong, Nothing());
                ADD_FAILURE() << "rank " << wrong;
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), Errc::invalid_argument);
            }
        }
    });
    Scheduler scheduler;
    EXPECT_EQ(refusal([&] {
                  scheduler.run([]() -> Task<> {
                      co_await at(0, Nothing());
                  }());
              }),
              Errc::invalid_argument);
    EXPECT_EQ(refusal([] { static_cast<void>(here()); }), Errc::invalid_argument);
    EXPECT_EQ(refusal([] { RemoteGroup(2, {.message_bytes = 31}); }), Errc::invalid_argument);
}

std::atomic<int> ended;

Task<> pass_on(int left) {
    if (left > 0) {
        co_await tell<&pass_on>((here() + 1) % ranks(), left - 1);
        spawn([]() -> Task<> {
            co_await this_task::sleep_for(100us);
            ++ended;
        }());
    }
}

TEST(RemoteTell, AFinishWaitsForAChainOfTells) {
    ended = 0;
    among(3, [](Rank rank) -> Task<> {
        if (rank == 0) {
            co_await finish([]() -> Task<> { co_await tell<&pass_on>(1, 30); });
            EXPECT_EQ(ended, 30);
        }
    });
}

TEST(RemoteTell, AFinishThrowsWhatTellsHaveThrown) {
    among(2, [](Rank rank) -> Task<> {
        try {
            co_await finish([rank]() -> Task<> {
                co_await tell(1 - rank, [] { throw std::range_error("of a tell"); });
                co_await tell(1 - rank, Nothing());
            });
            ADD_FAILURE() << "nothing thrown";
        } catch (const std::range_error& error) {
            EXPECT_STREQ(error.what(), "of a tell");
        }
    });
}

TEST(RemoteTell, PostsArriveInOrder) {
    static std::vector<int> got;
    got.clear();
    among(2,
          [](Rank rank) -> Task<> {
              if (rank == 0) {
                  for (int i = 0; i < 1000; ++i) {
                      co_await post(1, [](int number) { got.push_back(number); }, i);
                  }
              }
          },
          {.capacity = 2});
    std::vector<int> expected(1000);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(got, expected);
}

TEST(RemoteRun, ARankMayRunAgain) {
    RemoteGroup group(2);
    auto body = [&group](Rank rank) {
        RemoteRank own = group.join(rank);
        for (int round = 0; round < 20; ++round) {
            const int got = own.run([](int number) -> Task<int> {
                co_return co_await at(1 - here(), [](int n) { return n + 1; }, number);
            }(round));
            EXPECT_EQ(got, round + 1);
        }
    };
    std::jthread other([&] { body(1); });
    body(0);
}

TEST(RemoteRun, AFailureOfOneRankComesOutThere) {
    RemoteGroup group(2);
    std::jthread other([&] {
        RemoteRank own = group.join(1);
        own.run([]() -> Task<> {
            co_await this_task::sleep_for(2ms);
        }());
    });
    RemoteRank own = group.join(0);
    EXPECT_THROW(own.run([]() -> Task<> {
        co_await this_task::yield();
        throw std::runtime_error("its own");
    }()),
                 std::runtime_error);
}

TEST(RemoteRun, CallsToARankThatHasLeftFail) {
    RemoteGroup group(2);
    std::jthread other([&] {
        RemoteRank own = group.join(1);
        own.scheduler().poll();
    });
    other.join();
    RemoteRank own = group.join(0);
    const auto code = refusal([&] {
        own.run([]() -> Task<> {
            co_await at(1, Nothing());
        }());
    });
    EXPECT_EQ(code, Errc::team_broken);
}

/// Each waits for the other's word by looking again and again, on one CPU. If a look lasted a time
/// slice, this would take minutes.
TEST(RemoteRun, TasksThatLookAgainAndAgainLetOthersHaveTheCpu) {
    static constexpr int words = 20'000;
    std::atomic<int> heard[2] = {0, 0};
    const auto bind_to_one = [] {
        cpu_set_t allowed;
        ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
        std::size_t cpu = 0;
        while (!CPU_ISSET(cpu, &allowed)) {
            ++cpu;
        }
        CPU_ZERO(&allowed);
        CPU_SET(cpu, &allowed);
        ASSERT_EQ(::sched_setaffinity(0, sizeof allowed, &allowed), 0);
    };
    among(2, [&](Rank rank) -> Task<> {
        bind_to_one();
        const Rank other = 1 - rank;
        for (int word = 1; word <= words; ++word) {
            co_await tell(other, [&last = heard[other]](int said) { last = said; }, word);
            while (heard[rank] < word) {
                co_await this_task::yield();
            }
        }
    });
    EXPECT_EQ(heard[0], words);
    EXPECT_EQ(heard[1], words);
}

} // namespace
} // namespace corymb
