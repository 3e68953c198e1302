// SPDX-License-Identifier: Apache-2.0
// Teams over several nodes from C: what is refused, and one node, which needs no messages.
// tests/mpi/test_cluster.py runs several.
#include "in_teams.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace {

using namespace c_test;

int no_send(void* /*context*/, const void* /*data*/, size_t /*bytes*/, int /*to*/, int /*channel*/,
            int /*mark*/, uint64_t* /*ticket*/) {
    return 7;
}
int no_receive(void* /*context*/, void* /*data*/, size_t /*room*/, int /*from*/, int /*channel*/,
               uint64_t* /*ticket*/) {
    return 7;
}
int no_test(void* /*context*/, uint64_t /*ticket*/, int* /*done*/, size_t* /*bytes*/,
            int* /*mark*/) {
    return 7;
}
void no_abandon(void* /*context*/, uint64_t /*ticket*/) {}

corymb_carrier broken_carrier() {
    corymb_carrier carrier;
    corymb_carrier_init(&carrier);
    carrier.send = &no_send;
    carrier.receive = &no_receive;
    carrier.test = &no_test;
    carrier.abandon = &no_abandon;
    return carrier;
}

/// One of `size` ranks that join one after the other: each is the only one in its process's team.
struct Ranks {
    explicit Ranks(int size) { expect_ok(corymb_thread_team_create(size, nullptr, &all)); }
    ~Ranks() { expect_ok(corymb_thread_team_free(&all)); }
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;
    [[nodiscard]] corymb_team* join(int rank) const {
        corymb_team* team = nullptr;
        expect_ok(corymb_thread_team_join(all, rank, &team));
        return team;
    }
    corymb_thread_team* all = nullptr;
};

corymb_cluster_options options_of(const std::vector<int>& nodes, int rank) {
    corymb_cluster_options options;
    corymb_cluster_options_init(&options);
    options.node_of_rank = nodes.data();
    options.size = static_cast<int>(nodes.size());
    options.rank = rank;
    return options;
}

/// The team of rank 0, whose test frees it; messages to other nodes fail.
struct FirstRank {
    explicit FirstRank(std::vector<int> nodes_of_ranks) : nodes(std::move(nodes_of_ranks)) {
        const corymb_carrier carrier = broken_carrier();
        const corymb_cluster_options options = options_of(nodes, 0);
        expect_ok(corymb_team_over_nodes(team, &carrier, &options));
    }
    const Ranks ranks{1};
    const std::vector<int> nodes;
    corymb_team* team = ranks.join(0);
};

corymb_operation operation_of(corymb_collective op, const void* input, void* output, size_t count,
                              corymb_type type, corymb_op with, int root,
                              const corymb_part_lists* parts = nullptr) {
    return {sizeof(corymb_operation),
            op,
            root,
            type,
            with,
            input,
            output,
            count,
            parts,
            nullptr,
            nullptr};
}

corymb_status run(corymb_collective op, const void* input, void* output, size_t count,
                  corymb_type type, corymb_op with, int root, corymb_team* team) {
    const corymb_operation operation = operation_of(op, input, output, count, type, with, root);
    return corymb_run(&operation, team);
}

corymb_status run_parts(corymb_collective op, const void* input, void* output, size_t count,
                        const corymb_part_lists& parts, corymb_type type, corymb_op with, int root,
                        corymb_team* team) {
    const corymb_operation operation =
        operation_of(op, input, output, count, type, with, root, &parts);
    return corymb_run(&operation, team);
}

corymb_status start(corymb_collective op, const void* input, void* output, size_t count,
                    corymb_type type, corymb_op with, int root, corymb_team* team,
                    corymb_request** request) {
    const corymb_operation operation = operation_of(op, input, output, count, type, with, root);
    return corymb_begin(&operation, team, request);
}

corymb_status prepare(corymb_collective op, const void* input, void* output, size_t count,
                      corymb_type type, corymb_op with, int root, corymb_team* team,
                      corymb_request** request) {
    const corymb_operation operation = operation_of(op, input, output, count, type, with, root);
    return corymb_prepare(&operation, team, request);
}

