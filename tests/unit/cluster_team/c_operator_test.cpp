// SPDX-License-Identifier: Apache-2.0
// Operators of C programs that throw, on several nodes: what has not been combined goes to no other
// node.
#include "cluster_team/switchboard.hpp"

#include <corymb.h>

#include <array>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using cluster_test::Line;
using cluster_test::Switchboard;
using corymb::Carrier;

constexpr int size = 4;
constexpr std::array<int, size> nodes{0, 1, 2, 3};

int send(void* line, const void* data, size_t bytes, int to, int channel, int mark,
         uint64_t* ticket) {
    *ticket = static_cast<Line*>(line)->send(data, bytes, to,
                                             static_cast<Carrier::Channel>(channel), mark);
    return 0;
}
int receive(void* line, void* data, size_t room, int from, int channel, uint64_t* ticket) {
    *ticket =
        static_cast<Line*>(line)->receive(data, room, from, static_cast<Carrier::Channel>(channel));
    return 0;
}
int test(void* line, uint64_t ticket, int* done, size_t* bytes, int* mark) {
    Carrier::Arrival arrival;
    *done = static_cast<Line*>(line)->test(ticket, arrival) ? 1 : 0;
    *bytes = arrival.bytes;
    *mark = arrival.mark;
    return 0;
}
void abandon(void* line, uint64_t ticket) {
    static_cast<Line*>(line)->abandon(ticket);
}

/// Throws where there is a context.
void add(const void* left, const void* right, void* out, size_t count, corymb_type /*type*/,
         void* context) {
    if (context != nullptr) {
        throw std::runtime_error("no sum today");
    }
    const auto* one = static_cast<const double*>(left);
    const auto* other = static_cast<const double*>(right);
    for (size_t i = 0; i < count; ++i) {
        static_cast<double*>(out)[i] = one[i] + other[i];
    }
}

enum class Form { blocking, nonblocking, persistent };

corymb_status sum(Form form, const double& input, double& output, corymb_op op, corymb_team* team) {
    if (form == Form::blocking) {
        return corymb_allreduce(&input, &output, 1, CORYMB_DOUBLE, op, team);
    }
    corymb_request* request = nullptr;
    const auto make = form == Form::nonblocking ? corymb_iallreduce : corymb_allreduce_init;
    corymb_status status = make(&input, &output, 1, CORYMB_DOUBLE, op, team, &request);
    if (status == CORYMB_OK && form == Form::persistent) {
        status = corymb_start(request);
    }
    if (status == CORYMB_OK) {
        status = corymb_wait(&request);
    }
    corymb_request_free(&request);
    return status;
}

/// One rank, whose operator throws if it is rank 0.
void life(Switchboard& board, int rank, Form form) {
    corymb_options options;
    corymb_options_init(&options);
    options.deadline_ns = 1'000'000'000;
    corymb_thread_team* ranks = nullptr;
    corymb_team* team = nullptr;
    EXPECT_EQ(corymb_thread_team_create(1, &options, &ranks), CORYMB_OK);
    EXPECT_EQ(corymb_thread_team_join(ranks, 0, &team), CORYMB_OK);
    Line line(board, rank);
    corymb_carrier carrier;
    corymb_carrier_init(&carrier);
    carrier.context = &line;
    carrier.send = &send;
    carrier.receive = &receive;
    carrier.test = &test;
    carrier.abandon = &abandon;
    carrier.lanes = line.lanes();
    carrier.own_lanes = line.own_lanes();
    corymb_cluster_options where;
    corymb_cluster_options_init(&where);
    where.node_of_rank = nodes.data();
    where.size = size;
    where.rank = rank;
    where.network = "2000,400,3,12";
    EXPECT_EQ(corymb_team_over_nodes(team, &carrier, &where), CORYMB_OK);
    int marker = 0;
    corymb_op op = CORYMB_NO_OP;
    EXPECT_EQ(corymb_op_create(add, rank == 0 ? &marker : nullptr, 1, &op), CORYMB_OK);
    const double input = 1;
    double output = 0;
    const corymb_status status = sum(form, input, output, op, team);
    EXPECT_TRUE(rank != 0 || status != CORYMB_OK);
    EXPECT_TRUE(status != CORYMB_OK || output == size) << "rank " << rank << " has " << output;
    corymb_team_free(&team);
    corymb_op_free(&op);
    corymb_thread_team_free(&ranks);
}

class ThrowingOperator : public testing::TestWithParam<Form> {};

/// Others may have combined it without rank 0.
TEST_P(ThrowingOperator, LeavesNobodyWithAWrongResult) {
    Switchboard board;
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < size; ++rank) {
        ranks.emplace_back([&board, rank] { life(board, rank, GetParam()); });
    }
    for (std::thread& rank : ranks) {
        rank.join();
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, ThrowingOperator,
                         testing::Values(Form::blocking, Form::nonblocking, Form::persistent));

} // namespace
