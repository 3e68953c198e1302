// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks of different processes, with copies by the kernel and without, with a
// CPU for each rank and with fewer.
#include "children.hpp"

#include <cstddef>
#include <cstdint>
#include <sys/syscall.h>

namespace corymb {
namespace {

using namespace process_test;

std::vector<std::uint8_t> content(Rank from, std::size_t bytes) {
    std::vector<std::uint8_t> made(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        made[i] = static_cast<std::uint8_t>(i * 7 + i / 251 + static_cast<std::size_t>(from));
    }
    return made;
}

/// Every rank sends to the next, started or blocking, in lengths around those at which messages
/// change their way.
void pass_round(Team& team) {
    const Rank next = (team.rank() + 1) % team.size();
    const Rank before = (team.rank() + team.size() - 1) % team.size();
    for (const std::size_t bytes :
         {0UL, 56UL, 57UL, 8192UL, 8193UL, 65'535UL, 65'536UL, 65'537UL, 300'000UL, 3UL << 20U}) {
        const auto sent = content(team.rank(), bytes);
        std::vector<std::uint8_t> got(bytes);
        Request sending = team.isend(std::span(sent), next);
        team.recv(std::span(got), before);
        sending.wait();
        require(got == content(before, bytes), "started, " + std::to_string(bytes) + " bytes");
        std::fill(got.begin(), got.end(), std::uint8_t{0});
        team.sendrecv(std::span(sent), next, std::span(got), before);
        require(got == content(before, bytes), "sendrecv, " + std::to_string(bytes) + " bytes");
    }
}

class MessagesTest : public ::testing::TestWithParam<bool> {};

TEST_P(MessagesTest, OfAllLengthsAmongProcesses) {
    for (const int size : {2, 5}) {
        const TeamDescriptor memory(size);
        Children children;
        for (int child = 0; child < size; ++child) {
            children.start([&] {
                if (!GetParam()) {
                    refuse_call(SYS_process_vm_readv);
                }
                Team team = Team::attach(by_descriptor(memory, {}));
                pass_round(team);
            });
        }
        children.expect_all_good();
    }
}

TEST_P(MessagesTest, OfAllLengthsAmongProcessesOfSeveralThreads) {
    const TeamDescriptor memory(4);
    Children children;
    for (int child = 0; child < 2; ++child) {
        children.start([&] {
            if (!GetParam()) {
                refuse_call(SYS_process_vm_readv);
            }
            ProcessTeam process(by_descriptor(memory, {}, 2));
            in_threads(process, pass_round);
        });
    }
    children.expect_all_good();
}

INSTANTIATE_TEST_SUITE_P(Copies, MessagesTest, ::testing::Bool(), [](const auto& which) {
    return std::string(which.param ? "Allowed" : "Refused");
});

} // namespace
} // namespace corymb
