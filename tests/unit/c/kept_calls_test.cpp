// SPDX-License-Identifier: Apache-2.0
// Calls of the C interface that are made again and again, beside the operations' own functions.
#include "in_teams.hpp"

#include <cstdint>
#include <thread>
#include <vector>

namespace {

using namespace c_test;

using Values = std::vector<std::int64_t>;

constexpr std::int64_t untouched = -77;

constexpr corymb_collective all_operations[] = {
    CORYMB_BROADCAST, CORYMB_REDUCE,   CORYMB_ALLREDUCE,      CORYMB_GATHER, CORYMB_SCATTER,
    CORYMB_ALLGATHER, CORYMB_ALLTOALL, CORYMB_REDUCE_SCATTER, CORYMB_SCAN,   CORYMB_EXSCAN,
};

corymb_status by_own_function(corymb_collective op, const void* in, void* out, std::size_t count,
                              int root, corymb_team* team) {
    const corymb_type type = CORYMB_INT64;
    switch (op) {
    case CORYMB_BROADCAST: return corymb_broadcast(out, count, type, root, team);
    case CORYMB_REDUCE: return corymb_reduce(in, out, count, type, CORYMB_SUM, root, team);
    case CORYMB_ALLREDUCE: return corymb_allreduce(in, out, count, type, CORYMB_SUM, team);
    case CORYMB_GATHER: return corymb_gather(in, out, count, type, root, team);
    case CORYMB_SCATTER: return corymb_scatter(in, out, count, type, root, team);
    case CORYMB_ALLGATHER: return corymb_allgather(in, out, count, type, team);
    case CORYMB_ALLTOALL: return corymb_alltoall(in, out, count, type, team);
    case CORYMB_REDUCE_SCATTER:
        return corymb_reduce_scatter(in, out, count, type, CORYMB_SUM, team);
    case CORYMB_SCAN: return corymb_scan(in, out, count, type, CORYMB_SUM, team);
    default: return corymb_exscan(in, out, count, type, CORYMB_SUM, team);
    }
}

/// Two calls of each shape in turn, both with other buffers each time.
void compare_with_own_functions(corymb_team* team, corymb_collective op) {
    const int rank = corymb_team_rank(team);
    const auto size = static_cast<std::size_t>(corymb_team_size(team));
    const int root = static_cast<int>(size) - 1;
    struct Kept {
        std::size_t count;
        corymb_call* call = nullptr;
    };
    std::vector<Kept> all{{0}, {1}, {5}, {3000}};
    for (Kept& kept : all) {
        expect_ok(
            corymb_call_create(op, kept.count, CORYMB_INT64, CORYMB_SUM, root, team, &kept.call));
    }
    for (int round = 0; round < 4; ++round) {
        for (const Kept& kept : all) {
            Values in(kept.count * size), out(kept.count * size, untouched);
            for (std::size_t i = 0; i < in.size(); ++i) {
                in[i] = 100 * rank + 10 * round + static_cast<std::int64_t>(i % 7);
            }
            Values expected = out;
            if (op == CORYMB_BROADCAST && rank == root) {
                out = expected = in;
            }
            const void* const from = op == CORYMB_BROADCAST ? nullptr : in.data();
            expect_ok(corymb_call_run(kept.call, from, out.data()));
            expect_ok(by_own_function(op, from, expected.data(), kept.count, root, team));
            EXPECT_EQ(out, expected) << "operation " << op << ", " << kept.count << " elements";
        }
    }
    for (Kept& kept : all) {
        expect_ok(corymb_call_free(&kept.call));
        EXPECT_EQ(kept.call, nullptr);
    }
}

TEST(KeptCallsTest, DoWhatTheirFunctionsDo) {
    for (const int size : {1, 2, 3}) {
        in_team(size, [](corymb_team* team) {
            for (const corymb_collective op : all_operations) {
                compare_with_own_functions(team, op);
            }
        });
    }
}

TEST(KeptCallsTest, MayBeInPlace) {
    in_team(2, [](corymb_team* team) {
        corymb_call* call = nullptr;
        expect_ok(
            corymb_call_create(CORYMB_ALLREDUCE, 1, CORYMB_INT64, CORYMB_SUM, 0, team, &call));
        const std::int64_t own = corymb_team_rank(team) + 1;
        std::int64_t sums[3] = {own, own, 0};
        expect_ok(corymb_call_run(call, CORYMB_IN_PLACE, &sums[0]));
        expect_ok(corymb_call_run(call, &sums[1], &sums[1]));
        expect_ok(corymb_call_run(call, &own, &sums[2]));
        EXPECT_EQ(Values(sums, sums + 3), (Values{3, 3, 3}));
        expect_invalid(corymb_call_run(call, &own, CORYMB_IN_PLACE), "CORYMB_IN_PLACE");
        expect_ok(corymb_call_free(&call));
    });
}

void take_larger(const void* left, const void* right, void* out, size_t count, corymb_type /*type*/,
                 void* /*context*/) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto one = static_cast<const std::int64_t*>(left)[i];
        const auto two = static_cast<const std::int64_t*>(right)[i];
        static_cast<std::int64_t*>(out)[i] = one < two ? two : one;
    }
}

