// SPDX-License-Identifier: Apache-2.0
// Requests of the C interface: completing, starting, freeing, and what is refused.
#include "in_teams.hpp"

#include <algorithm>
#include <array>

namespace {

using namespace c_test;

TEST(RequestsTest, AreCompletedInAnyOrder) {
    in_team(2, [](corymb_team* team) {
        constexpr std::size_t many = 200;
        const int rank = corymb_team_rank(team);
        std::vector<int> input(many), output(many);
        std::vector<corymb_request*> requests(many);
        for (std::size_t i = 0; i < many; ++i) {
            input[i] = static_cast<int>(i) + rank;
            expect_ok(corymb_iallreduce(&input[i], &output[i], 1, CORYMB_INT, CORYMB_SUM, team,
                                        &requests[i]));
        }
        expect_ok(corymb_wait(&requests[many - 1]));
        for (int done = 0; done == 0;) {
            expect_ok(corymb_test(&requests[7], &done));
            EXPECT_EQ(requests[7] == nullptr, done == 1);
        }
        std::size_t index = 0;
        expect_ok(corymb_wait_any(requests.data(), many, &index));
        ASSERT_LT(index, many);
        EXPECT_EQ(requests[index], nullptr);
        expect_ok(corymb_wait_all(requests.data(), many));
        EXPECT_EQ(std::count(requests.begin(), requests.end(), nullptr),
                  static_cast<std::ptrdiff_t>(many));
        for (std::size_t i = 0; i < many; ++i) {
            EXPECT_EQ(output[i], static_cast<int>(2 * i) + 1);
        }
        expect_ok(corymb_wait_any(requests.data(), many, &index));
        EXPECT_EQ(index, CORYMB_NO_REQUEST);
        expect_ok(corymb_wait_all(nullptr, 0));
    });
}

TEST(RequestsTest, MessagesAreTakenBack) {
    in_team(2, [](corymb_team* team) {
        const int other = 1 - corymb_team_rank(team);
        int kept = -1;
        corymb_request* receive = nullptr;
        expect_ok(corymb_irecv(&kept, 1, CORYMB_INT, other, team, &receive));
        int cancelled = 0;
        expect_ok(corymb_cancel(&receive, &cancelled));
        EXPECT_EQ(cancelled, 1);
        EXPECT_EQ(receive, nullptr);
        corymb_request* barrier = nullptr;
        expect_ok(corymb_ibarrier(team, &barrier));
        expect_invalid(corymb_cancel(&barrier, &cancelled), "collective");
        expect_invalid(corymb_cancel(&barrier, nullptr), "cancelled");
        expect_ok(corymb_wait(&barrier)); // Nobody sends before both have taken back.
        expect_ok(corymb_send(&other, 1, CORYMB_INT, other, team));
        int got = -1;
        expect_ok(corymb_recv(&got, 1, CORYMB_INT, other, team));
        EXPECT_EQ(got, 1 - other);
        EXPECT_EQ(kept, -1);
    });
}

TEST(RequestsTest, PersistentOnesStartAgain) {
    in_team(2, [](corymb_team* team) {
        double value = 0;
        double sum = 0;
        std::array<corymb_request*, 2> requests{};
        expect_ok(
            corymb_allreduce_init(&value, &sum, 1, CORYMB_DOUBLE, CORYMB_SUM, team, &requests[0]));
        expect_ok(corymb_barrier_init(team, &requests[1]));
        expect_invalid(corymb_wait(requests.data()), "not active");
        EXPECT_NE(requests[0], nullptr);
        for (int round = 1; round <= 3; ++round) {
            value = round;
            expect_ok(corymb_start_all(requests.data(), 2));
            expect_invalid(corymb_start(requests[0]), "active already");
            std::size_t index = 0;
            expect_ok(corymb_wait_any(requests.data(), 2, &index));
            EXPECT_NE(requests[index], nullptr);
            expect_ok(corymb_wait_all(requests.data(), 2));
            EXPECT_EQ(sum, 2 * round);
        }
        expect_ok(corymb_request_free(&requests[0]));
        expect_ok(corymb_request_free(&requests[1]));
        EXPECT_EQ(requests[0], nullptr);
    });
}

TEST(RequestsTest, TheSameOneTwiceInARowIsOne) {
    in_team(2, [](corymb_team* team) {
        corymb_request* request = nullptr;
        expect_ok(corymb_barrier_init(team, &request));
        expect_ok(corymb_start(request));
        std::array<corymb_request*, 3> row{request, nullptr, request};
        std::size_t index = 99;
        expect_ok(corymb_wait_any(row.data(), row.size(), &index));
        EXPECT_EQ(index, 0U);
        expect_ok(corymb_wait_any(row.data(), row.size(), &index));
        EXPECT_EQ(index, CORYMB_NO_REQUEST);
        expect_ok(corymb_request_free(&request));
    });
}

TEST(RequestsTest, AnyOfThemThatFailsIsNamedAndCompleted) {
    in_team(2, [](corymb_team* team) {
        double value = 0;
        double sum = 0;
        std::array<corymb_request*, 3> requests{};
        expect_ok(corymb_barrier_init(team, &requests[1]));
        expect_ok(
            corymb_allreduce_init(&value, &sum, 1, CORYMB_DOUBLE, CORYMB_SUM, team, &requests[0]));
        corymb_request* const persistent = requests[0];
        if (corymb_team_rank(team) == 0) { // The other never starts them.
            expect_ok(
                corymb_iallreduce(&value, &sum, 1, CORYMB_DOUBLE, CORYMB_SUM, team, &requests[2]));
            expect_ok(corymb_start(persistent));
        }
        expect_ok(corymb_barrier(team));
        if (corymb_team_rank(team) == 1) {
            expect_ok(corymb_team_abandon(team, "for the test"));
        } else {
            std::array<int, 3> named{};
            for (int i = 0; i < 2; ++i) {
                std::size_t index = 99;
                EXPECT_EQ(corymb_wait_any(requests.data(), requests.size(), &index),
                          CORYMB_TEAM_BROKEN);
                ASSERT_LT(index, requests.size());
                ++named[index];
            }
            EXPECT_EQ(named, (std::array<int, 3>{1, 0, 1}));
            EXPECT_EQ(requests[0], persistent);
            EXPECT_EQ(requests[2], nullptr);
        }
        std::size_t index = 99;
        expect_ok(corymb_wait_any(requests.data(), requests.size(), &index));
        EXPECT_EQ(index, CORYMB_NO_REQUEST);
        expect_ok(corymb_request_free(&requests[0]));
        expect_ok(corymb_request_free(&requests[1]));
    });
}

TEST(RequestsTest, ProgressIsMadeByCalls) {
    in_team(2, [](corymb_team* team) {
        corymb_request* request = nullptr;
        expect_ok(corymb_ibarrier(team, &request));
        expect_ok(corymb_progress(team, nullptr));
        expect_ok(corymb_complete_all(team));
        std::size_t under_way = 1;
        expect_ok(corymb_progress(team, &under_way));
        EXPECT_EQ(under_way, 0U);
        int done = 0;
        expect_ok(corymb_test(&request, &done));
        EXPECT_EQ(done, 1);
    });
}

TEST(RequestsTest, MessagesGoFromRankToRank) {
    in_team(3, [](corymb_team* team) {
        const int rank = corymb_team_rank(team);
        const int next = (rank + 1) % 3;
        const int before = (rank + 2) % 3;
        for (const std::size_t count : {1U, 1000U, 20'000U}) { // By line, by cells, copied once.
            std::vector<int> out(count, rank);
            std::vector<int> in(count, -1);
            expect_ok(corymb_sendrecv(out.data(), count, CORYMB_INT, next, in.data(), 4 * count,
                                      CORYMB_BYTE, before, team));
            EXPECT_EQ(in, std::vector<int>(count, before));

            std::array<corymb_request*, 2> requests{};
            in.assign(count, -1);
            expect_ok(corymb_irecv(in.data(), count, CORYMB_INT, before, team, &requests[0]));
            expect_ok(corymb_isend(out.data(), count, CORYMB_INT, next, team, &requests[1]));
            expect_ok(corymb_wait_all(requests.data(), 2));
            EXPECT_EQ(in, std::vector<int>(count, before));

            in.assign(count, -1);
            expect_ok(corymb_recv_init(in.data(), count, CORYMB_INT, before, team, &requests[0]));
            expect_ok(corymb_send_init(out.data(), count, CORYMB_INT, next, team, &requests[1]));
            expect_ok(corymb_start_all(requests.data(), 2));
            expect_ok(corymb_wait_all(requests.data(), 2));
            EXPECT_EQ(in, std::vector<int>(count, before));
            expect_ok(corymb_request_free(&requests[0]));
            expect_ok(corymb_request_free(&requests[1]));

            in.assign(count, -1);
            if (rank == 0) {
                expect_ok(corymb_send(out.data(), count, CORYMB_INT, 1, team));
            } else if (rank == 1) {
                expect_ok(corymb_recv(in.data(), count, CORYMB_INT, 0, team));
                EXPECT_EQ(in, std::vector<int>(count, 0));
            }
        }
    });
}

TEST(RequestsTest, MisuseIsRefused) {
    in_team(1, [](corymb_team* team) {
        corymb_request* request = nullptr;
        int done = 0;
        std::size_t index = 0;
        expect_invalid(corymb_wait(nullptr), "NULL");
        expect_invalid(corymb_wait(&request), "the request is NULL");
        expect_invalid(corymb_test(&request, nullptr), "done is NULL");
        expect_invalid(corymb_test(&request, &done), "the request is NULL");
        expect_invalid(corymb_start(nullptr), "the request is NULL");
        expect_invalid(corymb_wait_all(nullptr, 1), "requests is NULL");
        expect_invalid(corymb_wait_any(nullptr, 1, &index), "requests is NULL");
        expect_invalid(corymb_start_all(&request, 1), "the request is NULL");
        expect_invalid(corymb_ibarrier(team, nullptr), "request is NULL");
        expect_invalid(corymb_request_free(nullptr), "NULL");
        expect_ok(corymb_request_free(&request));

        expect_ok(corymb_ibarrier(team, &request));
        expect_invalid(corymb_start(request), "only a persistent request");
        corymb_request* stale = request;
        expect_ok(corymb_wait(&request));
        expect_invalid(corymb_wait(&stale), "was freed");
        expect_invalid(corymb_request_free(&stale), "was freed");

        double data[2] = {};
        request = stale;
        expect_invalid(
            corymb_iallreduce(data, data, 1, CORYMB_DOUBLE, CORYMB_NO_OP, team, &request),
            "no operator");
        EXPECT_EQ(request, nullptr);
        expect_invalid(corymb_isend(data, 1, CORYMB_DOUBLE, 5, team, &request), "peer 5");
        expect_invalid(corymb_recv(nullptr, 1, CORYMB_DOUBLE, 0, team), "null");
        expect_invalid(corymb_send(data, SIZE_MAX, CORYMB_DOUBLE, 0, team), "address space");
    });
}

TEST(RequestsTest, OutliveTheirTeam) {
    std::array<corymb_request*, 3> left{};
    corymb_thread_team* group = nullptr;
    expect_ok(corymb_thread_team_create(1, nullptr, &group));
    corymb_team* team = nullptr;
    expect_ok(corymb_thread_team_join(group, 0, &team));
    expect_ok(corymb_ibarrier(team, &left[0]));
    expect_ok(corymb_ibarrier(team, &left[1]));
    expect_ok(corymb_barrier_init(team, &left[2]));
    expect_ok(corymb_team_free(&team));
    expect_ok(corymb_wait(&left[0]));
    expect_ok(corymb_request_free(&left[1]));
    expect_invalid(corymb_start(left[2]), "team of the request is gone");
    expect_ok(corymb_request_free(&left[2]));
    expect_ok(corymb_thread_team_free(&group));
}

} // namespace
