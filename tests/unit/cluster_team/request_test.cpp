// SPDX-License-Identifier: Apache-2.0
// Nonblocking operations over several nodes: any number under way, completed in any order, and what
// happens to them when something goes wrong. Threads play the ranks.
#include "cluster_team/affine.hpp"
#include "cluster_team/one_of_each.hpp"
#include "cluster_team/switchboard.hpp"
#include "limits.hpp"
#include "plan/nodes/scheme.hpp"
#include "team/tuning.hpp"

#include <corymb/request.hpp>
#include <corymb/simulate.hpp>

#include <algorithm>
#include <atomic>
#include <coroutine>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace corymb;
using namespace std::chrono_literals;
using cluster_test::on_nodes;
using cluster_test::OneOfEach;
using cluster_test::Then;
using cluster_test::value;

using Nodes = std::vector<int>;

/// In another order on each rank, each by another function.
void complete(std::vector<Request>& requests, unsigned seed) {
    std::mt19937 random(seed);
    std::ranges::shuffle(requests, random);
    switch (seed % 3) {
    case 0: wait_all(requests); break;
    case 1:
        while (wait_any(requests) != no_request) {
        }
        break;
    default:
        for (Request& request : requests) {
            while (!request.test()) {
                std::this_thread::yield();
            }
        }
    }
    EXPECT_TRUE(std::ranges::none_of(requests, &Request::valid));
}

class RequestsOnNodes : public testing::TestWithParam<Nodes> {};

TEST_P(RequestsOnNodes, EveryOperationIsRight) {
    for (const bool lazy : {false, true}) {
        on_nodes(
            GetParam(),
            [](Team& team) {
                for (int round = 0; round < 3; ++round) {
                    for (const std::size_t count : {0U, 1U, 700U, 5000U}) {
                        OneOfEach all(team, count, round);
                        complete(all.requests, static_cast<unsigned>(team.rank() + round));
                        EXPECT_EQ(all.wrong(), "") << count << " on rank " << team.rank();
                    }
                }
            },
            {}, nullptr, lazy);
    }
}

/// Several sizes of all at once, with blocking operations in between at another place on each rank.
TEST_P(RequestsOnNodes, AnyNumberIsUnderWay) {
    on_nodes(GetParam(), [](Team& team) {
        const auto blocking = [&](int round) {
            const double own = value(team.rank(), 0, round);
            double sum = 0;
            team.allreduce(std::span(&own, 1), std::span(&sum, 1));
            double wanted = 0;
            for (Rank rank = 0; rank < team.size(); ++rank) {
                wanted += value(rank, 0, round);
            }
            EXPECT_EQ(sum, wanted);
        };
        std::deque<OneOfEach> all;
        std::vector<Request> requests;
        for (int round = 0; round < 6; ++round) {
            if (round == team.rank() % 6) {
                blocking(7);
            }
            auto& each = all.emplace_back(team, round % 2 == 0 ? 1 : 3000, round);
            std::ranges::move(each.requests, std::back_inserter(requests));
            each.requests.clear();
        }
        blocking(8);
        complete(requests, static_cast<unsigned>(team.rank() + 1));
        for (const OneOfEach& each : all) {
            EXPECT_EQ(each.wrong(), "") << "on rank " << team.rank();
        }
        EXPECT_EQ(team.progress(), 0u);
    });
}

INSTANTIATE_TEST_SUITE_P(Shapes, RequestsOnNodes,
                         testing::Values(Nodes{0, 0, 1, 1}, Nodes{0, 1, 0, 1, 1}, Nodes{0, 1, 2},
                                         Nodes{0, 0, 0}));

TEST(ClusterRequests, FewLanesCarryManyOperations) {
    for (const int lanes : {1, 2}) {
        on_nodes(
            {0, 1, 1},
            [](Team& team) {
                OneOfEach first(team, 3, 0);
                OneOfEach second(team, 900, 1);
                complete(second.requests, static_cast<unsigned>(team.rank()));
                complete(first.requests, static_cast<unsigned>(team.rank()));
                EXPECT_EQ(first.wrong() + second.wrong(), "");
            },
            {}, nullptr, false, lanes);
    }
}

/// Who tests returns at once, however late the others are.
TEST(ClusterRequests, DoNotWaitForADelayedRank) {
    for (const Rank late : {0, 1, 2}) {
        auto looked = std::make_unique<std::atomic<int>>(0);
        on_nodes({0, 0, 1}, [late, &looked](Team& team) {
            while (team.rank() == late && *looked < 2) {
                std::this_thread::yield();
            }
            OneOfEach all(team, 40, 2);
            if (team.rank() != late) {
                EXPECT_FALSE(all.requests[0].test());
                EXPECT_GT(team.progress(), 0u);
                ++*looked;
            }
            team.complete_all();
            for (Request& request : all.requests) {
                EXPECT_TRUE(request.test());
            }
            EXPECT_EQ(all.wrong(), "");
        });
    }
}