TEST(KeptCallsTest, TakeOperatorsOfOnesOwn) {
    in_team(3, [](corymb_team* team) {
        corymb_op op = CORYMB_NO_OP;
        expect_ok(corymb_op_create(take_larger, nullptr, 1, &op));
        corymb_call* call = nullptr;
        expect_ok(corymb_call_create(CORYMB_ALLREDUCE, 1, CORYMB_INT64, op, 0, team, &call));
        for (std::int64_t round = 0; round < 3; ++round) {
            const std::int64_t own = round + corymb_team_rank(team);
            std::int64_t most = 0;
            expect_ok(corymb_call_run(call, &own, &most));
            EXPECT_EQ(most, round + 2);
        }
        expect_ok(corymb_call_free(&call));
        expect_ok(corymb_op_free(&op));
    });
}

TEST(KeptCallsTest, RefuseWhatTheirFunctionsRefuse) {
    in_team(2, [](corymb_team* team) {
        corymb_call* call = nullptr;
        const auto create = [&](corymb_collective op, corymb_type type, corymb_op with, int root) {
            return corymb_call_create(op, 2, type, with, root, team, &call);
        };
        expect_invalid(create(CORYMB_BARRIER, CORYMB_INT64, CORYMB_NO_OP, 0), "corymb_barrier");
        expect_invalid(create(static_cast<corymb_collective>(99), CORYMB_INT64, CORYMB_NO_OP, 0),
                       "no operation 99");
        expect_invalid(create(CORYMB_BROADCAST, CORYMB_INT64, CORYMB_NO_OP, 2), "root 2");
        expect_invalid(create(CORYMB_ALLREDUCE, CORYMB_INT64, CORYMB_NO_OP, 0), "operator");
        expect_invalid(create(CORYMB_ALLREDUCE, CORYMB_NO_TYPE, CORYMB_SUM, 0), "type");
        EXPECT_EQ(call, nullptr);
        expect_invalid(
            corymb_call_create(CORYMB_SCAN, 1, CORYMB_INT64, CORYMB_SUM, 0, team, nullptr),
            "call is NULL");
        expect_invalid(corymb_call_run(nullptr, nullptr, nullptr), "the call is NULL");
        // An operator and a root where there is none are not looked at.
        expect_ok(create(CORYMB_ALLGATHER, CORYMB_INT64, static_cast<corymb_op>(99), 7));
        const std::int64_t in[2] = {1, 2};
        std::int64_t out[4] = {};
        expect_ok(corymb_call_run(call, in, out));
        expect_invalid(corymb_call_run(call, nullptr, out), "the input is null");
        expect_invalid(corymb_call_run(call, out + 1, out), "overlap");
        expect_ok(corymb_call_run(call, in, out)); // It goes on as if nothing had been.
        corymb_call* const freed = call;
        expect_ok(corymb_call_free(&call));
        expect_ok(corymb_call_free(&call));
        expect_invalid(corymb_call_run(freed, in, out), "was freed");
    });
}

TEST(KeptCallsTest, EndWithTheirTeam) {
    corymb_thread_team* group = nullptr;
    expect_ok(corymb_thread_team_create(2, nullptr, &group));
    const auto life = [&](int rank) {
        corymb_team* team = nullptr;
        expect_ok(corymb_thread_team_join(group, rank, &team));
        corymb_call* calls[2] = {};
        for (corymb_call*& call : calls) {
            expect_ok(corymb_call_create(CORYMB_SCAN, 1, CORYMB_INT64, CORYMB_SUM, 0, team, &call));
        }
        const std::int64_t in = 1;
        std::int64_t out = 0;
        expect_ok(corymb_call_run(calls[1], &in, &out));
        EXPECT_EQ(out, rank + 1);
        expect_ok(corymb_call_free(&calls[0]));
        expect_ok(corymb_team_free(&team));
        expect_invalid(corymb_call_run(calls[1], &in, &out), "was freed");
    };
    std::thread other(life, 1);
    life(0);
    other.join();
    expect_ok(corymb_thread_team_free(&group));
}

} // namespace
