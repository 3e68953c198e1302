// SPDX-License-Identifier: Apache-2.0
// Ranks that are killed, stopped or leave early: every survivor is told who it was, at once or at
// the deadline, and the survivors go on as a new team. Nothing is left behind.
#include "children.hpp"
#include "limits.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sys/mman.h>

namespace corymb {
namespace {

using namespace process_test;

std::size_t open_descriptors() {
    const std::filesystem::directory_iterator folder("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(folder), end(folder)));
}

std::size_t shm_entries() {
    const std::filesystem::directory_iterator folder("/dev/shm");
    return static_cast<std::size_t>(std::distance(begin(folder), end(folder)));
}

/// Soon: other processes of the machine have entries for a moment.
bool has_no_more_shm_entries_than(std::size_t most) {
    const auto end = std::chrono::steady_clock::now() + test_limit();
    while (shm_entries() > most) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
}

enum class Style : std::uint8_t { blocking, waiting, testing };

void complete(Request& request, Style style) {
    if (style == Style::waiting) {
        request.wait();
        return;
    }
    while (!request.test()) {
    }
}

/// Operations until one fails.
Error work_until_failure(Team& team, Style style) {
    std::vector<std::uint32_t> data(3000, 1);
    std::vector<std::uint32_t> sum(3000);
    for (;;) {
        try {
            if (style == Style::blocking) {
                team.barrier();
                team.broadcast(std::span(data), 0);
                team.reduce(std::span<const std::uint32_t>(data), std::span(sum));
                continue;
            }
            Request requests[] = {
                team.ibarrier(), team.ibroadcast(std::span(data), 0),
                team.ireduce(std::span<const std::uint32_t>(data), std::span(sum))};
            for (Request& request : requests) {
                complete(request, style);
            }
        } catch (const Error& error) {
            return error;
        }
    }
}

bool names(const Error& error, Rank rank, pid_t pid) {
    const std::string text = error.what();
    const auto& ranks = error.ranks();
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end() &&
           text.find("rank " + std::to_string(rank) + " (pid " + std::to_string(pid)) !=
               std::string::npos &&
           text.find("operation ") != std::string::npos &&
           text.find(" in step ") != std::string::npos;
}

/// One team of `size`, one rank killed after `delay`; survivors must be told and go on.
void kill_one(int size, Rank victim, std::chrono::microseconds delay, Mechanism via, Style style) {
    const TeamDescriptor memory(size);
    Children children;
    int channel[2];
    ASSERT_EQ(::pipe(channel), 0);
    pid_t victim_pid = 0;
    for (Rank rank = 0; rank < size; ++rank) {
        // The victim is started first, so that the others know its number.
        const Rank own = rank == 0 ? victim : rank <= victim ? rank - 1 : rank;
        children.start([&, own] {
            AttachOptions options = by_descriptor(memory, plans_over(via, test_limit()));
            options.rank = own;
            Team team = Team::attach(options);
            if (own == victim) {
                const char ready = 1;
                require(::write(channel[1], &ready, 1) == 1, "the test is told");
            }
            const Error error = work_until_failure(team, style);
            require(own != victim, "the victim outlived its death");
            require(names(error, victim, victim_pid), error.what());
            require(error.code() == Errc::team_broken, "told before the deadline");
            Team rest = team.shrink();
            require(rest.size() == size - 1, "the others are the new team");
            require(rest.broadcast(17 + rest.rank(), 0) == 17, "the new team works");
            std::vector<int> data(20'000, rest.rank());
            rest.broadcast(std::span(data), 0); // By the same way as in the old one.
            require(data == std::vector<int>(data.size(), 0), "large messages, too");
            rest.barrier();
        });
        if (rank == 0) {
            victim_pid = children.pid(0);
        }
    }
    char ready = 0;
    ASSERT_EQ(::read(channel[0], &ready, 1), 1);
    std::this_thread::sleep_for(delay);
    children.signal(0, SIGKILL);
    ::close(channel[0]);
    ::close(channel[1]);
    EXPECT_EQ(children.wait(0), SIGKILL);
    children.expect_all_good();
}

TEST(KillTest, RandomKillsAreNoticedAndSurvived) {
    const bool is_long = std::getenv("CORYMB_LONG_TESTS") != nullptr;
    const int kills = is_long ? 1000 : 100;
    const std::size_t descriptors = open_descriptors();
    const std::size_t entries = shm_entries();
    Random random(7);
    constexpr Mechanism ways[] = {Mechanism::cells, Mechanism::pull, Mechanism::push};
    for (int kill = 0; kill < kills && !::testing::Test::HasFailure(); ++kill) {
        const int size = 2 + static_cast<int>(random.below(3));
        const auto victim = static_cast<Rank>(random.below(static_cast<std::uint32_t>(size)));
        kill_one(size, victim, std::chrono::microseconds(random.below(3000)), ways[kill % 3],
                 static_cast<Style>(kill / 3 % 3));
    }
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_TRUE(has_no_more_shm_entries_than(entries));
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process is left";
}

/// Memory that its owner takes away while a peer is about to copy out of it, as the kernel does
/// with that of a process that ends, a moment before it counts as ended.
class Vanishing {
public:
    explicit Vanishing(std::size_t count) : bytes_(count * sizeof(std::uint32_t)) {
        void* const place =
            ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        require(place != MAP_FAILED, "there is memory");
        data_ = {static_cast<std::uint32_t*>(place), count};
    }
    [[nodiscard]] std::span<const std::uint32_t> data() const { return data_; }
    void vanish() { ::munmap(data_.data(), bytes_); }

private:
    std::size_t bytes_;
    std::span<std::uint32_t> data_;
};

void reduce_as(Team& team, Style style, std::span<const std::uint32_t> data,
               std::span<std::uint32_t> sum) {
    if (style == Style::blocking) {
        team.reduce(data, sum);
        return;
    }
    Request request = team.ireduce(data, sum);
    complete(request, style);
}

/// Rank 0 of two is `told` of its peer, whose memory has gone and which ends a little later or not.
void copy_from_nowhere(Style style, bool ends, const char* told) {
    constexpr std::size_t count = 1 << 18;
    const TeamDescriptor memory(2);
    Children children;
    int channel[2];
    ASSERT_EQ(::pipe(channel), 0);
    children.start([&] {
        AttachOptions options = by_descriptor(memory, plans_over(Mechanism::pull, test_limit()));
        options.rank = 1;
        Team team = Team::attach(options);
        Vanishing mine(count);
        std::thread([&] {
            std::this_thread::sleep_for(100ms); // The address is on its way.
            mine.vanish();
            const char gone = 1;
            require(::write(channel[1], &gone, 1) == 1, "rank 0 is told");
            std::this_thread::sleep_for(ends ? 200ms : test_limit());
            std::_Exit(0);
        }).detach();
        reduce_as(team, style, mine.data(), {});
    });
    children.start([&] {
        AttachOptions options = by_descriptor(memory, plans_over(Mechanism::pull, test_limit()));
        options.rank = 0;
        Team team = Team::attach(options);
        const std::vector<std::uint32_t> data(count, 1);
        std::vector<std::uint32_t> sum(count);
        char gone = 0;
        require(::read(channel[0], &gone, 1) == 1, "the memory has gone");
        try {
            reduce_as(team, style, data, sum);
        } catch (const Error& error) {
            require(error.code() == Errc::team_broken && error.ranks() == std::vector<int>{1} &&
                        std::string(error.what()).find(told) != std::string::npos,
                    error.what());
            return;
        }
        throw Unmet("the sum of nothing");
    });
    EXPECT_EQ(children.wait(1), 0);
    children.signal(0, SIGKILL);
    children.wait(0);
    ::close(channel[0]);
    ::close(channel[1]);
}

TEST(KillTest, ARankWhoseMemoryGoesIsNamed) {
    for (const Style style : {Style::blocking, Style::waiting, Style::testing}) {
        copy_from_nowhere(style, true, "ended without");
        copy_from_nowhere(style, false, "cannot be copied");
    }
}

/// Combines; rank 1 gets a signal the first time.
struct Interrupted {
    int signal;
    std::shared_ptr<bool> is_due;
    int operator()(int left, int right) const {
        if (*is_due) {
            *is_due = false;
            ::raise(signal);
        }
        return left + right;
    }
};

/// Rank 1 of two gets a signal before it writes into the output of rank 0, which gives up. Whatever
/// becomes of rank 1, nothing is written any more.
void interrupt_before_a_write(int signal) {
    const TeamDescriptor memory(2);
    TeamOptions plans = plans_over(Mechanism::push, scaled(400ms));
    plans.plans = [](const PlanNeed& need) {
        return need.op == Collective::reduce ? team_test::halves_reduce(need.bytes, true)
                                             : team_test::dissemination(need.size);
    };
    int channel[2];
    ASSERT_EQ(::pipe(channel), 0);
    Children children;
    for (int child = 0; child < 2; ++child) {
        children.start([&, child] {
            AttachOptions options = by_descriptor(memory, plans);
            options.rank = child;
            Team team = Team::attach(options);
            const Interrupted sum{signal, std::make_shared<bool>(child == 1)};
            const std::vector<int> mine(100'000, 1);
            std::vector<int> all(mine.size());
            try {
                team.reduce(std::span<const int>(mine), std::span(all), sum);
            } catch (const Error& error) {
                const std::string text = error.what();
                require(text.find("may still write") == std::string::npos, text);
                if (child == 1) {
                    return;
                }
                require(text.find("rank 1 (pid ") != std::string::npos, text);
                std::ranges::fill(all, 7);
                const char free = 1;
                require(::write(channel[1], &free, 1) == 1, "the test is told");
                std::this_thread::sleep_for(300ms);
                require(all == std::vector<int>(all.size(), 7), "nobody has written since");
                return;
            }
            throw Unmet("half a sum");
        });
    }
    char free = 0;
    ASSERT_EQ(::read(channel[0], &free, 1), 1);
    children.signal(1, SIGCONT);
    EXPECT_EQ(children.wait(0), 0);
    EXPECT_EQ(children.wait(1), signal == SIGKILL ? SIGKILL : 0);
    ::close(channel[0]);
    ::close(channel[1]);
}

TEST(KillTest, ARankThatIsStoppedBeforeItWritesDoesNotWriteLater) {
    interrupt_before_a_write(SIGSTOP);
}

TEST(KillTest, ARankThatIsKilledBeforeItWritesIsNamed) {
    interrupt_before_a_write(SIGKILL);
}

/// Broadcasts of rank 1, which is stopped some time. Whether rank 0 is told that it may still
/// write, as it must be if that was between the beginning and the end of a write.
bool is_told_of_a_late_write(std::chrono::microseconds delay) {
    constexpr int told = 7;
    const TeamDescriptor memory(2);
    Children children;
    int channel[2];
    EXPECT_EQ(::pipe(channel), 0);
    for (int child = 0; child < 2; ++child) {
        children.start([&, child] {
            AttachOptions options =
                by_descriptor(memory, plans_over(Mechanism::push, scaled(300ms)));
            options.rank = child;
            Team team = Team::attach(options);
            std::vector<std::uint64_t> data(1 << 20, 1);
            team.broadcast(std::span(data), 1);
            const char ready = 1;
            require(child == 1 || ::write(channel[1], &ready, 1) == 1, "the test is told");
            try {
                for (;;) {
                    team.broadcast(std::span(data), 1);
                }
            } catch (const Error& error) {
                const std::string text = error.what();
                if (text.find("rank 1 (pid ") == std::string::npos) {
                    throw;
                }
                if (text.find("may still write") != std::string::npos) {
                    std::_Exit(told);
                }
            }
        });
    }
    char ready = 0;
    EXPECT_EQ(::read(channel[0], &ready, 1), 1);
    std::this_thread::sleep_for(delay);
    children.signal(1, SIGSTOP);
    const int status = children.wait(0);
    EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == told));
    children.signal(1, SIGKILL);
    children.wait(1);
    ::close(channel[0]);
    ::close(channel[1]);
    return WEXITSTATUS(status) == told;
}

TEST(KillTest, ARankThatIsStoppedWhileItWritesIsSaidToStillWrite) {
    // It writes most of the time, unless other programs have the CPUs.
    constexpr int tries = 60;
    Random random(11);
    bool told = false;
    for (int i = 0; i < tries && !told; ++i) {
        told = is_told_of_a_late_write(std::chrono::microseconds(random.below(5000)));
    }
    EXPECT_TRUE(told);
}

TEST(KillTest, ARankThatEndsEarlyIsNamed) {
    const TeamDescriptor memory(3);
    Children children;
    for (int child = 0; child < 3; ++child) {
        children.start([&] {
            Team team = Team::attach(by_descriptor(memory, plans_over(Mechanism::cells)));
            team.barrier();
            if (team.rank() == 1) {
                return;
            }
            const Error error = work_until_failure(team, Style::blocking);
            require(error.code() == Errc::team_broken && error.ranks() == std::vector<int>{1},
                    error.what());
        });
    }
    children.expect_all_good();
}

TEST(KillTest, ARankThatIsDoneMayEndWhileOthersFinish) {
    for (int round = 0; round < 30; ++round) {
        const TeamDescriptor memory(3);
        Children children;
        for (int child = 0; child < 3; ++child) {
            children.start([&] {
                Team team = Team::attach(by_descriptor(memory, plans_over(Mechanism::cells)));
                for (int i = 0; i < 5; ++i) {
                    team.barrier();
                }
            });
        }
        children.expect_all_good();
    }
}

TEST(KillTest, AStoppedRankIsNamedAtTheDeadline) {
    const TeamDescriptor memory(3);
    Children children;
    for (int child = 0; child < 3; ++child) {
        children.start([&, child] {
            AttachOptions options =
                by_descriptor(memory, plans_over(Mechanism::cells, scaled(400ms)));
            options.rank = child;
            Team team = Team::attach(options);
            team.barrier();
            if (child == 2) {
                ::raise(SIGSTOP);
                return;
            }
            const Error error = work_until_failure(team, Style::blocking);
            require(error.code() == Errc::timeout, error.what());
            require(std::string(error.what()).find("stopped") != std::string::npos, error.what());
            Team rest = team.shrink();
            require(rest.size() == 2, "the others go on");
            rest.barrier();
        });
    }
    EXPECT_EQ(children.wait(0), 0);
    EXPECT_EQ(children.wait(1), 0);
    children.signal(2, SIGKILL);
    EXPECT_EQ(children.wait(2), SIGKILL);
}

} // namespace
} // namespace corymb
