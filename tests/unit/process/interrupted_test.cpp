// SPDX-License-Identifier: Apache-2.0
// A rank that is interrupted while it computes: blocking calls of others wait for it; a nonblocking
// operation that it has started is complete on others without it (docs/explain/noise.md).
#include "children.hpp"
#include "limits.hpp"

#include <array>
#include <poll.h>
#include <unistd.h>

namespace corymb {
namespace {

using namespace process_test;

/// Whether a byte comes within the time.
bool is_told(int pipe, std::chrono::milliseconds longest) {
    pollfd entry{pipe, POLLIN, 0};
    return ::poll(&entry, 1, static_cast<int>(longest.count())) == 1;
}

/// Rank 0 is stopped by the system within its computing, rank 1 tells when its operation is
/// complete. `is_hidden`: it is, while rank 0 is stopped.
void interrupt_rank_0(const std::function<void(Team&, const std::function<void()>&)>& phase,
                      bool is_hidden) {
    const TeamDescriptor team(2);
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    Children children;
    for (int rank = 0; rank < 2; ++rank) {
        children.start([&, rank] {
            AttachOptions attach = by_descriptor(team, {});
            attach.rank = rank;
            Team own = Team::attach(attach);
            own.barrier();
            phase(own, [rank] {
                if (rank == 0) {
                    ::raise(SIGSTOP);
                }
            });
            if (rank == 1) {
                require(::write(pipe[1], "x", 1) == 1, "the parent is told");
            }
            own.barrier();
        });
    }
    int status = 0;
    ASSERT_EQ(::waitpid(children.pid(0), &status, WUNTRACED), children.pid(0));
    ASSERT_TRUE(WIFSTOPPED(status));
    if (is_hidden) {
        EXPECT_TRUE(is_told(pipe[0], test_limit()));
    } else {
        EXPECT_FALSE(is_told(pipe[0], 200ms));
    }
    children.signal(0, SIGCONT);
    EXPECT_TRUE(is_told(pipe[0], test_limit()));
    children.expect_all_good();
    ::close(pipe[0]);
    ::close(pipe[1]);
}

TEST(InterruptedTest, BlockingCallsOfOthersWait) {
    interrupt_rank_0(
        [](Team& team, const auto& compute) {
            compute();
            team.barrier();
        },
        false);
}

TEST(InterruptedTest, AStartedBarrierIsCompleteWithoutTheRank) {
    interrupt_rank_0(
        [](Team& team, const auto& compute) {
            Request request = team.ibarrier();
            compute();
            while (!request.test()) {
                std::this_thread::sleep_for(100us);
            }
        },
        true);
}

TEST(InterruptedTest, AStartedAllreduceIsCompleteWithoutTheRank) {
    interrupt_rank_0(
        [](Team& team, const auto& compute) {
            const std::vector<int> in{team.rank() + 1};
            std::vector<int> out{0};
            Request request = team.iallreduce(in, out);
            compute();
            while (!request.test()) {
                std::this_thread::sleep_for(100us);
            }
            require(out[0] == 3, "the sum of both ranks");
        },
        true);
}

} // namespace
} // namespace corymb
