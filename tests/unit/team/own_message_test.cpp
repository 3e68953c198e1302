// SPDX-License-Identifier: Apache-2.0
// Messages of a rank to itself, as programs that go round a ring send them when they run alone.
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <vector>

namespace {

using namespace corymb;

TEST(OwnMessages, ARankMaySendToItselfInEveryForm) {
    for (const int ranks : {1, 3}) {
        for (const std::size_t count : {1U, 20U, 3'000U, 100'000U}) {
            threads(ranks, [count](Team& team) {
                const Rank own = team.rank();
                std::vector<int> out(count);
                std::iota(out.begin(), out.end(), own);
                for (int round = 0; round < 3; ++round) {
                    std::vector<int> in(count, -1);
                    team.sendrecv(out, own, in, own);
                    EXPECT_EQ(in, out);
                    in.assign(count, -1);
                    Request receive = team.irecv(in, own);
                    Request send = team.isend(out, own);
                    send.wait();
                    receive.wait();
                    EXPECT_EQ(in, out);
                }
                std::vector<int> in(count, -1);
                Request send = team.send_init(out, own);
                Request receive = team.recv_init(in, own);
                for (int round = 0; round < 3; ++round) {
                    in.assign(count, -1);
                    send.start();
                    receive.start();
                    receive.wait();
                    send.wait();
                    EXPECT_EQ(in, out);
                }
            });
        }
    }
}

} // namespace
