// SPDX-License-Identifier: Apache-2.0
// Calls of ranks on several nodes that contradict each other: all ranks are told that they differ,
// and what two of them have called. Equal calls are never suspected. Threads play the ranks.
#include "cluster_team/slow_line.hpp"
#include "cluster_team/switchboard.hpp"
#include "contradictions.hpp"
#include "limits.hpp"

#include <corymb/request.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace corymb;
using namespace std::chrono_literals;
using cluster_test::Line;
using cluster_test::SlowLine;
using cluster_test::Switchboard;
using contradictions::Call;
using contradictions::Case;

using Nodes = std::vector<int>;
using Life = std::function<void(Team&)>;
using MakeLine = std::function<std::unique_ptr<Carrier>(Switchboard&, Rank)>;

/// What a rank is told; "" if it leaves well.
using Told = std::vector<std::string>;

/// Runs `life` as each rank, which leaves then.
Told told(const Nodes& where, const Life& life, const MakeLine& make_line = {}) {
    Switchboard board;
    std::vector<std::unique_ptr<ThreadTeam>> nodes;
    TeamOptions options;
    options.deadline = scaled(20s);
    for (int node = 0; node <= std::ranges::max(where); ++node) {
        nodes.push_back(std::make_unique<ThreadTeam>(
            static_cast<int>(std::ranges::count(where, node)), options));
    }
    Told texts(where.size());
    const auto be = [&](Rank rank) {
        const auto own = static_cast<std::size_t>(rank);
        const auto place = std::count(where.begin(), where.begin() + rank, where[own]);
        const auto line = make_line ? make_line(board, rank) : std::make_unique<Line>(board, rank);
        ClusterOptions its;
        its.node_of_rank = where;
        its.rank = rank;
        ThreadTeam& node = *nodes[static_cast<std::size_t>(where[own])];
        try {
            Team team = over_nodes(node.join(static_cast<Rank>(place)), *line, its);
            life(team);
            team.leave();
        } catch (const Error& error) {
            texts[own] = std::string(to_string(error.code())) + ": " + error.what();
        }
    };
    {
        std::vector<std::jthread> ranks;
        for (Rank rank = 0; rank < static_cast<Rank>(where.size()); ++rank) {
            ranks.emplace_back(be, rank);
        }
    }
    return texts;
}

/// Each rank fails, and with a mismatch if it was in a call.
void expect_mismatch(const Told& texts, const std::vector<std::string>& words,
                     const std::string& what) {
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
        const std::string& text = texts[rank];
        EXPECT_TRUE(text.starts_with("mismatch: ") ||
                    text.starts_with("team_broken: the team is broken: "))
            << what << ": rank " << rank << ": " << text;
        for (const std::string& word : words) {
            EXPECT_NE(text.find(word), std::string::npos)
                << what << ": rank " << rank << " is not told of " << word << ": " << text;
        }
    }
}

/// As the texts, but a rank that was told nothing has the text of another rank of its node: leaving
/// a team that is broken already throws nothing.
Told of_nodes(Told texts, const Nodes& where) {
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
        for (std::size_t other = 0; other < texts.size() && texts[rank].empty(); ++other) {
            texts[rank] = where[other] == where[rank] ? texts[other] : "";
        }
    }
    return texts;
}

/// What a text says of a call: its name, and its length where it has one.
std::vector<std::string> words_of(const Call& call) {
    std::vector<std::string> words{std::string(to_string(call.op))};
    if (call.op != Collective::barrier) {
        words.push_back(" of " + std::to_string(call.bytes) + " bytes");
    }
    return words;
}

/// The ranks of the last node call one thing, all others another.
void expect_mismatch(const Nodes& where, const Case& one) {
    const Told texts = told(where, [&](Team& team) {
        const int node = where[static_cast<std::size_t>(team.rank())];
        for (int call = 0; call < one.calls; ++call) {
            contradictions::perform(team, node == where.back() ? one.last : one.others);
        }
    });
    std::vector<std::string> words;
    if (one.calls == 1) { // Otherwise a rank may be too far ahead to know its first call.
        words = words_of(one.others);
        std::ranges::copy(words_of(one.last), std::back_inserter(words));
    }
    expect_mismatch(of_nodes(texts, where), words,
                    text_of(one.others) + " against " + text_of(one.last) + ", " +
                        std::to_string(one.calls) + " times");
}

class Contradictions : public testing::TestWithParam<Nodes> {};

