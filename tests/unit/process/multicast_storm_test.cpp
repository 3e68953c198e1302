// SPDX-License-Identifier: Apache-2.0
// Processes that join, leave, call and sleep at random and are killed (kill -9) at any instruction,
// also inside join and leave, while they forward, and while they call. Afterwards each call is held
// against the history: nobody who was a member for the whole call was missed, nobody ran it twice
// or out of its membership, and it was complete when all had run it but those that the initiator
// was told had ended. Some dozen kills a topology; 100 times as many with CORYMB_LONG_TESTS=1.
#include "children.hpp"
#include "limits.hpp"
#include "multicast_children.hpp"
#include "team/sample_plans.hpp"

#include <corymb/multicast.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string_view>

namespace corymb {
namespace {

using namespace process_test;

const auto long_enough = test_limit();
constexpr Rank size = 4; // The test itself is rank 0.
constexpr std::size_t lives_max = 64;
constexpr std::size_t calls_max = 4096;
constexpr std::size_t memberships_max = 512;

/// Times of the history are numbers of events, which all processes have in common.
using Time = std::atomic<std::uint64_t>;

struct Span {
    Time begin, end; ///< 0: has not come.
};
/// Certain between the end of join and the begin of leave, possible around.
struct Membership {
    Span possible, certain;
};
/// One process's.
struct Life {
    Time last; ///< Something that it did.
    std::atomic<std::size_t> memberships;
    Membership membership[memberships_max];
};
struct Call {
    Span span;                            ///< Ended: it was complete.
    std::atomic<std::uint64_t> runs;      ///< A bit a life.
    std::atomic<std::uint64_t> runs_then; ///< When it was complete.
    std::atomic<int> members, lost;
    std::atomic<bool> was_run_twice;
};
struct History {
    Time clock;
    std::atomic<bool> stop;
    std::atomic<std::uint32_t> calls;
    Life life[lives_max];
    Call call[calls_max];

    std::uint64_t now() { return clock.fetch_add(1, std::memory_order_acq_rel) + 1; }
};

/// One process at work on its rank.
class Worker {
public:
    Worker(MulticastGroup& group, Rank rank, History& history, std::size_t life)
        : history_(history), own_(history.life[life]), bit_(std::uint64_t{1} << life),
          random_(static_cast<unsigned>(life)),
          place_(group.initiator(rank, [this](std::span<const std::byte> bytes) { run(bytes); })) {}

    void step() {
        own_.last.store(history_.now(), std::memory_order_release);
        switch (random_() % 8) {
        case 0:
        case 1: join(); break;
        case 2: leave(); break;
        case 3: call(); break;
        case 4: place_.sleep(20us); break;
        default: place_.poll(); break;
        }
    }
    void leave() {
        if (place_.is_member()) {
            auto& last = own_.membership[own_.memberships.load(std::memory_order_relaxed) - 1];
            last.certain.end.store(history_.now(), std::memory_order_release);
            place_.leave();
            last.possible.end.store(history_.now(), std::memory_order_release);
        }
    }
    void call() {
        const std::uint32_t number = history_.calls.fetch_add(1, std::memory_order_relaxed);
        if (number >= calls_max) {
            return;
        }
        Call& call = history_.call[number];
        call.span.begin.store(history_.now(), std::memory_order_release);
        auto token = place_.send(number);
        call.members.store(token.members(), std::memory_order_relaxed);
        call.lost.store(wait(token), std::memory_order_relaxed);
        call.runs_then.store(call.runs.load(std::memory_order_relaxed), std::memory_order_relaxed);
        call.span.end.store(history_.now(), std::memory_order_release);
    }
    /// Also in those of initiators that were killed; there is nobody to run it.
    void call_in_all_slots(int slots) {
        std::vector<MulticastToken> tokens;
        for (int slot = 0; slot < slots; ++slot) {
            tokens.push_back(place_.send(0U));
        }
        for (MulticastToken& token : tokens) {
            wait(token);
        }
    }

private:
    /// Returns how many members have ended instead.
    static int wait(MulticastToken& token) {
        try {
            token.wait(long_enough);
        } catch (const Error& error) {
            require(error.code() == Errc::team_broken, error.what());
            return static_cast<int>(error.ranks().size());
        }
        return 0;
    }
    void join() {
        const std::size_t count = own_.memberships.load(std::memory_order_relaxed);
        if (place_.is_member() || count == memberships_max) {
            return;
        }
        own_.membership[count].possible.begin.store(history_.now(), std::memory_order_release);
        own_.memberships.store(count + 1, std::memory_order_release);
        place_.join();
        own_.membership[count].certain.begin.store(history_.now(), std::memory_order_release);
    }
    void run(std::span<const std::byte> bytes) {
        std::uint32_t number = 0;
        std::memcpy(&number, bytes.data(), sizeof number);
        Call& call = history_.call[number];
        if ((call.runs.fetch_or(bit_, std::memory_order_relaxed) & bit_) != 0) {
            call.was_run_twice.store(true, std::memory_order_relaxed);
        }
    }

