// SPDX-License-Identifier: Apache-2.0
// Types and operators of the C interface, the user's own among them.
#include "in_teams.hpp"

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace {

using namespace c_test;

template <class T>
void expect_reduced(corymb_team* team, corymb_type type, corymb_op op, T own, T expected) {
    EXPECT_EQ(corymb_type_size(type), sizeof(T));
    T result{};
    expect_ok(corymb_allreduce(&own, &result, 1, type, op, team));
    EXPECT_EQ(result, expected);
}

struct Located {
    double value;
    std::int64_t index;
    bool operator==(const Located&) const = default;
};

TEST(OperatorsTest, EveryTypeIsReduced) {
    in_team(2, [](corymb_team* team) {
        const int rank = corymb_team_rank(team);
        const auto one = [&]<class T>(T, corymb_type type) {
            expect_reduced<T>(team, type, CORYMB_SUM, static_cast<T>(rank + 1), static_cast<T>(3));
            expect_reduced<T>(team, type, CORYMB_MAX, static_cast<T>(rank + 1), static_cast<T>(2));
            expect_reduced<T>(team, type, CORYMB_PROD, static_cast<T>(rank + 2), static_cast<T>(6));
        };
        one(std::int8_t{}, CORYMB_INT8);
        one(std::uint8_t{}, CORYMB_BYTE);
        one(std::int16_t{}, CORYMB_INT16);
        one(std::uint16_t{}, CORYMB_UINT16);
        one(int{}, CORYMB_INT);
        one(std::uint32_t{}, CORYMB_UINT32);
        one(long{}, CORYMB_LONG);
        one(std::size_t{}, CORYMB_SIZE);
        one(float{}, CORYMB_FLOAT);
        one(double{}, CORYMB_DOUBLE);
        expect_reduced<std::uint8_t>(team, CORYMB_BOOL, CORYMB_LOGICAL_AND,
                                     static_cast<std::uint8_t>(rank), 0);
        expect_reduced<std::uint16_t>(team, CORYMB_FLOAT16, CORYMB_SUM, 0x3C00, 0x4000); // 1 + 1
        expect_reduced<std::complex<double>>(team, CORYMB_COMPLEX128, CORYMB_SUM, {1.0 * rank, 2.0},
                                             {1.0, 4.0});
        expect_reduced<unsigned>(team, CORYMB_UINT32, CORYMB_BITWISE_OR, 1U << rank, 3U);
        expect_reduced<Located>(team, CORYMB_FLOAT64_INDEX64, CORYMB_MIN_LOC, {5.0 - rank, rank},
                                {4.0, 1});
    });
}

TEST(OperatorsTest, WhatIsNotDefinedIsRefused) {
    EXPECT_TRUE(corymb_is_defined(CORYMB_DOUBLE, CORYMB_SUM));
    EXPECT_FALSE(corymb_is_defined(CORYMB_DOUBLE, CORYMB_BITWISE_AND));
    EXPECT_FALSE(corymb_is_defined(corymb_type_of_bytes(24), CORYMB_SUM));
    EXPECT_FALSE(corymb_is_defined(CORYMB_DOUBLE, CORYMB_NO_OP));
    EXPECT_EQ(corymb_type_size(corymb_type_of_bytes(24)), 24U);
    EXPECT_EQ(corymb_type_of_bytes(0), CORYMB_NO_TYPE);
    EXPECT_EQ(corymb_type_of_bytes(SIZE_MAX), CORYMB_NO_TYPE);
    EXPECT_EQ(corymb_type_size(CORYMB_NO_TYPE), 0U);
    in_team(1, [](corymb_team* team) {
        double data[3] = {};
        expect_invalid(corymb_allreduce(data, data + 1, 1, CORYMB_DOUBLE, CORYMB_BITWISE_AND, team),
                       "bitwise_and");
        expect_invalid(corymb_allreduce(data, data + 1, 1, CORYMB_NO_TYPE, CORYMB_SUM, team),
                       "no element type -1");
        expect_invalid(
            corymb_allreduce(data, data + 1, 1, static_cast<corymb_type>(24), CORYMB_SUM, team),
            "no element type 24");
        expect_invalid(
            corymb_allreduce(data, data + 1, 1, CORYMB_DOUBLE, static_cast<corymb_op>(12), team),
            "no operator 12");
        expect_invalid(
            corymb_allreduce(data, data + 1, 1, corymb_type_of_bytes(8), CORYMB_SUM, team),
            "corymb_op_create");
    });
}

/// x -> factor * x + term; (f (+) g)(x) = g(f(x)) is associative and depends on the order.
struct Affine {
    std::uint64_t factor, term;
    std::uint32_t calls; ///< Its width keeps the size from being a power of two.
    std::uint32_t unused;
    bool operator==(const Affine&) const = default;
};

struct Seen {
    bool aligned = true;
    corymb_type type = CORYMB_NO_TYPE;
};

void compose(const void* left, const void* right, void* out, size_t count, corymb_type type,
             void* context) {
    auto& seen = *static_cast<Seen*>(context);
    for (const void* pointer : {left, right, static_cast<const void*>(out)}) {
        seen.aligned =
            seen.aligned && reinterpret_cast<std::uintptr_t>(pointer) % alignof(Affine) == 0;
    }
    seen.type = type;
    const auto* f = static_cast<const Affine*>(left);
    const auto* g = static_cast<const Affine*>(right);
    auto* to = static_cast<Affine*>(out);
    for (size_t i = 0; i < count; ++i) {
        to[i] = {g[i].factor * f[i].factor, g[i].factor * f[i].term + g[i].term,
                 f[i].calls + g[i].calls, 0};
    }
}

Affine own_function(int rank, std::size_t index) {
    return {2U + static_cast<unsigned>(rank), 1U + index, 1, 0};
}

TEST(OperatorsTest, OperatorsOfOnesOwnKeepTheOrder) {
    constexpr int size = 3;
    in_team(size, [](corymb_team* team) {
        const corymb_type type = corymb_type_of_bytes(sizeof(Affine));
        Seen seen;
        corymb_op op = CORYMB_NO_OP;
        expect_ok(corymb_op_create(compose, &seen, 0, &op));
        EXPECT_TRUE(corymb_is_defined(type, op));
        for (const std::size_t count : {1U, 2U, 1000U}) {
            // One byte off, so that nothing is aligned by chance.
            std::vector<std::byte> memory(2 * (count * sizeof(Affine) + 8));
            std::byte* const input = memory.data() + 1;
            std::byte* const output = memory.data() + memory.size() / 2 + 1;
            std::vector<Affine> expected(count);
            for (std::size_t i = 0; i < count; ++i) {
                const Affine own = own_function(corymb_team_rank(team), i);
                std::memcpy(input + i * sizeof own, &own, sizeof own);
                expected[i] = own_function(0, i);
                for (int rank = 1; rank < size; ++rank) {
                    const Affine next = own_function(rank, i);
                    Seen ignored;
                    compose(&expected[i], &next, &expected[i], 1, type, &ignored);
                }
            }
            corymb_request* request = nullptr;
            expect_ok(corymb_iallreduce(input, output, count, type, op, team, &request));
            expect_ok(corymb_wait(&request));
            EXPECT_EQ(std::memcmp(output, expected.data(), count * sizeof(Affine)), 0);
            std::memset(output, 0, count * sizeof(Affine));
            expect_ok(corymb_allreduce(input, output, count, type, op, team));
            EXPECT_EQ(std::memcmp(output, expected.data(), count * sizeof(Affine)), 0);
        }
        EXPECT_TRUE(seen.aligned);
        int type_seen = seen.type; // Not every rank combines.
        expect_ok(corymb_allreduce(CORYMB_IN_PLACE, &type_seen, 1, CORYMB_INT, CORYMB_MAX, team));
        EXPECT_EQ(type_seen, type);
        expect_ok(corymb_op_free(&op));
    });
}

TEST(OperatorsTest, FreedOperatorsAreNoticed) {
    const auto add = [](const void*, const void*, void*, size_t, corymb_type, void*) {
    };
    corymb_op op = CORYMB_NO_OP;
    expect_invalid(corymb_op_create(nullptr, nullptr, 1, &op), "combine is NULL");
    expect_invalid(corymb_op_create(add, nullptr, 1, nullptr), "op is NULL");
    expect_ok(corymb_op_create(add, nullptr, 1, &op));
    corymb_op copy = op;
    expect_ok(corymb_op_free(&op));
    EXPECT_EQ(op, CORYMB_NO_OP);
    expect_invalid(corymb_op_free(&copy), "freed already");
    corymb_op sum = CORYMB_SUM;
    expect_invalid(corymb_op_free(&sum), "of the library");
    EXPECT_EQ(sum, CORYMB_SUM);
    in_team(1, [&](corymb_team* team) {
        double data[2] = {};
        expect_invalid(corymb_reduce(data, data + 1, 1, CORYMB_DOUBLE, copy, 0, team), "freed");
    });
}

/// Throws on the rank that holds `context`.
void throw_if_asked(const void* left, const void*, void* out, size_t count, corymb_type type,
                    void* context) {
    if (context != nullptr) {
        throw std::runtime_error("no sum today");
    }
    std::memmove(out, left, count * corymb_type_size(type));
}

class ThrowingOperatorTest : public testing::TestWithParam<std::size_t> {};

TEST_P(ThrowingOperatorTest, BreaksTheTeamForEverybodyWhoGetsItsResult) {
    in_team(3, [&](corymb_team* team) {
        int marker = 0;
        // In an allreduce of three ranks each result depends on a combination of every rank, or of
        // ranks that got it from there; all throw, so that no plan can get around it.
        corymb_op op = CORYMB_NO_OP;
        expect_ok(corymb_op_create(throw_if_asked, &marker, 1, &op));
        std::vector<double> input(GetParam(), 1.0);
        std::vector<double> output(GetParam());
        expect_refused(
            corymb_allreduce(input.data(), output.data(), GetParam(), CORYMB_DOUBLE, op, team),
            CORYMB_TEAM_BROKEN, "operator threw an exception: no sum today");
        ASSERT_EQ(blamed_ranks().size(), 1U);
        expect_refused(corymb_barrier(team), CORYMB_TEAM_BROKEN, "no sum today");
        expect_ok(corymb_op_free(&op));
    });
}

TEST_P(ThrowingOperatorTest, AlsoInRequests) {
    in_team(3, [&](corymb_team* team) {
        int marker = 0;
        corymb_op op = CORYMB_NO_OP;
        expect_ok(corymb_op_create(throw_if_asked, &marker, 1, &op));
        std::vector<double> input(GetParam(), 1.0);
        std::vector<double> output(GetParam());
        corymb_request* request = nullptr;
        corymb_status status = corymb_iallreduce(input.data(), output.data(), GetParam(),
                                                 CORYMB_DOUBLE, op, team, &request);
        if (status == CORYMB_OK) { // Else another rank's operator has thrown before.
            status = corymb_wait(&request);
        }
        expect_refused(status, CORYMB_TEAM_BROKEN, "no sum today");
        EXPECT_EQ(request, nullptr);
        expect_ok(corymb_op_free(&op));
    });
}

INSTANTIATE_TEST_SUITE_P(Sizes, ThrowingOperatorTest, testing::Values(1U, 20'000U));

} // namespace