int count_plans(const corymb_team* team) {
    int plans = 0;
    const auto count = [](corymb_collective, int, uint64_t, const char*, void* counted) {
        ++*static_cast<int*>(counted);
    };
    expect_ok(corymb_team_plans(team, count, &plans));
    EXPECT_EQ(corymb_team_plans(team, nullptr, nullptr), CORYMB_INVALID_ARGUMENT);
    return plans;
}

TEST(OverNodesOfC, OneNodeNeedsNoMessages) {
    const Ranks ranks(1);
    corymb_team* team = ranks.join(0);
    const corymb_carrier carrier = broken_carrier();
    const std::vector<int> nodes{0};
    corymb_cluster_options options = options_of(nodes, 0);
    options.network = "2000,400,3,12";
    expect_ok(corymb_team_over_nodes(team, &carrier, &options));
    int value = 5;
    int sum = 0;
    expect_ok(run(CORYMB_ALLREDUCE, &value, &sum, 1, CORYMB_INT32, CORYMB_SUM, 0, team));
    EXPECT_EQ(sum, 5);
    expect_ok(run(CORYMB_ALLGATHER, CORYMB_IN_PLACE, &sum, 1, CORYMB_INT32, CORYMB_NO_OP, 0, team));
    EXPECT_EQ(sum, 5);
    uint64_t bytes = 1;
    uint64_t messages = 1;
    uint64_t rounds = 1;
    expect_ok(corymb_team_carried(team, &bytes, &messages, &rounds));
    EXPECT_EQ(bytes + messages + rounds, 0U);
    const char* network = nullptr;
    const char* insides = nullptr;
    expect_ok(corymb_team_network(team, &network, &insides));
    EXPECT_STREQ(network, "2000,400,3,12");
    EXPECT_STREQ(insides, "") << "without a key nobody asks";
    EXPECT_EQ(corymb_team_network(team, nullptr, &insides), CORYMB_INVALID_ARGUMENT);
    EXPECT_EQ(corymb_team_network(team, &network, nullptr), CORYMB_INVALID_ARGUMENT);
    EXPECT_GE(count_plans(team), 2);
    int is_known = -1;
    expect_ok(corymb_knows_network("nodes that nobody has met", 2, &is_known));
    EXPECT_EQ(is_known, 0);
    EXPECT_EQ(corymb_knows_network(nullptr, 2, &is_known), CORYMB_INVALID_ARGUMENT);
    EXPECT_EQ(corymb_knows_network("nodes", 2, nullptr), CORYMB_INVALID_ARGUMENT);
    for (const corymb_collective op : {CORYMB_SCAN, CORYMB_ALLTOALL, CORYMB_GATHER}) {
        sum = 0;
        expect_ok(run(op, &value, &sum, 1, CORYMB_INT32, CORYMB_SUM, 0, team));
        EXPECT_EQ(sum, 5) << op;
    }
    const size_t one = 1;
    const corymb_part_lists lists{&one, nullptr, &one, nullptr};
    for (const corymb_collective op : {CORYMB_GATHER, CORYMB_SCATTER, CORYMB_ALLGATHER,
                                       CORYMB_ALLTOALL, CORYMB_REDUCE_SCATTER}) {
        sum = 0;
        expect_ok(run_parts(op, &value, &sum, 1, lists, CORYMB_INT32, CORYMB_SUM, 0, team));
        EXPECT_EQ(sum, 5) << op;
    }
    expect_invalid(
        run_parts(CORYMB_SCAN, &value, &sum, 1, lists, CORYMB_INT32, CORYMB_SUM, 0, team),
        "no parts that could differ");
    expect_invalid(
        run_parts(CORYMB_GATHER, &value, &sum, 1, {}, CORYMB_INT32, CORYMB_NO_OP, 0, team),
        "counts is NULL");
    expect_invalid(
        run(CORYMB_ALLTOALL, CORYMB_IN_PLACE, &sum, 1, CORYMB_INT32, CORYMB_NO_OP, 0, team),
        "CORYMB_IN_PLACE cannot stand for the input");
    expect_invalid(run(CORYMB_BROADCAST, nullptr, &sum, 1, CORYMB_INT32, CORYMB_NO_OP, 1, team),
                   "root 1");
    corymb_team* gone = team;
    expect_ok(corymb_team_free(&team));
    EXPECT_EQ(team, nullptr);
    expect_invalid(run(CORYMB_BARRIER, nullptr, nullptr, 0, CORYMB_BYTE, CORYMB_NO_OP, 0, gone),
                   "was freed");
}