    History& history_;
    Life& own_;
    std::uint64_t bit_;
    std::mt19937 random_;
    Multicast place_;
};

/// The kernel kills this process after so long.
void die_after(std::chrono::microseconds time) {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGKILL;
    timer_t timer{};
    require(::timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "there is a timer");
    itimerspec when{};
    when.it_value.tv_nsec = std::chrono::nanoseconds(time).count();
    require(::timer_settime(timer, 0, &when, nullptr) == 0, "the timer is set");
}

std::uint64_t at(const Time& time) {
    return time.load(std::memory_order_acquire);
}

/// Whether a life was a member for the whole of a complete call, and whether it can have been.
std::pair<bool, bool> membership(const Life& life, const Span& span) {
    std::pair<bool, bool> found{false, false};
    for (std::size_t i = 0; i < life.memberships.load(std::memory_order_acquire); ++i) {
        const Membership& one = life.membership[i];
        // Of one that was killed nothing is certain after the last that it did.
        const std::uint64_t end = at(one.certain.end) != 0 ? at(one.certain.end) : at(life.last);
        found.first |= at(one.certain.begin) != 0 && at(one.certain.begin) < at(span.begin) &&
                       at(span.end) < end;
        found.second |= at(one.possible.begin) < at(span.end) &&
                        (at(one.possible.end) == 0 || at(one.possible.end) > at(span.begin));
    }
    return found;
}

void check(const History& history) {
    const std::uint32_t calls = std::min<std::uint32_t>(history.calls, calls_max);
    int complete = 0;
    for (std::uint32_t number = 0; number < calls; ++number) {
        const Call& call = history.call[number];
        ASSERT_FALSE(call.was_run_twice) << "call " << number;
        if (at(call.span.end) == 0) {
            continue; // Its initiator was killed.
        }
        ++complete;
        ASSERT_EQ(call.runs, call.runs_then) << "somebody ran it after it was complete";
        for (std::size_t life = 0; life < lives_max; ++life) {
            const bool has_run = (call.runs >> life & 1) != 0;
            const auto [must, may] = membership(history.life[life], call.span);
            ASSERT_TRUE(!must || has_run) << "life " << life << " is missed by call " << number;
            ASSERT_TRUE(may || !has_run) << "life " << life << " was no member, call " << number;
        }
        // One that has ended may have run it.
        const int runs = std::popcount(call.runs.load());
        ASSERT_LE(runs, call.members) << "call " << number;
        ASSERT_GE(runs + call.lost, call.members) << "call " << number;
    }
    EXPECT_GT(complete, 0);
}

void storm(MulticastTopology topology, MulticastAcknowledgement acknowledgement, int kills) {
    MulticastOptions options = between_processes(topology);
    options.acknowledgement = acknowledgement;
    if (acknowledgement == MulticastAcknowledgement::gather) {
        options.gather = team_test::chain_reduce(size, 8, Mechanism::line);
    }
    options.calls = 2;
    MulticastGroup group(size, options);
    const Descriptor descriptor(group);
    const InCommon<History> history;
    Children children;
    std::mt19937 random(7);
    std::size_t lives = 1;
    const auto start = [&](Rank rank) {
        const std::size_t life = lives++;
        const auto time = std::chrono::microseconds(20 + random() % 6000);
        return children.start([&, rank, life, time] {
            MulticastGroup here = open(descriptor);
            die_after(time); // Perhaps before it is attached.
            Worker worker(here, rank, *history, life);
            for (;;) {
                worker.step();
            }
        });
    };
    std::vector<std::size_t> child(size);
    for (Rank rank = 1; rank < size; ++rank) {
        child[static_cast<std::size_t>(rank)] = start(rank);
    }
    {
        Worker worker(group, 0, *history, 0);
        for (int killed = 0; killed < kills;) {
            worker.step();
            for (Rank rank = 1; rank < size && killed < kills; ++rank) {
                std::size_t& its = child[static_cast<std::size_t>(rank)];
                int status = 0;
                if (::waitpid(children.pid(its), &status, WNOHANG) == children.pid(its)) {
                    children.forget(its);
                    ASSERT_TRUE(WIFSIGNALED(status)) << "rank " << rank << ", status " << status;
                    ++killed;
                    its = start(rank);
                }
            }
        }
        worker.leave();
        // The last ones end while it waits; then nobody and nothing is left.
        for (Rank rank = 1; rank < size; ++rank) {
            EXPECT_TRUE(WIFSIGNALED(children.wait(child[static_cast<std::size_t>(rank)])));
        }
        worker.call_in_all_slots(options.calls);
    }
    EXPECT_EQ(group.members(), 0);
    EXPECT_TRUE(group.under_way().empty());
    check(*history);
}

void storms(MulticastTopology topology,
            MulticastAcknowledgement acknowledgement = MulticastAcknowledgement::counters) {
    const char* const text = std::getenv("CORYMB_LONG_TESTS");
    const int rounds = text != nullptr && std::string_view(text) == "1" ? 100 : 1;
    for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
        storm(topology, acknowledgement, 17);
    }
}

TEST(MulticastKillStormTest, Flat) {
    storms(MulticastTopology::flat);
}
TEST(MulticastKillStormTest, BinaryTree) {
    storms(MulticastTopology::binary);
}
TEST(MulticastKillStormTest, ChainThatAnswersByMessages) {
    storms(MulticastTopology::split, MulticastAcknowledgement::messages);
}
TEST(MulticastKillStormTest, FlatThatGathersUpAChain) {
    storms(MulticastTopology::flat, MulticastAcknowledgement::gather);
}
TEST(MulticastKillStormTest, Chain) {
    storms(MulticastTopology::split);
}

} // namespace
} // namespace corymb