/// The nonblocking and the blocking form of one operation, either first, before there is a plan.
TEST(ClusterRequests, CrossBlockingOperations) {
    on_nodes({0, 1, 1}, [](Team& team) {
        const int own = team.rank() + 1;
        int one = 0;
        int other = 0;
        if (team.rank() == 1) {
            team.allreduce(std::span(&own, 1), std::span(&one, 1));
        }
        Request request = team.iallreduce(std::span(&own, 1), std::span(&other, 1));
        if (team.rank() != 1) {
            team.allreduce(std::span(&own, 1), std::span(&one, 1));
        }
        request.wait();
        EXPECT_EQ(one, 6);
        EXPECT_EQ(other, 6);
    });
}

/// Rank 1 starts the second when it has the first, which rank 0 has to go on with.
TEST(ClusterRequests, GoOnWhileOthersAreTested) {
    on_nodes({0, 1}, [](Team& team) {
        const std::vector<int> in(1000, team.rank() + 1);
        std::vector<int> sums(1000);
        int sum = 0;
        Request first = team.iallreduce(std::span<const int>(in), std::span(sums));
        Request second;
        if (team.rank() == 1) {
            while (!first.test()) {
                std::this_thread::yield();
            }
        }
        second = team.iallreduce(std::span(in).first(1), std::span(&sum, 1));
        while (!second.test()) {
            std::this_thread::yield();
        }
        EXPECT_EQ(sum, 3);
        if (team.rank() == 0) {
            first.wait();
        }
        EXPECT_EQ(sums, std::vector<int>(1000, 3));
    });
}

TEST(ClusterRequests, CarryWhatTheirPlansSay) {
    const Nodes where{0, 0, 1, 1};
    const nodes::Layout layout(where);
    const auto scheme = *nodes::scheme_named("lanes/2/doubling/shared");
    ClusterOptions options;
    options.plans = [&](const PlanNeed& need) {
        return nodes::plan_for(need.op, layout, scheme, need.bytes, need.root);
    };
    constexpr std::size_t bytes = 240;
    const NodeTraffic counted = node_traffic(
        nodes::plan_for(Collective::allgather, layout, scheme, bytes, 0), where, bytes);
    on_nodes(
        where,
        [&](Team& team) {
            const std::vector<char> input(bytes, static_cast<char>(team.rank()));
            std::vector<char> output(bytes * where.size());
            for (std::uint64_t round = 1; round <= 3; ++round) {
                team.iallgather(std::span<const char>(input), std::span(output)).wait();
                EXPECT_EQ(carried(team).bytes_in,
                          round * counted.rank_in[static_cast<std::size_t>(team.rank())]);
            }
        },
        options);
}

/// All lanes of rank 0 wait for rank 1, with many broadcasts behind. When its messages are there, a
/// look goes on with some only, so that it returns soon.
TEST(ClusterRequests, OneLookIsBoundedInAll) {
    constexpr int lanes = 8;
    constexpr int broadcasts = 2000;
    std::atomic<bool> are_started{false};
    std::atomic<bool> are_sent{false};
    const auto wait_for = [](const std::atomic<bool>& flag) {
        while (!flag) {
            std::this_thread::sleep_for(1ms);
        }
    };
    on_nodes({0, 1}, [&](Team& team) {
        const int own = team.rank();
        std::vector<int> data(broadcasts, own);
        std::vector<int> both(2);
        const auto gather = [&] {
            return team.igather(std::span<const int>(&own, 1), std::span(both), 0);
        };
        const auto broadcast = [&](int which) {
            return team.ibroadcast(std::span(data).subspan(static_cast<std::size_t>(which), 1), 0);
        };
        gather().wait(); // There are plans.
        broadcast(0).wait();
        std::vector<Request> requests;
        if (own == 1) {
            wait_for(are_started);
        }
        for (int lane = 0; lane < lanes; ++lane) {
            requests.push_back(gather());
        }
        if (own == 1) {
            are_sent = true;
        }
        for (int which = 0; which < broadcasts; ++which) {
            requests.push_back(broadcast(which));
        }
        if (own == 0) {
            are_started = true;
            wait_for(are_sent);
            const std::uint64_t before = carried(team).messages_out;
            static_cast<void>(team.progress());
            EXPECT_LE(carried(team).messages_out - before, 2 * team::tuning::steps_of_a_look);
        }
        wait_all(requests);
        EXPECT_EQ(data, std::vector<int>(broadcasts, 0));
    });
}

