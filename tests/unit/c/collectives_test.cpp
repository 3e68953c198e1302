// SPDX-License-Identifier: Apache-2.0
// Every collective of the C interface in every form, against results computed by loops.
#include "forms.hpp"
#include "in_teams.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

using namespace c_test;

using Value = std::int64_t;
using Values = std::vector<Value>;

using Combining = Forms<const void*, void*, size_t, corymb_type, corymb_op>;
using Moving = Forms<const void*, void*, size_t, corymb_type>;
using Rooted = Forms<const void*, void*, size_t, corymb_type, int>;

const Forms<> barrier{corymb_barrier, corymb_ibarrier, corymb_barrier_init};
const Forms<void*, size_t, corymb_type, int> broadcast{corymb_broadcast, corymb_ibroadcast,
                                                       corymb_broadcast_init};
const Forms<const void*, void*, size_t, corymb_type, corymb_op, int> reduce{
    corymb_reduce, corymb_ireduce, corymb_reduce_init};
const Combining allreduce{corymb_allreduce, corymb_iallreduce, corymb_allreduce_init};
const Combining reduce_scatter{corymb_reduce_scatter, corymb_ireduce_scatter,
                               corymb_reduce_scatter_init};
const Combining scan{corymb_scan, corymb_iscan, corymb_scan_init};
const Combining exscan{corymb_exscan, corymb_iexscan, corymb_exscan_init};
const Rooted gather{corymb_gather, corymb_igather, corymb_gather_init};
const Rooted scatter{corymb_scatter, corymb_iscatter, corymb_scatter_init};
const Moving allgather{corymb_allgather, corymb_iallgather, corymb_allgather_init};
const Moving alltoall{corymb_alltoall, corymb_ialltoall, corymb_alltoall_init};

constexpr Value untouched = -77;

/// Element `index` of what rank `from` has for rank `to`.
Value value(int from, int to, std::size_t index) {
    return 10'000 * from + 100 * to + static_cast<Value>(index % 89);
}

struct Case {
    corymb_team* team;
    Form form;
    std::size_t count;
    int rank = corymb_team_rank(team);
    int size = corymb_team_size(team);
    int root = size - 1;

    [[nodiscard]] Values part(int from, int to) const {
        Values values(count);
        for (std::size_t i = 0; i < count; ++i) {
            values[i] = value(from, to, i);
        }
        return values;
    }
    /// Parts 0 to size - 1 of the function, one after the other.
    template <class Part>
    [[nodiscard]] Values parts(const Part& of) const {
        Values all;
        for (int part = 0; part < size; ++part) {
            const Values one = of(part);
            all.insert(all.end(), one.begin(), one.end());
        }
        return all;
    }
    [[nodiscard]] Values sum(int first, int end, int to) const {
        Values total(count);
        for (int from = first; from < end; ++from) {
            for (std::size_t i = 0; i < count; ++i) {
                total[i] += value(from, to, i);
            }
        }
        return total;
    }
    [[nodiscard]] Values nothing(int parts_held = 1) const {
        return Values(count * static_cast<std::size_t>(parts_held), untouched);
    }
    [[nodiscard]] bool is_root() const { return rank == root; }
};

void move_data(const Case& with) {
    const auto& [team, form, count, rank, size, root] = with;
    const Values own = with.part(rank, 0);
    const Values all = with.parts([&](int part) { return with.part(part, 0); });
    const Values to_all = with.parts([&](int part) { return with.part(rank, part); });

    Values data = with.is_root() ? own : with.nothing();
    broadcast(form, team, data.data(), count, CORYMB_INT64, root);
    EXPECT_EQ(data, with.part(root, 0));

    Values output = with.nothing(size);
    gather(form, team, own.data(), with.is_root() ? output.data() : nullptr, count, CORYMB_INT64,
           root);
    EXPECT_EQ(output, with.is_root() ? all : with.nothing(size));

    output = with.nothing(size);
    allgather(form, team, own.data(), output.data(), count, CORYMB_INT64);
    EXPECT_EQ(output, all);

    output = with.nothing(size);
    alltoall(form, team, to_all.data(), output.data(), count, CORYMB_INT64);
    EXPECT_EQ(output, with.parts([&](int part) { return with.part(part, rank); }));

    output = with.nothing();
    scatter(form, team, with.is_root() ? to_all.data() : nullptr, output.data(), count,
            CORYMB_INT64, root);
    EXPECT_EQ(output, with.part(root, rank));
}

