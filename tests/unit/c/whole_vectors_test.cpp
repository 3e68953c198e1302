// SPDX-License-Identifier: Apache-2.0
// Operators that are not commutative get each rank's vector whole, whatever carries it.
#include "forms.hpp"
#include "in_teams.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <tuple>
#include <vector>

namespace {

using namespace c_test;

using Number = std::uint64_t;
using Vector = std::vector<Number>;

const Forms<const void*, void*, size_t, corymb_type, corymb_op, int> reduce{
    corymb_reduce, corymb_ireduce, corymb_reduce_init};
using ToAll = Forms<const void*, void*, size_t, corymb_type, corymb_op>;
const ToAll allreduce{corymb_allreduce, corymb_iallreduce, corymb_allreduce_init};
const ToAll scan{corymb_scan, corymb_iscan, corymb_scan_init};
const ToAll exscan{corymb_exscan, corymb_iexscan, corymb_exscan_init};
const ToAll reduce_scatter{corymb_reduce_scatter, corymb_ireduce_scatter,
                           corymb_reduce_scatter_init};
const Forms<const void*, void*, const size_t*, corymb_type, corymb_op> reduce_scatterv{
    corymb_reduce_scatterv, corymb_ireduce_scatterv, corymb_reduce_scatterv_init};

/// What the operator was told to expect, and whether it was so.
struct Expected {
    std::size_t count;
    bool whole = true;
    bool aligned = true;
};

bool is_aligned(const void* data) {
    return reinterpret_cast<std::uintptr_t>(data) % alignof(Number) == 0;
}

/// The first element is a factor and the others are a point: x -> factor * x + point. One after the
/// other is associative, depends on the order, and needs the first element for all others.
void then(const void* left, const void* right, void* out, size_t count, corymb_type type,
          void* context) {
    auto& expected = *static_cast<Expected*>(context);
    expected.whole = expected.whole && count == expected.count && type == CORYMB_UINT64;
    expected.aligned = expected.aligned && is_aligned(left) && is_aligned(right) && is_aligned(out);
    const auto* f = static_cast<const Number*>(left);
    const auto* g = static_cast<const Number*>(right);
    auto* to = static_cast<Number*>(out);
    const Number factor = g[0];
    const Number both = f[0] * factor;
    for (std::size_t i = 1; i < count; ++i) {
        to[i] = f[i] * factor + g[i];
    }
    to[0] = both;
}

Vector vector_of(int rank, std::size_t count) {
    Vector own(count);
    std::iota(own.begin(), own.end(), Number{1} + static_cast<Number>(rank) * 1000);
    own[0] = 2 + static_cast<Number>(rank);
    return own;
}

/// The ranks `first` to `end` - 1, by a loop.
Vector combined(int first, int end, std::size_t count) {
    Vector all = vector_of(first, count);
    Expected ignored{count};
    for (int rank = first + 1; rank < end; ++rank) {
        const Vector next = vector_of(rank, count);
        then(all.data(), next.data(), all.data(), count, CORYMB_UINT64, &ignored);
    }
    return all;
}

/// An operator, and what it has seen by the end.
class Own {
public:
    explicit Own(std::size_t count) : expected_{count} {
        expect_ok(corymb_op_create(then, &expected_, 0, &op_));
    }
    Own(const Own&) = delete;
    Own& operator=(const Own&) = delete;
    ~Own() {
        EXPECT_TRUE(expected_.whole) << expected_.count;
        EXPECT_TRUE(expected_.aligned);
        expect_ok(corymb_op_free(&op_));
    }
    operator corymb_op() const { return op_; } // NOLINT(google-explicit-constructor)

private:
    Expected expected_;
    corymb_op op_ = CORYMB_NO_OP;
};

/// Within a line, a cell, several cells, and what is copied from rank to rank.
constexpr std::array<std::size_t, 5> lengths = {1, 7, 1000, 3001, 20'000};

class WholeVectorsTest : public testing::TestWithParam<std::tuple<int, Form>> {
protected:
    [[nodiscard]] static int size() { return std::get<0>(GetParam()); }
    [[nodiscard]] static Form form() { return std::get<1>(GetParam()); }
};

TEST_P(WholeVectorsTest, OfOperationsOnOnePart) {
    in_team(size(), [](corymb_team* team) {
        const int rank = corymb_team_rank(team);
        const int root = size() - 1;
        for (const std::size_t count : lengths) {
            const Own op(count);
            const Vector in = vector_of(rank, count);
            Vector out(count);
            allreduce(form(), team, in.data(), out.data(), count, CORYMB_UINT64, op);
            EXPECT_EQ(out, combined(0, size(), count)) << count;
            reduce(form(), team, in.data(), out.data(), count, CORYMB_UINT64, op, root);
            if (rank == root) {
                EXPECT_EQ(out, combined(0, size(), count)) << count;
            }
            scan(form(), team, in.data(), out.data(), count, CORYMB_UINT64, op);
            EXPECT_EQ(out, combined(0, rank + 1, count)) << count;
            exscan(form(), team, in.data(), out.data(), count, CORYMB_UINT64, op);
            if (rank > 0) {
                EXPECT_EQ(out, combined(0, rank, count)) << count;
            }
            out = in;
            allreduce(form(), team, CORYMB_IN_PLACE, out.data(), count, CORYMB_UINT64, op);
            EXPECT_EQ(out, combined(0, size(), count)) << count;
        }
    });
}

TEST_P(WholeVectorsTest, OfReduceScatter) {
    in_team(size(), [](corymb_team* team) {
        const auto rank = static_cast<std::size_t>(corymb_team_rank(team));
        const auto ranks = static_cast<std::size_t>(size());
        for (const std::size_t count : lengths) {
            const std::size_t all = count * ranks;
            const Own op(all);
            const Vector in = vector_of(static_cast<int>(rank), all);
            const Vector whole = combined(0, size(), all);
            Vector out(count);
            reduce_scatter(form(), team, in.data(), out.data(), count, CORYMB_UINT64, op);
            EXPECT_EQ(std::memcmp(out.data(), whole.data() + rank * count, 8 * count), 0) << count;
        }
    });
}

TEST_P(WholeVectorsTest, OfPartsThatDifferInLength) {
    in_team(size(), [](corymb_team* team) {
        const auto rank = static_cast<std::size_t>(corymb_team_rank(team));
        const auto ranks = static_cast<std::size_t>(size());
        std::vector<std::size_t> counts(ranks, 700);
        counts[0] = 3;
        counts[ranks - 1] = 0;
        const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
        const auto before = std::accumulate(
            counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(rank), std::size_t{0});
        const Own op(all);
        const Vector in = vector_of(static_cast<int>(rank), all);
        const Vector whole = combined(0, size(), all);
        Vector out(counts[rank] + 1);
        reduce_scatterv(form(), team, in.data(), out.data(), counts.data(), CORYMB_UINT64, op);
        EXPECT_EQ(std::memcmp(out.data(), whole.data() + before, 8 * counts[rank]), 0);
        EXPECT_EQ(out.back(), 0U);
    });
}

TEST_P(WholeVectorsTest, AlsoWhereNothingIsAligned) {
    in_team(size(), [](corymb_team* team) {
        constexpr std::size_t count = 2000;
        const Own op(count);
        const Vector own = vector_of(corymb_team_rank(team), count);
        std::vector<std::byte> in(8 * count + 1);
        std::vector<std::byte> out(8 * count + 1);
        std::memcpy(in.data() + 1, own.data(), 8 * count);
        allreduce(form(), team, in.data() + 1, out.data() + 1, count, CORYMB_UINT64, op);
        EXPECT_EQ(std::memcmp(out.data() + 1, combined(0, size(), count).data(), 8 * count), 0);
    });
}

INSTANTIATE_TEST_SUITE_P(Teams, WholeVectorsTest,
                         testing::Combine(testing::Values(2, 3, 5, 8),
                                          testing::Values(Form::blocking, Form::nonblocking,
                                                          Form::persistent)));

/// A vector that lies in pieces: packed before, and unpacked afterwards, around what the library
/// does itself.
struct Pieces {
    Vector elements;
    static void pack(void* context, void* to) {
        const Vector& from = static_cast<Pieces*>(context)->elements;
        std::memcpy(to, from.data(), 8 * from.size());
    }
    static void unpack(void* context, const void* from) {
        Vector& to = static_cast<Pieces*>(context)->elements;
        std::memcpy(to.data(), from, 8 * to.size());
    }
    corymb_packed layout() { return {elements.size(), pack, unpack, this}; }
};

TEST(PackedWholeVectorsTest, InEveryForm) {
    constexpr int size = 3;
    in_team(size, [](corymb_team* team) {
        constexpr std::size_t count = 500;
        const auto rank = static_cast<std::size_t>(corymb_team_rank(team));
        const Own op(count * size);
        Pieces in{vector_of(static_cast<int>(rank), count * size)};
        const Vector whole = combined(0, size, count * size);
        const auto expect_part = [&](Pieces& out) {
            EXPECT_EQ(std::memcmp(out.elements.data(), whole.data() + rank * count, 8 * count), 0);
            out.elements.assign(count, 0);
        };
        Pieces out{Vector(count)};
        const corymb_packed from = in.layout();
        const corymb_packed to = out.layout();
        const corymb_operation operation =
            packed(CORYMB_REDUCE_SCATTER, &from, &to, CORYMB_UINT64, op, 0);
        expect_ok(corymb_run(&operation, team));
        expect_part(out);
        corymb_request* request = nullptr;
        expect_ok(corymb_begin(&operation, team, &request));
        expect_ok(corymb_wait(&request));
        expect_part(out);
        expect_ok(corymb_prepare(&operation, team, &request));
        for (int round = 0; round < 2; ++round) {
            expect_ok(corymb_start(request));
            expect_ok(corymb_wait(&request));
            expect_part(out);
        }
        expect_ok(corymb_request_free(&request));
    });
}

} // namespace