/// One of so many cases, others on each shape.
std::vector<Case> one_of(std::size_t many, const std::vector<Case>& all, const Nodes& where) {
    std::vector<Case> part;
    const std::size_t step = contradictions::is_long_mode() ? 1 : many;
    for (std::size_t i = where.size() % step; i < all.size(); i += step) {
        part.push_back(all[i]);
    }
    return part;
}

TEST_P(Contradictions, OfLengths) {
    for (const bool nonblocking : {false, true}) {
        for (const Case& one : one_of(11, contradictions::lengths(nonblocking), GetParam())) {
            expect_mismatch(GetParam(), one);
        }
    }
}

TEST_P(Contradictions, OfOperations) {
    for (const Case& one : one_of(6, contradictions::operations(64), GetParam())) {
        expect_mismatch(GetParam(), one);
    }
    for (Case one : one_of(7, contradictions::operations(5000), GetParam())) {
        one.others.is_nonblocking = one.last.is_nonblocking = true;
        expect_mismatch(GetParam(), one);
    }
}

/// In some of these nobody waits, so only the ends tell.
TEST_P(Contradictions, OfRoots) {
    const auto last = static_cast<Rank>(GetParam().size()) - 1;
    for (Case one : one_of(3, contradictions::roots(last), GetParam())) {
        expect_mismatch(GetParam(), one);
        one.others.is_nonblocking = one.last.is_nonblocking = true;
        expect_mismatch(GetParam(), one);
    }
}

using Buffer = std::vector<int>;

/// Makes a persistent operation of the first or the second kind, in these buffers.
using Make = std::function<Request(Team&, Buffer& in, Buffer& out)>;

