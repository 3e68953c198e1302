// SPDX-License-Identifier: Apache-2.0
// A job that is stopped as a whole and goes on later: the time in which nobody could look does not
// count towards deadlines.
#include "children.hpp"
#include "limits.hpp"

#include <array>
#include <unistd.h>

namespace corymb {
namespace {

using namespace process_test;

const auto limit = scaled(2s);

void expect_to_survive_a_stop(const std::function<void(Team&)>& wait) {
    const TeamDescriptor team(2);
    TeamOptions options;
    options.deadline = limit;
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    Children children;
    for (int rank = 0; rank < 2; ++rank) {
        children.start([&, rank] {
            AttachOptions attach = by_descriptor(team, options);
            attach.rank = rank;
            Team own = Team::attach(attach);
            own.barrier();
            if (rank == 1) { // Comes late by less than the deadline, but for the stop.
                char byte = 0;
                require(::read(pipe[0], &byte, 1) == 1, "the parent says when");
            }
            wait(own);
        });
    }
    std::this_thread::sleep_for(scaled(500ms)); // Rank 0 waits.
    for (const std::size_t child : {0U, 1U}) {
        children.signal(child, SIGSTOP);
    }
    std::this_thread::sleep_for(limit + 1s);
    for (const std::size_t child : {0U, 1U}) {
        children.signal(child, SIGCONT);
    }
    std::this_thread::sleep_for(100ms);
    ASSERT_EQ(::write(pipe[1], "x", 1), 1);
    children.expect_all_good();
    ::close(pipe[0]);
    ::close(pipe[1]);
}

TEST(StoppedTest, WhoWaitsGoesOn) {
    expect_to_survive_a_stop([](Team& team) { team.barrier(); });
}

TEST(StoppedTest, WhoTestsGoesOn) {
    expect_to_survive_a_stop([](Team& team) {
        Request request = team.ibarrier();
        while (!request.test()) {
            std::this_thread::sleep_for(100us);
        }
    });
}

} // namespace
} // namespace corymb