TEST(OverNodesOfC, StartsOperationsThatGoOn) {
    FirstRank first(std::vector<int>{0});
    corymb_team*& team = first.team;
    const int value = 5;
    int sums[3] = {};
    corymb_request* requests[4] = {};
    for (int i = 0; i < 3; ++i) {
        expect_ok(start(CORYMB_ALLREDUCE, &value, &sums[i], 1, CORYMB_INT32, CORYMB_SUM, 0, team,
                        &requests[i]));
    }
    expect_ok(start(CORYMB_BARRIER, nullptr, nullptr, 0, CORYMB_BYTE, CORYMB_NO_OP, 0, team,
                    &requests[3]));
    int parts[2] = {};
    corymb_request* of_parts[2] = {};
    const size_t one = 1;
    const corymb_part_lists lists{nullptr, nullptr, &one, nullptr};
    const corymb_operation gathers[] = {
        operation_of(CORYMB_ALLGATHER, &value, &parts[0], 1, CORYMB_INT32, CORYMB_NO_OP, 0, &lists),
        operation_of(CORYMB_GATHER, &value, &parts[1], 1, CORYMB_INT32, CORYMB_NO_OP, 0, &lists)};
    expect_ok(corymb_begin(&gathers[0], team, &of_parts[0]));
    expect_ok(corymb_prepare(&gathers[1], team, &of_parts[1]));
    expect_ok(corymb_start(of_parts[1]));
    expect_ok(corymb_wait(&of_parts[1]));
    expect_ok(corymb_request_free(&of_parts[1]));
    expect_ok(corymb_wait(&of_parts[0]));
    EXPECT_EQ(parts[0] + parts[1], 10);
    size_t under_way = 7;
    expect_ok(corymb_progress(team, &under_way));
    EXPECT_EQ(under_way, 0U);
    int done = 0;
    expect_ok(corymb_test(&requests[1], &done));
    EXPECT_EQ(done, 1);
    EXPECT_EQ(requests[1], nullptr);
    int cancelled = 0;
    expect_invalid(corymb_cancel(&requests[0], &cancelled), "cannot be cancelled");
    expect_invalid(
        start(CORYMB_GATHER, &value, sums, 1, CORYMB_INT32, CORYMB_NO_OP, 1, team, &requests[1]),
        "root 1");
    EXPECT_EQ(requests[1], nullptr);
    size_t which = 0;
    expect_ok(corymb_wait_any(requests, 4, &which));
    EXPECT_EQ(which, 0U);
    expect_ok(corymb_team_free(&team));
    expect_ok(corymb_wait_all(requests, 4)); // They keep their outcome.
    for (const int sum : sums) {
        EXPECT_EQ(sum, 5);
    }
}

TEST(OverNodesOfC, StartsPersistentOperationsAgainAndAgain) {
    FirstRank first(std::vector<int>{0});
    corymb_team*& team = first.team;
    int value = 0;
    int sum = 0;
    corymb_request* requests[2] = {};
    expect_ok(prepare(CORYMB_ALLREDUCE, &value, &sum, 1, CORYMB_INT32, CORYMB_SUM, 0, team,
                      &requests[0]));
    expect_ok(prepare(CORYMB_BARRIER, nullptr, nullptr, 0, CORYMB_BYTE, CORYMB_NO_OP, 0, team,
                      &requests[1]));
    for (value = 1; value < 4; ++value) {
        expect_ok(corymb_start_all(requests, 2));
        expect_invalid(corymb_start(requests[0]), "is active already");
        expect_ok(corymb_wait_all(requests, 2));
        EXPECT_EQ(sum, value);
        EXPECT_NE(requests[0], nullptr);
    }
    corymb_request* none = nullptr;
    expect_invalid(
        prepare(CORYMB_BROADCAST, nullptr, &sum, 1, CORYMB_INT32, CORYMB_NO_OP, 1, team, &none),
        "root 1");
    EXPECT_EQ(none, nullptr);
    expect_ok(corymb_request_free(&requests[0]));
    expect_ok(corymb_team_free(&team));
    expect_ok(corymb_request_free(&requests[1]));
}