void combine_data(const Case& with) {
    const auto& [team, form, count, rank, size, root] = with;
    const Values own = with.part(rank, 0);
    const Values to_all = with.parts([&](int part) { return with.part(rank, part); });

    Values output = with.nothing();
    reduce(form, team, own.data(), with.is_root() ? output.data() : nullptr, count, CORYMB_INT64,
           CORYMB_SUM, root);
    EXPECT_EQ(output, with.is_root() ? with.sum(0, size, 0) : with.nothing());

    output = with.nothing();
    allreduce(form, team, own.data(), output.data(), count, CORYMB_INT64, CORYMB_SUM);
    EXPECT_EQ(output, with.sum(0, size, 0));

    output = with.nothing();
    reduce_scatter(form, team, to_all.data(), output.data(), count, CORYMB_INT64, CORYMB_SUM);
    EXPECT_EQ(output, with.sum(0, size, rank));

    output = with.nothing();
    scan(form, team, own.data(), output.data(), count, CORYMB_INT64, CORYMB_SUM);
    EXPECT_EQ(output, with.sum(0, rank + 1, 0));

    output = with.nothing();
    exscan(form, team, own.data(), output.data(), count, CORYMB_INT64, CORYMB_SUM);
    EXPECT_EQ(output, rank == 0 ? with.nothing() : with.sum(0, rank, 0));
}

void in_place(const Case& with) {
    const auto& [team, form, count, rank, size, root] = with;
    const auto at = static_cast<std::ptrdiff_t>(count) * rank;
    const auto length = static_cast<std::ptrdiff_t>(count);
    const Values all = with.parts([&](int part) { return with.part(part, 0); });
    const Values own = with.part(rank, 0);
    const auto holding_own = [&] {
        Values parts = with.nothing(size);
        std::copy(own.begin(), own.end(), parts.begin() + at);
        return parts;
    };

    Values output = own;
    allreduce(form, team, CORYMB_IN_PLACE, output.data(), count, CORYMB_INT64, CORYMB_SUM);
    EXPECT_EQ(output, with.sum(0, size, 0));

    output = own;
    reduce(form, team, with.is_root() ? CORYMB_IN_PLACE : own.data(), output.data(), count,
           CORYMB_INT64, CORYMB_SUM, root);
    EXPECT_EQ(output, with.is_root() ? with.sum(0, size, 0) : own);

    output = own;
    scan(form, team, CORYMB_IN_PLACE, output.data(), count, CORYMB_INT64, CORYMB_SUM);
    EXPECT_EQ(output, with.sum(0, rank + 1, 0));

    output = own;
    exscan(form, team, CORYMB_IN_PLACE, output.data(), count, CORYMB_INT64, CORYMB_SUM);
    EXPECT_EQ(output, rank == 0 ? own : with.sum(0, rank, 0));

    output = holding_own();
    allgather(form, team, CORYMB_IN_PLACE, output.data(), count, CORYMB_INT64);
    EXPECT_EQ(output, all);

    output = holding_own();
    gather(form, team, with.is_root() ? CORYMB_IN_PLACE : own.data(), output.data(), count,
           CORYMB_INT64, root);
    EXPECT_EQ(output, with.is_root() ? all : holding_own());

    Values input = with.parts([&](int part) { return with.part(rank, part); });
    output = with.nothing();
    scatter(form, team, input.data(), with.is_root() ? CORYMB_IN_PLACE : output.data(), count,
            CORYMB_INT64, root);
    const Values mine(input.begin() + at, input.begin() + at + length);
    EXPECT_EQ(with.is_root() ? mine : output, with.part(root, rank));

    reduce_scatter(form, team, input.data(), CORYMB_IN_PLACE, count, CORYMB_INT64, CORYMB_SUM);
    EXPECT_EQ(Values(input.begin() + at, input.begin() + at + length), with.sum(0, size, rank));
}

class CollectivesTest : public testing::TestWithParam<Form> {};

TEST_P(CollectivesTest, GiveWhatLoopsGive) {
    for (const int size : {1, 3}) {
        in_team(size, [&](corymb_team* team) {
            barrier(GetParam(), team);
            for (const std::size_t count : {0U, 1U, 700U}) {
                const Case with{team, GetParam(), count};
                move_data(with);
                combine_data(with);
            }
        });
    }
}

TEST_P(CollectivesTest, WorkInPlace) {
    in_team(3, [&](corymb_team* team) {
        for (const std::size_t count : {1U, 700U}) {
            in_place({team, GetParam(), count});
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Forms, CollectivesTest,
                         testing::Values(Form::blocking, Form::nonblocking, Form::persistent));

} // namespace
