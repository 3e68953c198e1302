// SPDX-License-Identifier: Apache-2.0
#include "remote/among.hpp"
#include "remote/history.hpp"
#include "remote/over_nodes.hpp"

#include <corymb/error.hpp>
#include <corymb/rank_barrier.hpp>
#include <corymb/replicated.hpp>
#include <corymb/this_task.hpp>

#include <atomic>
#include <cstddef>
#include <gtest/gtest.h>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace corymb {
namespace {

using history_test::Table;
using history_test::Witness;

struct Groups {
    std::vector<int> of_rank;
    std::size_t log_bytes = 65'536;
};

class ReplicatedIn : public testing::TestWithParam<Groups> {};

TEST_P(ReplicatedIn, IsASequentialObject) {
    const Groups groups = GetParam();
    among(static_cast<int>(groups.of_rank.size()), [&](Rank rank) -> Task<> {
        ReplicatedOptions options;
        options.replica_group = groups.of_rank[static_cast<std::size_t>(rank)];
        options.log_bytes = groups.log_bytes;
        auto table = co_await Replicated<Table>::make("table", Table(), options);
        RankBarrier meeting("meeting");
        Witness witness(rank);
        for (int i = 0; i < 1000; ++i) {
            co_await witness.do_anything(table);
        }
        co_await meeting.arrive();
        const auto end = co_await table.read_latest([](const Table& now) { return now; });
        EXPECT_EQ(witness.complaint(end), "") << "rank " << rank;
        co_await meeting.arrive();
    });
}

INSTANTIATE_TEST_SUITE_P(Replicas, ReplicatedIn,
                         testing::Values(Groups{{0, 0, 0}}, Groups{{0, 1, 2}}, Groups{{7, 3, 7, 3}},
                                         Groups{{0, 1}, 1}, Groups{{0, 0, 1}, 512}));

/// How many there are.
struct Counted {
    static inline std::atomic<int> count{0};
    std::vector<std::string> words;
    Counted() { ++count; }
    Counted(const Counted& other) : words(other.words) { ++count; }
    Counted& operator=(const Counted&) = default;
    ~Counted() { --count; }
    std::size_t append(const std::string& word) {
        words.push_back(word);
        return words.size();
    }
};

TEST(Replicated, OfThreadsMayHoldPointersAndEndsThem) {
    among(3, [](Rank rank) -> Task<> {
        ReplicatedOptions options;
        options.replica_group = rank % 2;
        {
            Counted initial;
            initial.words.emplace_back("first");
            auto words = co_await Replicated<Counted>::make("words", initial, options);
            const std::size_t count = co_await words.update<&Counted::append>("more of it");
            EXPECT_GE(count, 2U);
            const std::vector<char> letters{'a', 'b', 'c'};
            co_await words.update(
                [](Counted& all, std::span<const char> row) {
                    all.append(std::string(row.begin(), row.end()));
                },
                std::span(letters));
            const bool sees_own = words.read([](const Counted& all) {
                return all.words[0] == "first" && all.words.size() >= 3;
            });
            EXPECT_TRUE(sees_own);
            RankBarrier meeting("meeting");
            co_await meeting.arrive();
            EXPECT_EQ(
                co_await words.read_latest([](const Counted& all) { return all.words.size(); }),
                7U);
        }
    });
    EXPECT_EQ(Counted::count, 0);
}

TEST(Replicated, ARankThatOnlyServesDoesNotHoldUpUpdates) {
    among(2, [](Rank rank) -> Task<> {
        ReplicatedOptions options;
        options.replica_group = rank;
        options.log_bytes = 1;
        options.operation_bytes = 16;
        auto sum = co_await Replicated<long>::make("sum", 0, options);
        RankBarrier meeting("meeting");
        if (rank == 0) {
            for (int i = 1; i <= 1000; ++i) {
                const long now = co_await sum.update([](long& n, int by) { return n += by; }, i);
                EXPECT_EQ(now, i * (i + 1L) / 2);
            }
        }
        co_await meeting.arrive();
        EXPECT_EQ(co_await sum.read_latest([](long n) { return n; }), 500'500);
    });
}

TEST(Replicated, ReplicasThatNobodyHasOpenAreNotWaitedFor) {
    among(2, [](Rank rank) -> Task<> {
        ReplicatedOptions options;
        options.replica_group = rank;
        options.log_bytes = 1;
        RankBarrier meeting("meeting");
        {
            auto sum = co_await Replicated<long>::make("sum", 0, options);
            if (rank == 0) {
                co_await meeting.arrive();
                for (int i = 0; i < 100; ++i) {
                    co_await sum.update([](long& n) { ++n; });
                }
                EXPECT_EQ(sum.read([](long n) { return n; }), 100);
            }
        }
        if (rank == 1) {
            co_await meeting.arrive();
        }
    });
}

TEST(Replicated, TasksOfARankTakeTurns) {
    among(2, [](Rank rank) -> Task<> {
        ReplicatedOptions options;
        options.replica_group = rank;
        auto sum = co_await Replicated<long>::make("sum", 0, options);
        RankBarrier meeting("meeting");
        co_await finish([&] {
            for (int task = 0; task < 10; ++task) {
                static_cast<void>(spawn([](Replicated<long>& of) -> Task<> {
                    for (int i = 0; i < 50; ++i) {
                        const long before = of.read([](long n) { return n; });
                        const long now = co_await of.update([](long& n) { return ++n; });
                        EXPECT_GT(now, before);
                    }
                }(sum)));
            }
        });
        co_await meeting.arrive();
        EXPECT_EQ(co_await sum.read_latest([](long n) { return n; }), 1000);
    });
}

TEST(Replicated, AnOperationThatThrowsChangesAllReplicasAlike) {
    among(2, [](Rank rank) -> Task<> {
        ReplicatedOptions options;
        options.replica_group = rank;
        auto number = co_await Replicated<long>::make("number", 0, options);
        RankBarrier meeting("meeting");
        if (rank == 1) {
            try {
                co_await number.update([](long& n) {
                    n = 5;
                    throw std::out_of_range("too far");
                });
                ADD_FAILURE() << "it has returned";
            } catch (const std::out_of_range& error) {
                EXPECT_EQ(std::string_view(error.what()), "too far");
            }
            try {
                co_await number.update([](long& n) {
                    n += 1;
                    throw std::invalid_argument(std::string(1000, 'x'));
                });
                ADD_FAILURE() << "it has returned";
            } catch (const std::invalid_argument& error) {
                EXPECT_EQ(std::string_view(error.what()).substr(0, 50), std::string(50, 'x'));
            }
        }
        co_await meeting.arrive();
        EXPECT_EQ(co_await number.read_latest([](long n) { return n; }), 6);
    });
}

TEST(Replicated, RefusesWhatIsTooLongOrWithinARead) {
    among(1, [](Rank /*rank*/) -> Task<> {
        ReplicatedOptions options;
        options.operation_bytes = 40;
        auto number = co_await Replicated<long>::make("number", 3, options);
        const auto add_all = [](long& n, std::span<const long> row) {
            for (const long one : row) {
                n += one;
            }
        };
        const std::vector<long> row(100, 1);
        try {
            co_await number.update(add_all, std::span(row));
            ADD_FAILURE() << "it is too long";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
            EXPECT_NE(std::string_view(error.what()).find("operation_bytes"),
                      std::string_view::npos);
        }
        co_await number.update(add_all, std::span(row).first(3));
        const long twice = number.read([&](long n) {
            EXPECT_THROW(static_cast<void>(number.update([](long& m) { ++m; })), Error);
            EXPECT_THROW(static_cast<void>(number.read_latest([](long m) { return m; })), Error);
            return n + number.read([](long m) { return m; });
        });
        EXPECT_EQ(twice, 12);
    });
}

TEST(Replicated, OnlyPlainDataIsSharedWithOtherProcesses) {
    RemoteOptions options;
    options.between_processes = true;
    among(
        2,
        [](Rank /*rank*/) -> Task<> {
            try {
                static_cast<void>(co_await Replicated<std::string>::make("text"));
                ADD_FAILURE() << "a string is no plain data";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), Errc::invalid_argument);
            }
            auto number = co_await Replicated<long>::make("number", 1);
            co_await number.update([](long& n) { ++n; });
        },
        options);
}

