// SPDX-License-Identifier: Apache-2.0
// The order of ranks in what combines, and what is known to need none.
#include "team/order_rounds.hpp"

#include <corymb/operators.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <cstddef>
#include <mutex>
#include <numeric>
#include <set>
#include <vector>

namespace {

using namespace corymb;
using order_test::Join;
using order_test::Matrix;

class OrderTest : public testing::TestWithParam<int> {};

TEST_P(OrderTest, OperatorsThatSayNothingGetTheRanksInTheirOrder) {
    for (const std::size_t count : {3U, 700U}) {
        threads(GetParam(), [&](Team& team) { order_test::run_all(team, count); });
    }
}

TEST_P(OrderTest, AlsoOfLongVectors) {
    threads(GetParam(), [](Team& team) {
        order_test::Rounds<Matrix, std::multiplies<>, Team>(team, {}, 20'000)
            .run(order_test::Mode::blocking);
    });
}

INSTANTIATE_TEST_SUITE_P(Ranks, OrderTest, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9));

struct Gcd {
    int operator()(int a, int b) const { return std::gcd(a, b); }
};

struct Celsius {
    double value;
    friend Celsius operator+(Celsius a, Celsius b) { return {a.value + b.value}; }
    friend bool operator<(Celsius a, Celsius b) { return a.value < b.value; }
};

template <class T, class Op>
constexpr bool commutes(const Op& op) {
    return reduction_of<T>(op).commutative;
}

TEST(CommutativeTest, OnlyWhatIsKnownOrPromised) {
    EXPECT_TRUE((commutes<double>(std::plus<>())));
    EXPECT_TRUE((commutes<double>(std::plus<double>())));
    EXPECT_TRUE((commutes<long double>(std::multiplies<>()))); // No kernel has it.
    EXPECT_TRUE((commutes<std::complex<double>>(std::multiplies<>())));
    EXPECT_TRUE((commutes<bool>(std::logical_or<>())));
    EXPECT_TRUE((commutes<unsigned>(std::bit_xor<>())));
    EXPECT_TRUE((commutes<float>(minimum())));
    EXPECT_TRUE((commutes<ValueIndex<float>>(max_loc())));
    EXPECT_FALSE((commutes<int>(Gcd())));
    EXPECT_FALSE((commutes<int>([](int a, int b) { return a + b; })));
    EXPECT_FALSE((commutes<Matrix>(std::multiplies<>())));
    EXPECT_FALSE((commutes<Celsius>(std::plus<>())));
    EXPECT_FALSE((commutes<Celsius>(minimum()))); // Of equals the one of the lower rank.
    EXPECT_FALSE((commutes<double>(std::minus<>())));
    EXPECT_TRUE((commutes<int>(commutative(Gcd()))));
    EXPECT_TRUE((commutes<int>(commutative([](int a, int b) { return a + b; }))));
    EXPECT_TRUE((commutes<Matrix>(commutative(&order_test::product))));
}

TEST(CommutativeTest, APromiseChangesNothingElse) {
    const auto known = reduction_of<double>(commutative(std::plus<>()));
    EXPECT_EQ(known.identity, reduction_of<double>(std::plus<>()).identity);
    threads(5, [](Team& team) {
        const std::vector<int> in(100, 12 * (team.rank() + 1));
        std::vector<int> out(100);
        team.allreduce(in, out, commutative(Gcd()));
        EXPECT_EQ(out, std::vector<int>(100, 12));
        const int most = 50;
        team.iallreduce(in, out,
                        commutative([most](int a, int b) { return std::min(most, a + b); }))
            .wait();
        EXPECT_EQ(out, std::vector<int>(100, most));
    });
}

/// What an operator was called with.
struct Calls {
    std::mutex mutex;
    std::set<std::pair<int, int>> seen;
};

TEST(CallOrderTest, TheLeftOperandIsOfLowerRanks) {
    Calls calls;
    threads(6, [&](Team& team) {
        const auto highest = [&calls](int left, int right) {
            const std::lock_guard lock(calls.mutex);
            calls.seen.emplace(left, right);
            return right;
        };
        EXPECT_EQ(team.allreduce(team.rank(), highest), 5);
        int out = -1;
        team.scan(std::vector<int>{team.rank()}, std::span(&out, 1), highest);
        EXPECT_EQ(out, team.rank());
    });
    EXPECT_GE(calls.seen.size(), 5U);
    for (const auto& [left, right] : calls.seen) {
        EXPECT_LT(left, right);
    }
}

TEST(CallOrderTest, RanksThatDifferInItAreToldSo) {
    std::vector<std::string> texts(2);
    EXPECT_THROW(threads(2,
                         [&](Team& team) {
                             try {
                                 if (team.rank() == 0) {
                                     static_cast<void>(team.allreduce(1, Gcd()));
                                 } else {
                                     static_cast<void>(team.allreduce(1, commutative(Gcd())));
                                 }
                                 team.barrier();
                             } catch (const Error& error) {
                                 texts[static_cast<std::size_t>(team.rank())] = error.what();
                                 throw;
                             }
                         }),
                 Error);
    EXPECT_NE((texts[0] + texts[1]).find("in rank order"), std::string::npos) << texts[0];
}

} // namespace