/// That it combines is tested in tests/mpi, where ranks have messages.
TEST(OverNodesOfC, TakesOperatorsOfTheUser) {
    FirstRank first(std::vector<int>{0});
    corymb_team*& team = first.team;
    corymb_op op = CORYMB_NO_OP;
    const auto nothing = [](const void* /*left*/, const void* /*right*/, void* /*out*/,
                            size_t /*count*/, corymb_type /*type*/, void* /*context*/) {
    };
    expect_ok(corymb_op_create(nothing, nullptr, 0, &op));
    const corymb_type type = corymb_type_of_bytes(12);
    const int mine[3] = {1, 2, 3};
    int all[3] = {};
    expect_ok(run(CORYMB_SCAN, mine, all, 1, type, op, 0, team));
    EXPECT_EQ(all[2], 3);
    std::ranges::fill(all, 0);
    expect_ok(run(CORYMB_ALLREDUCE, mine, all, 1, type, op, 0, team));
    EXPECT_EQ(all[2], 3);
    expect_invalid(run(CORYMB_SCAN, mine, all, 1, type, CORYMB_SUM, 0, team),
                   "needs an operator of your own");
    expect_ok(corymb_op_free(&op));
    expect_invalid(run(CORYMB_SCAN, mine, all, 1, type, op, 0, team), "operator");
    expect_ok(corymb_team_free(&team));
}

TEST(OverNodesOfC, NeedsLanesToPrepareOperations) {
    FirstRank first({0, 1});
    corymb_team*& team = first.team;
    corymb_request* request = nullptr;
    expect_refused(
        prepare(CORYMB_BARRIER, nullptr, nullptr, 0, CORYMB_BYTE, CORYMB_NO_OP, 0, team, &request),
        CORYMB_UNSUPPORTED, "no channels for persistent operations");
    EXPECT_EQ(request, nullptr);
    expect_ok(corymb_team_free(&team));
}

TEST(OverNodesOfC, NeedsLanesToStartOperations) {
    corymb_carrier carrier = broken_carrier();
    const std::vector<int> nodes{0, 1};
    const corymb_cluster_options options = options_of(nodes, 0);
    const auto start_with = [&](int lanes, corymb_request** request) {
        const Ranks ranks(1);
        corymb_team* team = ranks.join(0);
        carrier.lanes = lanes;
        expect_ok(corymb_team_over_nodes(team, &carrier, &options));
        const corymb_status status = corymb_ibarrier(team, request);
        if (status == CORYMB_OK) { // What the carrier has refused is told with the outcome.
            expect_refused(corymb_wait(request), CORYMB_TEAM_BROKEN, "the carrier of messages");
        } else {
            expect_refused(status, CORYMB_UNSUPPORTED, "no channels for nonblocking operations");
        }
        EXPECT_EQ(*request, nullptr);
        expect_ok(corymb_team_free(&team));
        return status;
    };
    corymb_request* request = nullptr;
    EXPECT_EQ(start_with(0, &request), CORYMB_UNSUPPORTED);
    EXPECT_EQ(start_with(8, &request), CORYMB_OK);
}

TEST(OverNodesOfC, APlanThatCannotBeBroughtIsNone) {
    FirstRank first({0, 1});
    corymb_team*& team = first.team;
    expect_refused(corymb_team_warm_up(team, CORYMB_BARRIER, 0, 0, 0), CORYMB_TEAM_BROKEN,
                   "the carrier of messages between nodes failed to");
    EXPECT_EQ(count_plans(team), 0);
    expect_ok(corymb_team_free(&team));
}

/// One that was made before, too.
TEST(OverNodesOfC, ACallThatIsKeptGoesOn) {
    const Ranks ranks(1);
    corymb_team* team = ranks.join(0);
    corymb_call* call = nullptr;
    expect_ok(corymb_call_create(CORYMB_ALLGATHER, 1, CORYMB_INT32, CORYMB_NO_OP, 0, team, &call));
    const int value = 3;
    int all[2] = {};
    expect_ok(corymb_call_run(call, &value, all));
    const corymb_carrier carrier = broken_carrier();
    const std::vector<int> nodes{0};
    const corymb_cluster_options options = options_of(nodes, 0);
    expect_ok(corymb_team_over_nodes(team, &carrier, &options));
    all[0] = 0;
    expect_ok(corymb_call_run(call, &value, all));
    EXPECT_EQ(all[0], 3);
    expect_ok(corymb_team_free(&team));
}

