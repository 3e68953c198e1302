// SPDX-License-Identifier: Apache-2.0
// Collectives of the C interface whose parts differ in length.
#include "forms.hpp"
#include "in_teams.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using namespace c_test;

using Value = std::int64_t;
using Values = std::vector<Value>;
using Lengths = std::array<size_t, 3>;

const Forms<const void*, size_t, void*, const size_t*, const size_t*, corymb_type, int> gatherv{
    corymb_gatherv, corymb_igatherv, corymb_gatherv_init};
const Forms<const void*, const size_t*, const size_t*, void*, size_t, corymb_type, int> scatterv{
    corymb_scatterv, corymb_iscatterv, corymb_scatterv_init};
const Forms<const void*, size_t, void*, const size_t*, const size_t*, corymb_type> allgatherv{
    corymb_allgatherv, corymb_iallgatherv, corymb_allgatherv_init};
const Forms<const void*, const size_t*, const size_t*, void*, const size_t*, const size_t*,
            corymb_type>
    alltoallv{corymb_alltoallv, corymb_ialltoallv, corymb_alltoallv_init};
const Forms<const void*, void*, const size_t*, corymb_type, corymb_op> reduce_scatterv{
    corymb_reduce_scatterv, corymb_ireduce_scatterv, corymb_reduce_scatterv_init};

constexpr Lengths counts = {2, 0, 700};
constexpr Lengths spread = {710, 5, 3}; ///< Parts in another order, with gaps.
constexpr std::size_t room = 720;
constexpr Value untouched = -5;

Values part(int from, std::size_t count) {
    Values values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = 1000 * (from + 1) + static_cast<Value>(i % 71);
    }
    return values;
}

void put(Values& into, std::size_t at, const Values& what) {
    std::copy(what.begin(), what.end(), into.begin() + static_cast<std::ptrdiff_t>(at));
}

/// Every rank's part at its displacement, or one after the other.
Values laid_out(const size_t* displacements) {
    Values all(room, untouched);
    std::size_t next = 0;
    for (int from = 0; from < 3; ++from) {
        const std::size_t count = counts[static_cast<std::size_t>(from)];
        put(all, displacements == nullptr ? next : displacements[from], part(from, count));
        next += count;
    }
    return all;
}

class VectorTest : public testing::TestWithParam<Form> {};

TEST_P(VectorTest, PartsOfDifferentLengthsMove) {
    in_team(3, [](corymb_team* team) {
        const int rank = corymb_team_rank(team);
        const std::size_t count = counts[static_cast<std::size_t>(rank)];
        const Values own = part(rank, count);
        const bool is_root = rank == 2;
        for (const size_t* const displacements :
             {static_cast<const size_t*>(nullptr), static_cast<const size_t*>(spread.data())}) {
            Values output(room, untouched);
            allgatherv(GetParam(), team, own.data(), count, output.data(), counts.data(),
                       displacements, CORYMB_INT64);
            EXPECT_EQ(output, laid_out(displacements));

            output.assign(room, untouched);
            gatherv(GetParam(), team, own.data(), count, is_root ? output.data() : nullptr,
                    is_root ? counts.data() : nullptr, displacements, CORYMB_INT64, 2);
            EXPECT_EQ(output, is_root ? laid_out(displacements) : Values(room, untouched));

            const Values all = laid_out(displacements);
            output.assign(count, untouched);
            scatterv(GetParam(), team, is_root ? all.data() : nullptr,
                     is_root ? counts.data() : nullptr, displacements, output.data(), count,
                     CORYMB_INT64, 2);
            EXPECT_EQ(output, own);
        }
    });
}