/// An operator with state is copied.
TEST(ClusterRequests, KeepTheirOperator) {
    on_nodes({0, 1}, [](Team& team) {
        std::vector<Request> requests;
        const std::vector<int> own(2000, team.rank() + 2);
        std::vector<int> result(own.size());
        {
            const auto add = [base = 4](int left, int right) {
                return (left + right) % base;
            };
            requests.push_back(team.iallreduce(std::span<const int>(own), std::span(result), add));
        }
        wait_all(requests);
        EXPECT_EQ(result, std::vector<int>(own.size(), 1));
    });
}

struct Task {
    struct promise_type {
        Task get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { throw; }
    };
};

Task two_sums(Team& team, int& result) {
    const int own = team.rank() + 1;
    int sum = 0;
    co_await team.iallreduce(std::span(&own, 1), std::span(&sum, 1));
    const int twice = 2 * sum;
    co_await team.iallreduce(std::span(&twice, 1), std::span(&sum, 1));
    result = sum;
}

// The second sum of the coroutine is begun when the first one is done, which is sooner on one rank
// than on another: only what is begun before the coroutine has the same place on all ranks.
TEST(ClusterRequests, ResumeCoroutines) {
    on_nodes({0, 1, 0}, [](Team& team) {
        const int own = 10 * (team.rank() + 1);
        int plain = 0;
        int awaited = 0;
        Request before = team.iallreduce(std::span(&own, 1), std::span(&plain, 1));
        two_sums(team, awaited);
        if (team.rank() == 0) {
            team.complete_all();
        }
        while (team.progress() > 0) {
            std::this_thread::yield();
        }
        before.wait();
        EXPECT_EQ(plain, 60);
        EXPECT_EQ(awaited, 36);
    });
}

TEST(ClusterRequests, GoWithTheirTeam) {
    on_nodes({0, 1, 1}, [](Team& team) {
        std::vector<int> data(3000, team.rank());
        Request kept = team.ibroadcast(std::span(data), 2);
        Request let_go = team.ibarrier();
        {
            const Request gone = std::move(let_go);
        }
        Team last = std::move(team);
        {
            const Team gone = std::move(last);
        }
        EXPECT_EQ(data, std::vector<int>(3000, 2));
        kept.wait();
        EXPECT_FALSE(kept.valid());
    });
}

TEST(ClusterRequests, CannotBeCancelledOrStartedAgain) {
    on_nodes({0, 1}, [](Team& team) {
        Request request = team.ibarrier();
        EXPECT_THROW(static_cast<void>(request.cancel()), Error);
        EXPECT_THROW(request.start(), Error);
        EXPECT_FALSE(request.is_persistent());
        request.wait();
        EXPECT_THROW(request.wait(), Error);
    });
}

// What goes wrong
// -------------------------------------------------------------------------------------------------

TEST(ClusterRequests, NeedACarrierWithLanes) {
    std::vector<std::string> thrown;
    on_nodes(
        {0, 1},
        [](Team& team) {
            team.barrier();
            static_cast<void>(team.ibarrier());
        },
        {}, &thrown, false, 0);
    for (const std::string& text : thrown) {
        EXPECT_NE(text.find("Carrier::lanes"), std::string::npos) << text;
    }
}

/// Its request says that there is no plan; others go on.
TEST(ClusterRequests, SayWhatTheyCannotDo) {
    const auto life = [](Team& team) {
        const unsigned one = 1;
        unsigned sum = 0;
        unsigned all = 0;
        for (int round = 0; round < 2; ++round) {
            Request impossible = team.iallreduce(std::span(&one, 1), std::span(&sum, 1), Then());
            Request possible = team.iallreduce(std::span(&one, 1), std::span(&all, 1));
            possible.wait();
            EXPECT_EQ(all, 3u);
            try {
                impossible.wait();
                ADD_FAILURE() << "it was done";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), Errc::unsupported);
                EXPECT_NE(std::string(error.what()).find("has no plan"), std::string::npos);
            }
        }
        team.barrier();
    };
    const Nodes where{0, 1, 1};
    on_nodes(where, life, cluster_test::without_order(where));
}

/// The errors of all ranks.
std::vector<std::string> errors_of(const Nodes& where, const std::function<void(Team&)>& life) {
    std::vector<std::string> thrown;
    on_nodes(where, life, {}, &thrown);
    return thrown;
}

