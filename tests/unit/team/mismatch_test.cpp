// SPDX-License-Identifier: Apache-2.0
// Ranks that call different things where all must call the same are told so, each of them, long
// before the deadline.
#include "limits.hpp"

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace corymb {
namespace {

using namespace std::chrono_literals;
using Life = std::function<void(Team&)>;

/// Lets the ranks live until one meets an error and returns what each was told.
std::vector<Error> errors_of(int size, const Life& life) {
    TeamOptions options;
    options.deadline = test_limit();
    std::vector<std::vector<Error>> told(static_cast<std::size_t>(size));
    threads(
        size,
        [&](Team& team) {
            try {
                life(team);
                team.barrier();
            } catch (const Error& error) {
                told[static_cast<std::size_t>(team.rank())].push_back(error);
            }
        },
        options);
    std::vector<Error> all;
    for (const auto& errors : told) {
        EXPECT_EQ(errors.size(), 1U) << "a rank was not told";
        all.insert(all.end(), errors.begin(), errors.end());
    }
    return all;
}

void expect_mismatch(int size, const Life& life, const std::vector<std::string>& words,
                     const std::vector<int>& ranks) {
    bool is_named = false;
    for (const Error& error : errors_of(size, life)) {
        // Who begins its next operation after the failure is told that the team is broken, and why.
        EXPECT_TRUE(error.code() == Errc::mismatch || error.code() == Errc::team_broken)
            << error.what();
        EXPECT_EQ(error.ranks(), ranks) << error.what();
        is_named = is_named || error.code() == Errc::mismatch;
        for (const std::string& word : words) {
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
                << "'" << word << "' is not in: " << error.what();
        }
    }
    EXPECT_TRUE(is_named);
}

TEST(MismatchTest, AnotherOperation) {
    expect_mismatch(3,
                    [](Team& team) {
                        team.barrier();
                        if (team.rank() == 2) {
                            static_cast<void>(team.broadcast(1));
                        } else {
                            static_cast<void>(team.allreduce(1.0));
                        }
                    },
                    {"operation 2", " in allreduce of 8 bytes of float64 with sum",
                     "rank 2 in broadcast of 4 bytes of int32, root 0"},
                    {2});
}

TEST(MismatchTest, ABarrierMeetsACollective) {
    expect_mismatch(2,
                    [](Team& team) {
                        if (team.rank() == 1) {
                            team.barrier();
                        } else {
                            static_cast<void>(team.allreduce(1.0));
                        }
                    },
                    {"operation 1", "rank 1 in barrier"}, {1});
}

TEST(MismatchTest, AnotherRoot) {
    expect_mismatch(2, [](Team& team) { static_cast<void>(team.broadcast(1, team.rank())); },
                    {"operation 1", "root 0", "root 1"}, {1});
}

TEST(MismatchTest, AnotherSize) {
    for (const std::size_t many : {2U, 100U, 20'000U, 400'000U}) {
        std::vector<std::vector<std::int64_t>> output(2, std::vector<std::int64_t>(many, -1));
        expect_mismatch(
            2,
            [&](Team& team) {
                auto& mine = output[static_cast<std::size_t>(team.rank())];
                const std::size_t count = team.rank() == 0 ? many : many - 1;
                const std::vector<std::int64_t> input(count, 1);
                team.allreduce(std::span<const std::int64_t>(input), std::span(mine).first(count));
            },
            {std::to_string(8 * many) + " bytes", std::to_string(8 * many - 8) + " bytes"}, {1});
        EXPECT_EQ(output[1].back(), -1) << "wrote beyond the output";
    }
}

TEST(MismatchTest, NoBytesAgainstSome) {
    expect_mismatch(2,
                    [](Team& team) {
                        std::vector<int> data(team.rank() == 0 ? 0 : 3);
                        team.broadcast(std::span(data), 1);
                    },
                    {"of 0 bytes", "of 12 bytes"}, {1});
}

TEST(MismatchTest, AnotherTypeOrOperator) {
    expect_mismatch(2,
                    [](Team& team) {
                        if (team.rank() == 0) {
                            static_cast<void>(team.allreduce(1.0F));
                        } else {
                            static_cast<void>(team.allreduce(1));
                        }
                    },
                    {"float32 with sum", "int32 with sum"}, {1});
    expect_mismatch(2,
                    [](Team& team) {
                        if (team.rank() == 0) {
                            static_cast<void>(team.allreduce(1, minimum{}));
                        } else {
                            static_cast<void>(team.allreduce(1, maximum{}));
                        }
                    },
                    {"int32 with min", "int32 with max"}, {1});
}

/// Completes a request in one of the ways that there are.
void complete(Request request, bool by_tests) {
    if (!by_tests) {
        request.wait();
        return;
    }
    while (!request.test()) {
    }
}

TEST(MismatchTest, Nonblocking) {
    for (const bool by_tests : {false, true}) {
        expect_mismatch(3,
                        [by_tests](Team& team) {
                            std::int64_t in = 1;
                            std::int64_t out = 0;
                            const std::span<const std::int64_t> input(&in, 1);
                            if (team.rank() == 2) {
                                complete(team.iallreduce(input, std::span(&out, 1)), by_tests);
                            } else {
                                complete(team.ireduce(input, std::span(&out, 1)), by_tests);
                            }
                        },
                        {"rank 2 in allreduce", " in reduce of 8 bytes", "on lane 1"}, {2});
    }
}

TEST(MismatchTest, Persistent) {
    expect_mismatch(2,
                    [](Team& team) {
                        std::vector<float> data(team.rank() == 0 ? 4 : 5);
                        Request request = team.broadcast_init(std::span(data), 0);
                        request.start();
                        request.wait();
                    },
                    {"broadcast of 16 bytes", "broadcast of 20 bytes"}, {1});
}

TEST(MismatchTest, AMessageOfAnotherLength) {
    for (const std::size_t bytes : {5U, 1'000U, 100'000U}) {
        const auto errors = errors_of(2, [bytes](Team& team) {
            std::vector<char> data(bytes);
            if (team.rank() == 0) {
                team.send(std::span<const char>(data), 1);
            } else {
                team.recv(std::span(data).first(bytes - 1), 0);
            }
        });
        ASSERT_EQ(errors.size(), 2U);
        EXPECT_EQ(errors[1].code(), Errc::mismatch) << errors[1].what();
    }
}

TEST(MismatchTest, EqualCallsAreNeverDoubted) {
    // Beyond the 16 bits that the numbers of messages have.
    std::atomic<int> sum{0};
    threads(2, [&](Team& team) {
        int seen = 0;
        for (int i = 0; i < 70'000; ++i) {
            seen += team.broadcast(i % 2, 0);
        }
        sum += seen;
    });
    EXPECT_EQ(sum, 70'000);
}

} // namespace
} // namespace corymb
