// SPDX-License-Identifier: Apache-2.0
// Replicated objects of several processes, and of such that are killed.
#include "remote_children.hpp"

#include "../remote/history.hpp"

#include <corymb/error.hpp>
#include <corymb/rank_barrier.hpp>
#include <corymb/remote.hpp>
#include <corymb/replicated.hpp>
#include <corymb/this_task.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace corymb {
namespace {

using namespace process_test;
using history_test::Table;
using history_test::Witness;

/// Ranks of several processes; rank 0 is this one.
class Ranks {
public:
    explicit Ranks(int size) : group_(size, shared()), descriptor_(group_) {}
    /// `life` is the task of rank `rank`, in a child of this process. Gives its number.
    std::size_t start(Rank rank, const std::function<Task<>()>& life) {
        return start_rank(children, descriptor_, rank, life);
    }
    void run(Task<> life) {
        RemoteRank own = group_.join(0);
        own.run(std::move(life));
    }
    Children children;

private:
    RemoteGroup group_;
    Descriptor descriptor_;
};

ReplicatedOptions in_group(int number) {
    ReplicatedOptions options;
    options.replica_group = number;
    return options;
}

TEST(ReplicatedProcesses, HaveASequentialObject) {
    const auto life = [](Rank rank) -> Task<> {
        auto table = co_await Replicated<Table>::make("table", Table(), in_group(rank / 2));
        RankBarrier meeting("meeting");
        Witness witness(rank);
        for (int i = 0; i < 1000; ++i) {
            co_await witness.do_anything(table);
        }
        co_await meeting.arrive();
        const Table end = co_await table.read_latest([](const Table& now) { return now; });
        require(witness.complaint(end).empty(), witness.complaint(end));
        co_await meeting.arrive();
    };
    Ranks ranks(3);
    ranks.start(1, [&] { return life(1); });
    ranks.start(2, [&] { return life(2); });
    ranks.run(life(0));
    ranks.children.expect_all_good();
}

/// Adds 11. The process with this number is killed by it, in the middle.
struct Deadly {
    pid_t victim;
    void operator()(Table& table) const {
        table.cells.value[0] += 1;
        if (::getpid() == victim) {
            ::raise(SIGKILL);
        }
        table.cells.value[0] += 10;
    }
};
long first_cell(const Table& table) {
    return table.cells.value[0];
}
long second_cell(const Table& table) {
    return table.cells.value[1];
}
constexpr auto add_to_second_cell = [](Table& table) {
    ++table.cells.value[1];
};

TEST(ReplicatedProcesses, AnUpdateThatIsCutOffIsRepaired) {
    for (const int other_group : {0, 1}) { // The victim's, or another replica's.
        Ranks ranks(3);
        const auto life = [other_group](Rank rank) -> Task<> {
            auto table = co_await Replicated<Table>::make(
                "table", Table(), in_group(rank == 2 ? 0 : other_group * rank));
            if (rank == 1) {
                co_await table.update(Deadly{::getpid()});
                co_return;
            }
            // The victim alone combines until its update is in the log, and then it is killed.
            while (table.bytes_logged() == 0) {
                co_await this_task::sleep_for(1ms);
            }
            const long seen = table.read(first_cell);
            require(seen == 0 || seen == 11, "whole");
            for (int i = 0; i < 3; ++i) {
                co_await table.update(add_to_second_cell);
            }
            if (rank == 2) {
                co_return;
            }
            while (co_await table.read_latest(second_cell) < 6) { // Until the other one is done.
                co_await this_task::sleep_for(1ms);
            }
            for (int i = 1; i <= 2; ++i) { // Each update shows the other instance.
                co_await table.update(add_to_second_cell);
                require(table.read(first_cell) == 11, "it was in the log, once");
                require(table.read(second_cell) == 6 + i, "the others, once each");
            }
        };
        const std::size_t victim = ranks.start(1, [&] { return life(1); });
        ranks.start(2, [&] { return life(2); });
        ranks.run(life(0));
        EXPECT_EQ(ranks.children.wait(victim), SIGKILL);
        ranks.children.expect_all_good();
    }
}

TEST(ReplicatedProcesses, AReaderThatIsKilledHoldsUpNobody) {
    Ranks ranks(2);
    std::size_t victim = 0;
    const auto life = [&](Rank rank) -> Task<> {
        auto table = co_await Replicated<Table>::make("table", Table(), in_group(0));
        if (rank == 1) {
            table.read([](const Table& /*all*/) { ::raise(SIGSTOP); });
            co_return;
        }
        int status = 0; // Until it has stopped within its read.
        while (::waitpid(ranks.children.pid(victim), &status, WUNTRACED | WNOHANG) == 0) {
            co_await this_task::sleep_for(1ms);
        }
        require(WIFSTOPPED(status), "it reads");
        for (int i = 0; i < 100; ++i) {
            if (i == 1) { // The second one would change what is read.
                ranks.children.signal(victim, SIGKILL);
            }
            co_await table.update(add_to_second_cell);
            require(table.read(second_cell) == i + 1, "it is seen");
        }
    };
    victim = ranks.start(1, [&] { return life(1); });
    ranks.run(life(0));
    EXPECT_EQ(ranks.children.wait(victim), SIGKILL);
}

/// Ranks 1 and 2 are killed somewhere; 0 and 3 go on.
class Storm {
public:
    explicit Storm(int round) : round_(round), ranks_(4) {
        mine() = nullptr; // The children begin with what this process has.
        is_done() = is_seen() = false;
    }
    void run() {
        for (const Rank rank : {1, 2, 3}) {
            children_.push_back(ranks_.start(rank, [this, rank] { return life(rank); }));
        }
        ranks_.run(life(0));
        EXPECT_EQ(ranks_.children.wait(children_[0]), SIGKILL);
        EXPECT_EQ(ranks_.children.wait(children_[1]), SIGKILL);
        ranks_.children.expect_all_good();
    }

private:
    /// Who shares a replica changes from round to round.
    [[nodiscard]] int group_of(Rank rank) const {
        return round_ % 3 == 0 ? 0 : round_ % 3 == 1 ? rank / 2 : rank % 2;
    }
    Task<> life(Rank rank) {
        auto table = co_await Replicated<Table>::make("table", Table(), in_group(group_of(rank)));
        Witness witness(rank);
        co_await witness.update_once(table);
        while (table.read(ranks_in) != 4) { // Nobody is killed while others make their part.
            co_await this_task::sleep_for(1ms);
        }
        if (rank == 1 || rank == 2) {
            while (witness.updates() < 1500) {
                co_await witness.do_anything(table);
            }
            ::raise(SIGKILL); // Nobody did it before.
        }
        mine() = &table;
        for (int i = 0; i < 200; ++i) {
            co_await witness.do_anything(table);
            if (rank == 0 && (i == 50 + round_ || i == 90 + 2 * round_)) {
                ranks_.children.signal(children_[i < 90 ? 0 : 1], SIGKILL);
            }
        }
        is_done() = true;
        if (rank == 3) { // Until the first one has looked.
            while (!is_seen()) {
                co_await this_task::sleep_for(1ms);
            }
            co_return;
        }
        const auto hash_there = []() -> Task<std::uint64_t> {
            while (!is_done()) {
                co_await this_task::sleep_for(1ms);
            }
            co_return co_await mine()->read_latest(history_test::hash_of);
        };
        const auto end = co_await table.read_latest([](const Table& now) { return now; });
        require(history_test::is_whole(end), "each step is there once");
        require(witness.complaint(end).empty(), witness.complaint(end));
        std::uint64_t other = 0;
        std::uint64_t own = 1;
        while (own != other) { // Until nothing of the killed ones comes any more.
            other = co_await at(3, hash_there);
            own = co_await table.read_latest(history_test::hash_of);
        }
        co_await at(3, [] { is_seen() = true; });
    }
    static int ranks_in(const Table& table) {
        unsigned found = 0;
        for (std::size_t i = 0; i < table.count; ++i) {
            found |= 1U << table.history.at(i).rank;
        }
        return std::popcount(found);
    }
    static Replicated<Table>*& mine() {
        static Replicated<Table>* table = nullptr;
        return table;
    }
    static bool& is_done() {
        static bool done = false;
        return done;
    }
    static bool& is_seen() {
        static bool seen = false;
        return seen;
    }
    int round_;
    Ranks ranks_;
    std::vector<std::size_t> children_;
};

TEST(ReplicatedProcesses, OutliveRanksThatAreKilledAnywhere) {
    for (int round = 0; round < 12; ++round) {
        Storm storm(round);
        storm.run();
    }
}

} // namespace
} // namespace corymb