TEST(Replicated, OfSeveralNodesIsRefused) {
    over_nodes({0, 0, 1}, [](Rank /*rank*/) -> Task<> {
        try {
            static_cast<void>(co_await Replicated<long>::make("number"));
            ADD_FAILURE() << "the nodes share no memory";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::unsupported);
        }
    });
}

TEST(Replicated, TellsWhatItTakes) {
    struct Block {
        char bytes[10'000] = {};
    };
    static std::atomic<std::size_t> data;
    static std::atomic<std::size_t> replicas;
    data = replicas = 0;
    among(3, [](Rank rank) -> Task<> {
        ReplicatedOptions options;
        options.replica_group = rank == 0 ? 0 : 1;
        auto block = co_await Replicated<Block>::make("block", Block(), options);
        data += block.memory().data;
        replicas += block.memory().replicas;
        RankBarrier meeting("meeting");
        for (int i = 0; i < 100; ++i) {
            co_await block.update([](Block& all, int at) { all.bytes[at] = 'x'; }, i);
        }
        co_await meeting.arrive();
        EXPECT_EQ(block.bytes_logged(), 3U * 100U * (8 + 8 + 8)); // Head, function, argument.
        co_await meeting.arrive();
    });
    EXPECT_EQ(data, sizeof(Block));
    EXPECT_EQ(replicas, 3 * sizeof(Block));
}

} // namespace
} // namespace corymb
