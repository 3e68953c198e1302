// SPDX-License-Identifier: Apache-2.0
// Persistent operations over several nodes: made in the same order on all ranks, started in any.
// Threads play the ranks.
#include "cluster_team/affine.hpp"
#include "cluster_team/one_of_each.hpp"
#include "cluster_team/switchboard.hpp"
#include "limits.hpp"

#include <corymb/request.hpp>

#include <algorithm>
#include <deque>
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

using Nodes = std::vector<int>;

/// Sums of the ranks and `round`, all started in an order of this rank's own.
class Sums {
public:
    Sums(Team& team, std::size_t count) : team_(&team), own_(count), sums_(count) {
        for (std::size_t i = 0; i < count; ++i) {
            requests_.push_back(
                team.allreduce_init(std::span<const int>(&own_[i], 1), std::span(&sums_[i], 1)));
        }
        order_.resize(count);
        std::iota(order_.begin(), order_.end(), 0U);
    }
    void run(int round, std::mt19937& random) {
        for (std::size_t i = 0; i < own_.size(); ++i) {
            own_[i] = team_->rank() + round * static_cast<int>(i + 1);
        }
        std::ranges::shuffle(order_, random);
        for (const std::size_t i : order_) {
            requests_[i].start();
        }
        std::ranges::shuffle(order_, random);
        for (const std::size_t i : order_) {
            requests_[i].wait();
        }
        const int size = team_->size();
        for (std::size_t i = 0; i < own_.size(); ++i) {
            EXPECT_EQ(sums_[i], size * (size - 1) / 2 + size * round * static_cast<int>(i + 1));
        }
    }

private:
    Team* team_;
    std::vector<int> own_;
    std::vector<int> sums_;
    std::vector<Request> requests_;
    std::vector<std::size_t> order_;
};

class PersistentOnNodes : public testing::TestWithParam<Nodes> {};

