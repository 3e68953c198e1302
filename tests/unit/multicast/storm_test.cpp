// SPDX-License-Identifier: Apache-2.0
// Threads that join, leave, call, sleep and stand aside at random. Afterwards each call is held
// against the history: nobody who was a member for the whole call was missed, nobody ran it twice
// or out of its membership, and it was complete when all had run it. 10^6 events with
// CORYMB_LONG_TESTS=1, some thousand else.
#include "team/sample_plans.hpp"

#include <corymb/multicast.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <random>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace corymb {
namespace {

constexpr Rank threads_max = 6;

/// All threads' events have one order.
class History {
public:
    std::uint64_t now() { return clock_.fetch_add(1, std::memory_order_acq_rel); }

private:
    std::atomic<std::uint64_t> clock_{1};
};

struct Span {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// A membership: certain between the end of join and the begin of leave, possible around.
struct Membership {
    Span possible;
    Span certain;
};

struct Call {
    Span span;
    std::atomic<std::uint32_t> runs{0}; ///< Four bits a rank.
    std::uint32_t runs_at_the_end = 0;
    int members = 0;
};

thread_local Rank own_rank = -1;

std::uint64_t events() {
    const char* const text = std::getenv("CORYMB_LONG_TESTS");
    return text != nullptr && std::string_view(text) == "1" ? 1'000'000 : 6'000;
}

class Storm {
public:
    Storm(int threads, const MulticastOptions& options, std::uint64_t events_each)
        : events_each_(events_each), group_(threads, options),
          calls_(static_cast<std::size_t>(threads)),
          memberships_(static_cast<std::size_t>(threads)) {
        for (auto& own : calls_) {
            own = std::vector<Call>(events_each);
        }
    }

    void run() {
        {
            const std::jthread monitor([this](const std::stop_token& stop) { watch(stop); });
            std::vector<std::jthread> workers;
            for (Rank rank = 0; rank < group_.size(); ++rank) {
                workers.emplace_back([this, rank] { live(rank); });
            }
        }
        for (std::size_t caller = 0; caller < calls_.size(); ++caller) {
            for (std::size_t i = 0; i < made_[caller]; ++i) {
                check(calls_[caller][i]);
            }
        }
        EXPECT_EQ(group_.members(), 0);
    }

private:
    /// Looks on from outside; every call that it sees can have been made.
    void watch(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            for (const MulticastUnderWay& one : group_.under_way()) {
                EXPECT_GE(one.initiator, 0);
                EXPECT_LT(one.initiator, group_.size());
                EXPECT_LE(one.members, group_.size());
            }
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    }
    void live(Rank rank) {
        own_rank = rank;
        std::mt19937 random(static_cast<unsigned>(rank) + 1);
        Multicast own = group_.initiator(rank);
        for (std::uint64_t event = 0; event < events_each_; ++event) {
            switch (random() % 8) {
            case 0: join(own); break;
            case 1: leave(own); break;
            case 2:
            case 3: call(own); break;
            case 4: own.sleep(std::chrono::microseconds(20)); break;
            case 5: stand_aside(own); break;
            default: own.poll(); break;
            }
        }
        leave(own);
    }
    void join(Multicast& own) {
        if (own.is_member()) {
            return;
        }
        auto& mine = memberships_[static_cast<std::size_t>(own.rank())];
        mine.push_back({});
        mine.back().possible.begin = history_.now();
        own.join();
        mine.back().certain.begin = history_.now();
    }
    void leave(Multicast& own) {
        if (!own.is_member()) {
            return;
        }
        auto& last = memberships_[static_cast<std::size_t>(own.rank())].back();
        last.certain.end = history_.now();
        own.leave();
        last.possible.end = history_.now();
    }
    void stand_aside(Multicast& own) {
        const bool was_member = own.is_member();
        leave(own);
        {
            const Multicast::Quiescent safe(own);
        }
        if (was_member) {
            join(own);
        }
    }
    void call(Multicast& own) {
        const auto caller = static_cast<std::size_t>(own.rank());
        Call& call = calls_[caller][made_[caller]++];
        call.span.begin = history_.now();
        auto token = own.call(
            [&call] { call.runs.fetch_add(1U << 4 * own_rank, std::memory_order_relaxed); });
        call.members = token.members();
        token.wait();
        call.runs_at_the_end = call.runs.load(std::memory_order_relaxed);
        call.span.end = history_.now();
    }