std::string all_of(const std::vector<std::string>& texts) {
    return std::accumulate(
        texts.begin(), texts.end(), std::string(),
        [](const std::string& all, const std::string& text) { return all + text + "\n"; });
}

TEST(ClusterRequests, NoticeCallsThatDifferOnAnotherNode) {
    const auto thrown = errors_of({0, 1}, [](Team& team) {
        std::vector<int> data(team.rank() == 0 ? 4 : 8);
        team.ibroadcast(std::span(data), 0).wait();
    });
    EXPECT_NE(thrown[1].find("differ in nonblocking operation 1"), std::string::npos) << thrown[1];
}

TEST(ClusterRequests, NoticeCallsThatDifferOnTheNode) {
    const auto thrown = errors_of({0, 1, 1}, [](Team& team) {
        int value = 0;
        Request request =
            team.rank() == 2 ? team.ibroadcast(std::span(&value, 1), 0) : team.ibarrier();
        request.wait();
    });
    EXPECT_NE(all_of(thrown).find("differ"), std::string::npos) // In the plan, or in a step.
        << all_of(thrown);
}

TEST(ClusterRequests, NameWhoIsLateOnAnotherNode) {
    for (const bool waits : {false, true}) {
        const auto thrown = errors_of({0, 0, 1}, [waits](Team& team) {
            if (team.rank() == 2) {
                return;
            }
            Request request = team.ibarrier();
            if (waits) {
                request.wait();
            }
            while (!request.test()) {
            }
        });
        EXPECT_NE(all_of(thrown).find("in vain for rank 2 (node 1)"), std::string::npos)
            << all_of(thrown);
        EXPECT_NE(all_of(thrown).find("nonblocking operation 1"), std::string::npos);
    }
}

TEST(ClusterRequests, NameWhoIsLateOnTheNode) {
    const Nodes where{0, 0, 1};
    const nodes::Layout layout(where);
    ClusterOptions options;
    options.plans = [&](const PlanNeed& need) {
        return nodes::plan_for(need.op, layout,
                               *nodes::scheme_named("lanes/1/dissemination/shared"), need.bytes,
                               need.root);
    };
    std::vector<std::string> thrown;
    on_nodes(
        where,
        [](Team& team) {
            team.ibarrier().wait(); // There is a plan.
            if (team.rank() != 1) {
                team.ibarrier().wait();
                return;
            }
            std::this_thread::sleep_for(scaled(3s)); // Beyond the deadline.
        },
        options, &thrown);
    EXPECT_NE(thrown[0].find("did not arrive within the deadline: rank 1"), std::string::npos)
        << all_of(thrown);
}

TEST(ClusterRequests, TellWhatAnOperatorThrows) {
    const auto thrown = errors_of({0, 0, 1}, [](Team& team) {
        const int own = team.rank();
        int sum = 0;
        const auto add = [rank = team.rank()](int left, int right) -> int {
            if (rank == 0) {
                throw std::range_error("too large");
            }
            return left + right;
        };
        Request barrier = team.ibarrier(); // First: a broken team begins nothing any more.
        Request reduce = team.ireduce(std::span(&own, 1), std::span(&sum, 1), add, 0);
        reduce.wait();
        barrier.wait();
    });
    EXPECT_EQ(thrown[0], "too large") << all_of(thrown);
}

/// Rank 0 leaves in the middle, with a request under way: the others are told.
TEST(ClusterRequests, BreakTheTeamDuringAnException) {
    const auto thrown = errors_of({0, 0, 0}, [](Team& team) {
        Request request = team.ibarrier();
        if (team.rank() == 0) {
            Request second = team.ibarrier();
            throw std::runtime_error("enough");
        }
        request.wait();
        team.ibarrier().wait();
        team.ibarrier().wait();
    });
    EXPECT_EQ(thrown[0], "enough");
    EXPECT_NE(thrown[1].find("left with an exception"), std::string::npos) << thrown[1];
}

/// After a failure every request fails, those of blocking calls, too; nothing stays posted, which
/// `on_nodes` looks for.
TEST(ClusterRequests, FailTogether) {
    const auto thrown = errors_of({0, 1, 1}, [](Team& team) {
        if (team.rank() == 0) {
            team.abandon("it is over");
            return;
        }
        OneOfEach all(team, 2000, 1);
        int failed = 0;
        for (Request& request : all.requests) {
            try {
                request.wait();
            } catch (const Error&) {
                ++failed;
            }
        }
        EXPECT_EQ(failed, static_cast<int>(all.requests.size()));
        team.barrier();
    });
    EXPECT_EQ(thrown[0], "");
    EXPECT_NE(thrown[1], "");
    EXPECT_NE(thrown[2], "");
}

} // namespace
