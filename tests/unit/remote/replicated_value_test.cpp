// SPDX-License-Identifier: Apache-2.0
#include "remote/among.hpp"
#include "remote/history.hpp"
#include "remote/over_nodes.hpp"
#include "remote/refusal.hpp"

#include <corymb/error.hpp>
#include <corymb/rank_barrier.hpp>
#include <corymb/replicated_value.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <gtest/gtest.h>
#include <latch>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;
using history_test::Table;
using history_test::Witness;

template <class T>
using Value = Replicated<T, ReplicatedMode::invalidate>;
constexpr auto whole = [](const auto& value) {
    return value;
};

Task<> take_turns(Rank rank) {
    auto table = co_await Value<Table>::make("table", Table(), {.home = 1});
    RankBarrier meeting("meeting");
    Witness witness(rank);
    for (int i = 0; i < 60; ++i) {
        if ((i + rank) % 4 == 0) {
            co_await witness.update_once(table);
        } else {
            co_await witness.read_latest_once(table);
        }
    }
    co_await meeting.arrive();
    const Table end = co_await table.read_latest(whole);
    EXPECT_EQ(witness.complaint(end), "") << "rank " << rank;
    co_await meeting.arrive();
}

TEST(ReplicatedValue, IsASequentialObject) {
    among(3, take_turns);
    over_nodes({0, 1, 1, 0}, take_turns);
}

/// Counts how often it travels.
struct Text {
    static inline std::atomic<int> sent{0};
    std::string text;
    std::size_t append(const std::string& more) {
        text += more;
        return text.size();
    }
};

} // namespace
} // namespace corymb

template <>
struct corymb::RemoteCodec<corymb::Text> {
    using String = RemoteCodec<std::string>;
    static std::size_t size(const Text& of) { return String::size(of.text); }
    static void write(RemoteWriter& to, const Text& of) {
        ++Text::sent;
        String::write(to, of.text);
    }
    static Text read(RemoteReader& from) { return {String::read(from)}; }
};