/// Makes requests; each rank starts its own so many times.
Told of_persistent(const Nodes& where, const Make& others, const Make& last, int others_start,
                   int last_starts) {
    return told(where, [&](Team& team) {
        const bool is_last = where[static_cast<std::size_t>(team.rank())] == where.back();
        Buffer in(10'000, 1);
        Buffer out(10'000);
        Request request = (is_last ? last : others)(team, in, out);
        for (int start = 0; start < (is_last ? last_starts : others_start); ++start) {
            request.start();
            request.wait();
        }
    });
}

Make allreduce_of(std::size_t count) {
    return [count](Team& team, Buffer& in, Buffer& out) {
        return team.allreduce_init(std::span<const int>(in).first(count),
                                   std::span(out).first(count));
    };
}

Request barrier(Team& team, Buffer& /*in*/, Buffer& /*out*/) {
    return team.barrier_init();
}

TEST_P(Contradictions, OfPersistentOperations) {
    expect_mismatch(of_persistent(GetParam(), allreduce_of(10), allreduce_of(5000), 1, 1),
                    {"allreduce of 40 bytes", "allreduce of 20000 bytes"}, "lengths");
    expect_mismatch(of_persistent(GetParam(), barrier, allreduce_of(10), 1, 1),
                    {"barrier", "allreduce of 40 bytes"}, "operations");
    expect_mismatch(of_persistent(GetParam(), barrier, allreduce_of(10), 0, 0),
                    {"barrier", "allreduce of 40 bytes"}, "made only");
    for (const Make& make : {Make(barrier), allreduce_of(10), allreduce_of(5000)}) {
        expect_mismatch(of_persistent(GetParam(), make, make, 3, 2), {}, "a start more");
        expect_mismatch(of_persistent(GetParam(), make, make, 1, 4), {}, "three starts more");
    }
}

/// The parts are not the same on both sides, of which only those know that have them.
TEST_P(Contradictions, OfCountsOfParts) {
    const std::size_t size = GetParam().size();
    const Told texts = told(GetParam(), [&](Team& team) {
        const bool is_last = GetParam()[static_cast<std::size_t>(team.rank())] == GetParam().back();
        const std::vector<std::size_t> counts(size, is_last ? 100 : 2);
        Buffer in(counts[0], 1);
        Buffer out(counts[0] * size);
        team.allgatherv(std::span<const int>(in), std::span(out), Parts{counts});
    });
    expect_mismatch(texts, {"allgatherv"}, "counts");
}

/// One side waits in a blocking call, the other in a request for the same or another operation.
TEST_P(Contradictions, OfForms) {
    for (const bool is_first : {true, false}) {
        const Told texts = told(GetParam(), [&](Team& team) {
            const bool is_last =
                GetParam()[static_cast<std::size_t>(team.rank())] == GetParam().back();
            if (is_last == is_first) {
                team.barrier();
            } else {
                team.ibarrier().wait();
            }
        });
        expect_mismatch(texts, {"operation 1", "nonblocking operation 1", "barrier"}, "forms");
    }
    const Told texts = told(GetParam(), [&](Team& team) {
        const bool is_last = GetParam()[static_cast<std::size_t>(team.rank())] == GetParam().back();
        Request request = team.barrier_init();
        if (is_last) {
            request.start();
            request.wait();
        } else {
            static_cast<void>(team.allreduce(1));
        }
    });
    expect_mismatch(texts, {"persistent operation 1", "allreduce of 4 bytes"}, "persistent");
}

/// A rank that calls something more than the others, and no rank waits for another.
TEST_P(Contradictions, OfNumbersOfCalls) {
    for (const bool nonblocking : {false, true}) {
        for (const int more : {1, 50}) {
            const Told texts = told(GetParam(), [&](Team& team) {
                const Call call{Collective::broadcast, 8, 0, false, nonblocking};
                contradictions::perform(team, call);
                for (int i = 0; i < more && team.rank() == 0; ++i) {
                    contradictions::perform(team, call);
                }
            });
            expect_mismatch(of_nodes(texts, GetParam()), {"broadcast of 8 bytes"},
                            std::to_string(more) + " more");
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Contradictions,
                         testing::Values(Nodes{0, 1}, Nodes{0, 0, 1, 1}, Nodes{0, 1, 2}));

/// Ranks that are late, by more than what makes a wait long.
TEST(EqualCalls, AreNotSuspected) {
    for (const Nodes& where : {Nodes{0, 0, 1, 1}, Nodes{0, 1, 2}}) {
        const Told texts = told(where, [](Team& team) {
            std::mt19937 own(static_cast<unsigned>(team.rank()));
            std::mt19937 all(7);
            const auto any = [&](std::size_t count) {
                return static_cast<std::size_t>(all() % count);
            };
            const auto sleep = [&] {
                std::this_thread::sleep_for(own() % 3 == 0 ? std::chrono::milliseconds(own() % 80)
                                                           : 0ms);
            };
            Buffer in(1000, 1);
            Buffer out(1000);
            Request kept = team.allreduce_init(std::span<const int>(in), std::span(out));
            for (int round = 0; round < 12; ++round) {
                const std::size_t bytes = std::array<std::size_t, 3>{8, 1000, 20'000}[any(3)];
                const auto op = contradictions::all_operations[any(11)];
                const Call call{op, bytes, static_cast<Rank>(any(2))};
                sleep();
                contradictions::perform(team, call);
                Request request = team.ibarrier();
                kept.start();
                sleep();
                contradictions::perform(team, {call.op, call.bytes, call.root, false, true});
                sleep();
                kept.wait();
                request.wait();
            }
            sleep();
        });
        EXPECT_EQ(texts, Told(where.size()));
    }
}

/// Rank 0 is done with all broadcasts before the first one has arrived.
TEST(EqualCalls, AreNotSuspectedWhileMessagesAreUnderWay) {
    const Network slow{150'000'000, 0, 1, 1};
    const Told texts = told(
        {0, 1, 2},
        [](Team& team) {
            for (int round = 0; round < 5; ++round) {
                EXPECT_EQ(team.broadcast(team.rank() == 0 ? round : -1, 0), round);
            }
            team.barrier();
        },
        [&](Switchboard& board, Rank rank) {
            return std::make_unique<SlowLine>(board, rank, std::vector<Network>(3, slow));
        });
    EXPECT_EQ(texts, Told(3));
}

/// A rank that does not leave is not waited for without end.
TEST(EqualCalls, LeaveBeforeOthersDo) {
    std::atomic<bool> has_left{false};
    const Told texts = told({0, 1}, [&](Team& team) {
        team.barrier();
        if (team.rank() == 1) {
            while (!has_left) {
                std::this_thread::sleep_for(1ms);
            }
        } else {
            team.leave();
            has_left = true;
        }
    });
    EXPECT_EQ(texts, Told(2));
}

/// Why a team is broken is known on all nodes, also where nobody waits for the rank that knows.
TEST(FailuresOverNodes, AreToldToAllNodes) {
    const Told texts = told({0, 0, 1, 2}, [](Team& team) {
        if (team.rank() == 1) {
            team.abandon("it is over");
        } else {
            team.ibarrier().wait();
        }
    });
    for (const std::size_t rank : {0U, 2U, 3U}) {
        EXPECT_TRUE(texts[rank].starts_with("team_broken: ")) << texts[rank];
        EXPECT_NE(texts[rank].find("rank 1 (node 0) gave up: it is over"), std::string::npos)
            << texts[rank];
    }
}

} // namespace