TEST_P(VectorTest, AllToAllAndReduceScatter) {
    in_team(3, [](corymb_team* team) {
        const int rank = corymb_team_rank(team);
        const auto own = static_cast<std::size_t>(rank);
        // Rank p sends p + q + 1 elements to rank q.
        const Lengths lengths = {own + 1, own + 2, own + 3};
        const Lengths places = {own, 20, 40};
        Values input(room, untouched);
        Values expected(room, untouched);
        std::size_t next = 0;
        for (std::size_t q = 0; q < 3; ++q) {
            put(input, places[q], part(rank * 10 + static_cast<int>(q), lengths[q]));
            put(expected, next, part(static_cast<int>(q) * 10 + rank, lengths[q]));
            next += lengths[q];
        }
        Values output(room, untouched);
        alltoallv(GetParam(), team, input.data(), lengths.data(), places.data(), output.data(),
                  lengths.data(), nullptr, CORYMB_INT64);
        EXPECT_EQ(output, expected);

        const Values all = laid_out(nullptr);
        output.assign(counts[own], untouched);
        reduce_scatterv(GetParam(), team, all.data(), output.data(), counts.data(), CORYMB_INT64,
                        CORYMB_SUM);
        Values three_times = part(rank, counts[own]);
        for (Value& value : three_times) {
            value *= 3;
        }
        EXPECT_EQ(output, three_times);
    });
}

TEST_P(VectorTest, WorkInPlace) {
    in_team(3, [](corymb_team* team) {
        const int rank = corymb_team_rank(team);
        const auto own = static_cast<std::size_t>(rank);
        const bool is_root = rank == 2;
        Values data(room, untouched);
        put(data, spread[own], part(rank, counts[own]));
        allgatherv(GetParam(), team, CORYMB_IN_PLACE, 0, data.data(), counts.data(), spread.data(),
                   CORYMB_INT64);
        EXPECT_EQ(data, laid_out(spread.data()));

        const Values mine = part(rank, counts[own]);
        data.assign(room, untouched);
        put(data, spread[own], mine);
        gatherv(GetParam(), team, is_root ? CORYMB_IN_PLACE : mine.data(),
                is_root ? 0 : mine.size(), data.data(), counts.data(), spread.data(), CORYMB_INT64,
                2);
        if (is_root) {
            EXPECT_EQ(data, laid_out(spread.data()));
        }

        data = laid_out(nullptr);
        reduce_scatterv(GetParam(), team, data.data(), CORYMB_IN_PLACE, counts.data(), CORYMB_INT64,
                        CORYMB_MAX);
        EXPECT_EQ(data, laid_out(nullptr)); // All ranks have the same.

        Values output(counts[own], untouched);
        scatterv(GetParam(), team, data.data(), counts.data(), nullptr,
                 is_root ? CORYMB_IN_PLACE : output.data(), counts[own], CORYMB_INT64, 2);
        EXPECT_EQ(is_root ? mine : output, mine);
    });
}

INSTANTIATE_TEST_SUITE_P(Forms, VectorTest,
                         testing::Values(Form::blocking, Form::nonblocking, Form::persistent));

TEST(VectorErrorsTest, WhatDoesNotFitIsRefused) {
    in_team(3, [](corymb_team* team) {
        Values data(room);
        Values output(room);
        const Lengths overlapping = {0, 0, 1};
        const Lengths too_many = {1, 1, SIZE_MAX / 4};
        corymb_request* request = nullptr;
        expect_invalid(
            corymb_allgatherv(data.data(), 1, output.data(), nullptr, nullptr, CORYMB_INT64, team),
            "counts is NULL");
        expect_invalid(corymb_ialltoallv(data.data(), counts.data(), nullptr, output.data(),
                                         nullptr, nullptr, CORYMB_INT64, team, &request),
                       "counts is NULL");
        EXPECT_EQ(request, nullptr);
        expect_invalid(corymb_reduce_scatterv(data.data(), output.data(), nullptr, CORYMB_INT64,
                                              CORYMB_SUM, team),
                       "counts is NULL");
        expect_invalid(corymb_allgatherv(data.data(), 2, output.data(), counts.data(),
                                         overlapping.data(), CORYMB_INT64, team),
                       corymb_team_rank(team) == 0 ? "overlap" : "");
        expect_invalid(corymb_alltoallv(data.data(), too_many.data(), nullptr, output.data(),
                                        too_many.data(), nullptr, CORYMB_INT64, team),
                       "elements");
        expect_invalid(corymb_alltoallv(CORYMB_IN_PLACE, counts.data(), nullptr, output.data(),
                                        counts.data(), nullptr, CORYMB_INT64, team),
                       "CORYMB_IN_PLACE");
        expect_ok(corymb_barrier(team));
    });
}

} // namespace