TEST_P(PersistentOnNodes, EveryOperationIsRightEachTime) {
    for (const bool lazy : {false, true}) {
        on_nodes(
            GetParam(),
            [](Team& team) {
                std::mt19937 random(static_cast<unsigned>(team.rank()));
                for (const std::size_t count : {0U, 1U, 3000U}) {
                    OneOfEach all(team, count, 1, OneOfEach::Form::persistent);
                    for (int round = 0; round < 4; ++round) {
                        all.fill(round);
                        std::ranges::shuffle(all.requests, random);
                        start_all(all.requests);
                        std::ranges::shuffle(all.requests, random);
                        wait_all(all.requests);
                        EXPECT_EQ(all.wrong(), "") << count << " on rank " << team.rank();
                    }
                    EXPECT_TRUE(std::ranges::all_of(all.requests, &Request::is_persistent));
                }
                EXPECT_EQ(team.progress(), 0u);
            },
            {}, nullptr, lazy);
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, PersistentOnNodes,
                         testing::Values(Nodes{0, 0, 1, 1}, Nodes{0, 1, 0, 1, 1}, Nodes{0, 1, 2},
                                         Nodes{0, 0, 0}, Nodes{0}));

/// All at once and beside each other: several sets, nonblocking and blocking operations.
TEST(ClusterPersistent, GoesOnBesideAllOthers) {
    on_nodes({0, 1, 1, 0}, [](Team& team) {
        std::mt19937 random(static_cast<unsigned>(team.rank()) + 7);
        std::deque<OneOfEach> sets;
        for (int k = 0; k < 3; ++k) {
            sets.emplace_back(team, k == 1 ? 2000 : 2, k, OneOfEach::Form::persistent);
        }
        for (int round = 0; round < 5; ++round) {
            std::vector<Request*> requests;
            for (OneOfEach& set : sets) {
                set.fill(round);
                for (Request& request : set.requests) {
                    requests.push_back(&request);
                }
            }
            std::ranges::shuffle(requests, random);
            const std::size_t half = requests.size() / 2;
            std::for_each_n(requests.begin(), half, [](Request* one) { one->start(); });
            OneOfEach others(team, 5, round);
            if (round % 2 == team.rank() % 2) {
                team.barrier();
            }
            std::for_each(requests.begin() + static_cast<std::ptrdiff_t>(half), requests.end(),
                          [](Request* one) { one->start(); });
            if (round % 2 != team.rank() % 2) {
                team.barrier();
            }
            wait_all(others.requests);
            EXPECT_EQ(others.wrong(), "");
            std::ranges::shuffle(requests, random);
            for (Request* const request : requests) {
                while (!request->test()) {
                    std::this_thread::yield();
                }
            }
            for (const OneOfEach& set : sets) {
                EXPECT_EQ(set.wrong(), "") << "round " << round << " on rank " << team.rank();
            }
        }
    });
}

TEST(ClusterPersistent, StartsThousandsOfTimesInOppositeOrder) {
    on_nodes({0, 1, 1}, [](Team& team) {
        std::mt19937 random(static_cast<unsigned>(team.rank()) + 1);
        Sums sums(team, 4);
        for (int round = 0; round < 1000; ++round) {
            sums.run(round, random);
        }
    });
}

/// Lanes within a node are given to the next ones, on each node when it is done with them.
TEST(ClusterPersistent, MakesAndDropsMoreThanThereAreAtATime) {
    on_nodes({0, 1, 0}, [](Team& team) {
        std::mt19937 random(static_cast<unsigned>(team.rank()) + 3);
        std::deque<Sums> held;
        for (int made = 0; made < 400; ++made) {
            held.emplace_back(team, 2);
            held.back().run(made, random);
            if (made % 3 == 0) { // One that is never started.
                const Request unused = team.barrier_init();
            }
            if (held.size() > 3) { // Another one on each rank.
                held.erase(held.begin() + (made + team.rank()) % 3);
            }
        }
    });
}

/// The first of a kind brings the plan, also when it goes before it was started, or is started
/// last; a rank that only makes them hands the plan on when it goes.
TEST(ClusterPersistent, BringsPlansWithoutAStart) {
    on_nodes({0, 1, 2, 1, 0}, [](Team& team) {
        const int own = team.rank();
        int first_sum = 0;
        int sum = 0;
        {
            const Request gone = team.allreduce_init(std::span(&own, 1), std::span(&first_sum, 1));
        }
        Request used = team.allreduce_init(std::span(&own, 1), std::span(&sum, 1));
        used.start();
        used.wait();
        EXPECT_EQ(sum, 10);
        const Request never = team.barrier_init();
        EXPECT_FALSE(never.is_active());
        EXPECT_EQ(team.progress(), 0u);
    });
}

TEST(ClusterPersistent, KeepsItsOperator) {
    on_nodes({0, 1}, [](Team& team) {
        const std::vector<int> own(2000, team.rank() + 2);
        std::vector<int> result(own.size());
        Request request;
        {
            const auto add = [base = 4](int left, int right) {
                return (left + right) % base;
            };
            request = team.allreduce_init(std::span<const int>(own), std::span(result), add);
        }
        for (int round = 0; round < 3; ++round) {
            std::ranges::fill(result, 0);
            request.start();
            request.wait();
            EXPECT_EQ(result, std::vector<int>(own.size(), 1));
        }
    });
}

TEST(ClusterPersistent, GoesWithItsTeam) {
    on_nodes({0, 1, 1}, [](Team& team) {
        std::vector<int> data(3000, team.rank());
        Request active = team.broadcast_init(std::span(data), 2);
        Request idle = team.barrier_init();
        active.start();
        Team last = std::move(team);
        {
            const Team gone = std::move(last);
        }
        EXPECT_EQ(data, std::vector<int>(3000, 2));
        active.wait();
        EXPECT_THROW(active.start(), Error);
        EXPECT_THROW(idle.start(), Error);
    });
}

// What goes wrong
// -------------------------------------------------------------------------------------------------

/// The code and the text of what the action throws.
template <class Action>
std::pair<Errc, std::string> error_of(const Action& action) {
    try {
        action();
    } catch (const Error& error) {
        return {error.code(), error.what()};
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST(ClusterPersistent, IsStartedWhenIdleAndCompletedWhenActive) {
    on_nodes({0, 1}, [](Team& team) {
        Request request = team.barrier_init();
        EXPECT_EQ(error_of([&] { request.wait(); }).first, Errc::invalid_argument);
        EXPECT_EQ(error_of([&] { static_cast<void>(request.test()); }).first,
                  Errc::invalid_argument);
        request.start();
        const auto [code, text] = error_of([&] { request.start(); });
        EXPECT_EQ(code, Errc::invalid_argument);
        EXPECT_NE(text.find("is active already"), std::string::npos) << text;
        EXPECT_EQ(error_of([&] { static_cast<void>(request.cancel()); }).first,
                  Errc::invalid_argument);
        request.wait();
        EXPECT_TRUE(request.is_persistent());
        request.start(); // Let go of while it is active: that completes it.
    });
}

TEST(ClusterPersistent, NeedsACarrierWithLanes) {
    on_nodes(
        {0, 1},
        [](Team& team) {
            const auto [code, text] = error_of([&] { static_cast<void>(team.barrier_init()); });
            EXPECT_EQ(code, Errc::unsupported);
            EXPECT_NE(text.find("Carrier::own_lanes"), std::string::npos) << text;
            team.ibarrier().wait();
        },
        {}, nullptr, false, 8, 0);
}

/// The ranks run out of channels all at once, and the team goes on.
TEST(ClusterPersistent, SaysWhenTheCarrierHasNoMoreLanes) {
    on_nodes(
        {0, 1, 1},
        [](Team& team) {
            Request kept;
            for (int made = 0; made < 5; ++made) {
                kept = team.barrier_init();
            }
            const auto [code, text] = error_of([&] { static_cast<void>(team.barrier_init()); });
            EXPECT_EQ(code, Errc::unsupported);
            EXPECT_NE(text.find("has made 5 persistent operations"), std::string::npos) << text;
            kept.start();
            kept.wait();
            team.barrier();
        },
        {}, nullptr, false, 8, 5);
}

/// Its request says at each completion that there is no plan; others go on.
TEST(ClusterPersistent, SaysWhatItCannotDo) {
    const auto life = [](Team& team) {
        const unsigned one = 1;
        unsigned sum = 0;
        unsigned all = 0;
        Request impossible = team.allreduce_init(std::span(&one, 1), std::span(&sum, 1), Then());
        Request possible = team.allreduce_init(std::span(&one, 1), std::span(&all, 1));
        for (int round = 0; round < 2; ++round) {
            impossible.start();
            possible.start();
            possible.wait();
            EXPECT_EQ(all, 3u);
            const auto [code, text] = error_of([&] { impossible.wait(); });
            EXPECT_EQ(code, Errc::unsupported);
            EXPECT_NE(text.find("has no plan"), std::string::npos) << text;
        }
        team.barrier();
    };
    const Nodes where{0, 1, 1};
    on_nodes(where, life, cluster_test::without_order(where));
}

std::string errors_of(const Nodes& where, const std::function<void(Team&)>& life) {
    std::vector<std::string> thrown;
    on_nodes(where, life, {}, &thrown);
    return std::accumulate(
        thrown.begin(), thrown.end(), std::string(),
        [](const std::string& all, const std::string& text) { return all + text + "\n"; });
}

TEST(ClusterPersistent, NoticesOperationsThatDiffer) {
    for (const Nodes& where : {Nodes{0, 1}, Nodes{0, 1, 1}}) {
        const std::string thrown = errors_of(where, [](Team& team) {
            std::vector<int> data(team.rank() == team.size() - 1 ? 4 : 8);
            Request request = team.broadcast_init(std::span(data), 0);
            request.start();
            request.wait();
        });
        EXPECT_TRUE(thrown.find("call different operations") != std::string::npos ||
                    thrown.find("differ") != std::string::npos)
            << thrown;
    }
}

TEST(ClusterPersistent, NamesWhoHasNotStarted) {
    for (const bool is_made : {false, true}) {
        const std::string thrown = errors_of({0, 0, 1}, [is_made](Team& team) {
            if (team.rank() == 2 && !is_made) {
                return;
            }
            Request request = team.barrier_init();
            if (team.rank() == 2) {
                const auto end =
                    std::chrono::steady_clock::now() + scaled(4s); // Beyond the deadline.
                while (std::chrono::steady_clock::now() < end) {
                    static_cast<void>(team.progress());
                    std::this_thread::sleep_for(1ms);
                }
                return;
            }
            request.start();
            request.wait();
        });
        EXPECT_NE(thrown.find("in vain for rank 2 (node 1)"), std::string::npos) << thrown;
        EXPECT_NE(thrown.find("persistent operation 1"), std::string::npos) << thrown;
    }
}

TEST(ClusterPersistent, TellsWhatAnOperatorThrows) {
    const std::string thrown = errors_of({0, 0, 1}, [](Team& team) {
        const int own = team.rank();
        int sum = 0;
        const auto add = [rank = team.rank()](int left, int right) -> int {
            if (rank == 0) {
                throw std::range_error("too large");
            }
            return left + right;
        };
        Request reduce = team.reduce_init(std::span(&own, 1), std::span(&sum, 1), add, 0);
        reduce.start();
        reduce.wait();
        team.barrier();
    });
    EXPECT_EQ(thrown.find("too large"), 0u) << thrown;
}

/// After a failure they fail and cannot be started; nothing stays posted, which `on_nodes` looks
/// for, not even of plans that were on their way.
TEST(ClusterPersistent, FailsWithItsTeam) {
    const std::string thrown = errors_of({0, 1, 1}, [](Team& team) {
        if (team.rank() == 0) {
            team.abandon("it is over");
            return;
        }
        OneOfEach all(team, 2000, 1, OneOfEach::Form::persistent);
        start_all(std::span(all.requests).first(4));
        for (Request& request : std::span(all.requests).first(4)) {
            EXPECT_THROW(request.wait(), Error);
        }
        EXPECT_THROW(all.requests.back().start(), Error);
        team.barrier();
    });
    EXPECT_NE(thrown.find("it is over"), std::string::npos) << thrown;
}

} // namespace