namespace corymb {
namespace {

TEST(ReplicatedValue, TravelsToThoseWhoReadIt) {
    Text::sent = 0;
    among(4, [](Rank rank) -> Task<> {
        Text initial{"a"};
        auto text = co_await Value<Text>::make("text", initial);
        RankBarrier meeting("meeting");
        for (int round = 1; round <= 3; ++round) {
            if (rank == 1) {
                for (int i = 0; i < 10; ++i) {
                    co_await text.update<&Text::append>("bc");
                }
            }
            co_await meeting.arrive();
            EXPECT_EQ(text.is_here(), rank == 0);
            if (rank >= 2) {
                for (int i = 0; i < 10; ++i) {
                    const std::size_t size =
                        co_await text.read_latest([](const Text& all) { return all.text.size(); });
                    EXPECT_EQ(size, static_cast<std::size_t>(20 * round + 1));
                    EXPECT_TRUE(text.is_here());
                }
                EXPECT_EQ(text.memory().replicas, 20U * static_cast<std::size_t>(round) + 1 + 8);
            }
            const std::size_t data = rank == 0 ? 20U * static_cast<std::size_t>(round) + 9 : 0U;
            EXPECT_EQ(text.memory().data, data);
            co_await meeting.arrive();
        }
    });
    EXPECT_EQ(Text::sent, 2 * 3) << "once to each reader after each round of updates";
}

TEST(ReplicatedValue, TakesRowsAndGivesAnything) {
    among(2, [](Rank rank) -> Task<> {
        auto numbers = co_await Value<std::vector<int>>::make("numbers", {});
        RankBarrier meeting("meeting");
        const std::vector<int> row{1, 2, 3};
        for (Rank turn = 0; turn < 2; ++turn) {
            if (rank == turn) {
                const auto append = [](std::vector<int>& all, std::span<const int> more) {
                    all.insert(all.end(), more.begin(), more.end());
                    return all;
                };
                const std::vector<int> all = co_await numbers.update(append, std::span(row));
                EXPECT_EQ(all.size(), 3U * static_cast<std::size_t>(turn + 1));
            }
            co_await meeting.arrive();
            EXPECT_EQ((co_await numbers.read_latest(whole)).size(),
                      3U * static_cast<std::size_t>(turn + 1));
            co_await meeting.arrive();
        }
    });
}

TEST(ReplicatedValue, AnOperationThatThrowsKeepsWhatItHasChanged) {
    among(3, [](Rank rank) -> Task<> {
        auto number = co_await Value<long>::make("number", 0);
        RankBarrier meeting("meeting");
        EXPECT_EQ(co_await number.read_latest(whole), 0);
        co_await meeting.arrive();
        if (rank == 2) {
            try {
                co_await number.update([](long& n) {
                    n = 5;
                    throw std::out_of_range("too far");
                });
                ADD_FAILURE() << "it has returned";
            } catch (const std::out_of_range& error) {
                EXPECT_STREQ(error.what(), "too far");
            }
        }
        co_await meeting.arrive();
        EXPECT_EQ(co_await number.read_latest(whole), 5);
        co_await meeting.arrive();
    });
}

TEST(ReplicatedValue, RefusesAHomeThatIsNone) {
    among(2, [](Rank rank) -> Task<> {
        EXPECT_EQ(co_await code_of(Value<long>::make("number", 0, {.home = 2})),
                  Errc::invalid_argument);
        auto number = co_await Value<long>::make("number", 0, {.home = 1 - rank});
        EXPECT_EQ(co_await code_of(number.read_latest(whole)), Errc::mismatch);
        EXPECT_EQ(co_await code_of(number.update([](long& n) { return ++n; })), Errc::mismatch);
        RankBarrier meeting("meeting");
        co_await meeting.arrive();
    });
}

TEST(ReplicatedValue, WaitsForOthersUpToItsLimit) {
    std::latch is_late(1);
    std::latch is_busy(1);
    among(2, [&](Rank rank) -> Task<> {
        RankBarrier meeting("meeting");
        if (rank == 1) { // The home has not made it.
            {
                auto early = co_await Value<long>::make("early", 0, {.home = 0, .limit = 5ms});
                EXPECT_EQ(co_await code_of(early.read_latest(whole)), Errc::timeout);
            }
            auto number = co_await Value<long>::make("number", 0);
            co_await meeting.arrive();
            EXPECT_EQ(co_await number.read_latest(whole), 3);
            co_await at(0, [] {});
            is_busy.count_down();
            is_late.wait(); // It does not serve.
            co_await meeting.arrive();
            EXPECT_EQ(co_await number.read_latest(whole), 5);
            co_await meeting.arrive();
        } else {
            co_await meeting.arrive();
            auto number = co_await Value<long>::make("number", 3);
            while (!is_busy.try_wait()) {
                co_await this_task::yield();
            }
            const auto add = [](long& n) {
                return ++n;
            };
            const auto update = [](Value<long>& of, auto change) -> Task<long> {
                co_return co_await of.update(change);
            };
            EXPECT_EQ(co_await code_of(within(5ms, update(number, add))), Errc::timeout);
            EXPECT_EQ(co_await number.read_latest(whole), 3) << "nothing was written";
            is_late.count_down();
            EXPECT_EQ(co_await number.update(add), 4);
            EXPECT_EQ(co_await number.update(add), 5);
            co_await meeting.arrive();
            co_await meeting.arrive();
        }
    });
}

TEST(ReplicatedValue, ARankThatHasEndedItHasNoCopy) {
    among(3, [](Rank rank) -> Task<> {
        RankBarrier meeting("meeting");
        {
            auto number = co_await Value<long>::make("number", 0);
            EXPECT_EQ(co_await number.read_latest(whole), 0);
            co_await meeting.arrive();
            if (rank == 0) {
                co_await meeting.arrive();
                EXPECT_EQ(co_await number.update([](long& n) { return ++n; }), 1);
            }
        }
        if (rank != 0) {
            co_await meeting.arrive();
        }
    });
}

} // namespace
} // namespace corymb