    /// Whether a rank was a member for the whole span, and whether it can have been at a time.
    static std::pair<bool, bool> membership(const std::vector<Membership>& all, const Span& span) {
        // The memberships of a rank follow each other.
        auto one = std::partition_point(all.begin(), all.end(), [&](const Membership& earlier) {
            return earlier.possible.end < span.begin;
        });
        std::pair<bool, bool> found{false, false};
        for (; one != all.end() && one->possible.begin < span.end; ++one) {
            found.first |= one->certain.begin < span.begin && span.end < one->certain.end;
            found.second = true;
        }
        return found;
    }
    void check(const Call& call) const {
        const std::uint32_t runs = call.runs.load(std::memory_order_relaxed);
        ASSERT_EQ(runs, call.runs_at_the_end) << "somebody ran it after it was complete";
        int members = 0;
        for (Rank rank = 0; rank < group_.size(); ++rank) {
            const std::uint32_t times = runs >> 4 * rank & 15;
            members += static_cast<int>(times);
            ASSERT_LE(times, 1U) << "rank " << rank << " ran it twice";
            const auto [must, may] =
                membership(memberships_[static_cast<std::size_t>(rank)], call.span);
            ASSERT_TRUE(!must || times == 1) << "rank " << rank << " was a member and is missed";
            ASSERT_TRUE(may || times == 0) << "rank " << rank << " was no member";
        }
        ASSERT_EQ(members, call.members) << "complete before all have run it";
    }

    std::uint64_t events_each_;
    MulticastGroup group_;
    History history_;
    std::vector<std::vector<Call>> calls_;
    std::size_t made_[threads_max] = {};
    std::vector<std::vector<Membership>> memberships_;
};

void storm(MulticastTopology topology, int calls, WaitPolicy policy,
           MulticastAcknowledgement acknowledgement = MulticastAcknowledgement::counters) {
    MulticastOptions options;
    options.acknowledgement = acknowledgement;
    if (acknowledgement == MulticastAcknowledgement::gather) {
        options.gather = team_test::chain_reduce(threads_max, 8, Mechanism::line);
    }
    options.topology = topology;
    options.fan_out = 2;
    options.calls = calls;
    options.wait_policy = policy;
    Storm(threads_max, options, events() / threads_max).run();
}

TEST(MulticastStormTest, Flat) {
    storm(MulticastTopology::flat, 8, WaitPolicy::ladder);
}
TEST(MulticastStormTest, BinaryTreeWithFewSlots) {
    storm(MulticastTopology::binary, 2, WaitPolicy::ladder);
}
TEST(MulticastStormTest, BinaryTreeThatAnswersByMessages) {
    storm(MulticastTopology::binary, 2, WaitPolicy::ladder, MulticastAcknowledgement::messages);
}
TEST(MulticastStormTest, BinaryTreeThatGathersUpAChain) {
    storm(MulticastTopology::binary, 2, WaitPolicy::ladder, MulticastAcknowledgement::gather);
}
TEST(MulticastStormTest, SplitWhereEverybodySleepsAndGathersUpAChain) {
    storm(MulticastTopology::split, 8, WaitPolicy::park, MulticastAcknowledgement::gather);
}
TEST(MulticastStormTest, SplitWhereEverybodySleepsAndAnswersByMessages) {
    storm(MulticastTopology::split, 8, WaitPolicy::park, MulticastAcknowledgement::messages);
}
TEST(MulticastStormTest, SplitWhereEverybodySleeps) {
    storm(MulticastTopology::split, 8, WaitPolicy::park);
}

} // namespace
} // namespace corymb