TEST(OverNodesOfC, ACarrierThatFailsBreaksTheTeam) {
    FirstRank first({0, 1});
    corymb_team*& team = first.team;
    for (int call = 0; call < 2; ++call) {
        expect_refused(run(CORYMB_BARRIER, nullptr, nullptr, 0, CORYMB_BYTE, CORYMB_NO_OP, 0, team),
                       CORYMB_TEAM_BROKEN, "the carrier of messages between nodes failed to");
    }
    expect_ok(corymb_team_free(&team));
}

TEST(OverNodesOfC, RefusesWhatDoesNotFit) {
    corymb_carrier carrier = broken_carrier();
    const std::vector<int> nodes{0, 0};
    corymb_cluster_options options = options_of(nodes, 0);
    expect_invalid(corymb_team_over_nodes(nullptr, &carrier, &options), "is NULL");
    const Ranks ranks(1);
    corymb_team* team = ranks.join(0);
    const auto refused = [&](const char* words) {
        expect_invalid(corymb_team_over_nodes(team, &carrier, &options), words);
        expect_ok(corymb_barrier(team)); // It is as it was.
    };
    refused("the local team must be that of the ranks on node 0");
    options.size = 0;
    refused("has 0 ranks");
    options.struct_size = 3;
    refused("corymb_cluster_options_init");
    carrier.test = nullptr;
    refused("all of its functions");
    carrier.struct_size = 0;
    refused("corymb_carrier_init");
    expect_ok(corymb_team_free(&team));
}

TEST(OverNodesOfC, RefusesWhatOneNodeAloneDoes) {
    FirstRank first(std::vector<int>{0});
    corymb_team*& team = first.team;
    int value = 0;
    corymb_team* part = nullptr;
    expect_refused(corymb_send(&value, 1, CORYMB_INT32, 0, team), CORYMB_UNSUPPORTED,
                   "not carried between nodes");
    expect_refused(corymb_team_split(team, 0, 0, &part), CORYMB_UNSUPPORTED,
                   "no channels for another team");
    expect_refused(corymb_team_shrink(team, &part), CORYMB_UNSUPPORTED, "new local teams");
    char* plan = nullptr;
    expect_refused(corymb_plan_json(team, CORYMB_BARRIER, 0, 0, &plan), CORYMB_UNSUPPORTED,
                   "make_plan with the cluster has all");
    const corymb_carrier carrier = broken_carrier();
    const corymb_cluster_options options = options_of(first.nodes, 0);
    expect_refused(corymb_team_over_nodes(team, &carrier, &options), CORYMB_UNSUPPORTED,
                   "on several nodes already");
    expect_ok(corymb_barrier(team)); // Nothing of that has broken it.
    expect_ok(corymb_team_free(&team));
}

/// Calls that are kept, layouts, a deadline and the plans are those of every team.
TEST(OverNodesOfC, DoesWhatEveryTeamDoes) {
    FirstRank first(std::vector<int>{0});
    corymb_team*& team = first.team;
    corymb_call* call = nullptr;
    expect_ok(corymb_call_create(CORYMB_ALLREDUCE, 1, CORYMB_INT32, CORYMB_SUM, 0, team, &call));
    const int value = 7;
    int sum = 0;
    expect_ok(corymb_call_run(call, &value, &sum));
    EXPECT_EQ(sum, 7);
    const auto pack = [](void* context, void* to) {
        std::memcpy(to, context, sizeof(int));
    };
    const auto unpack = [](void* context, const void* from) {
        std::memcpy(context, from, sizeof(int));
    };
    int data = 9;
    const corymb_packed layout{1, pack, unpack, &data};
    const corymb_operation broadcast =
        packed(CORYMB_BROADCAST, nullptr, &layout, CORYMB_INT32, CORYMB_NO_OP, 0);
    expect_ok(corymb_run(&broadcast, team));
    EXPECT_EQ(data, 9);
    expect_ok(corymb_team_set_deadline(team, 1'000'000'000));
    expect_ok(corymb_team_warm_up(team, CORYMB_REDUCE, 64, 0, 1));
    EXPECT_GE(count_plans(team), 2);
    expect_ok(corymb_team_free(&team));
}

} // namespace
