// SPDX-License-Identifier: Apache-2.0
// Half precision, names of types and operators, and which reduction a call gets.
#include <corymb/error.hpp>
#include <corymb/operators.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

namespace {

using corymb::BFloat16;
using corymb::ElementType;
using corymb::Errc;
using corymb::Float16;
using corymb::Operator;

template <class T, class Op>
T once(const T& a, const T& b) {
    const corymb::Reduction reduction = corymb::reduction_of<T, Op>();
    T out = a;
    reduction.combine(&a, &b, &out, 1, reduction.context);
    return out;
}

template <class F>
std::string text_of(Errc code, F call) {
    try {
        call();
    } catch (const corymb::Error& error) {
        EXPECT_EQ(error.code(), code);
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST(Float16, KeepsEveryNumberThatItHolds) {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const auto half = Float16::from_bits(static_cast<std::uint16_t>(bits));
        const auto brain = BFloat16::from_bits(static_cast<std::uint16_t>(bits));
        const bool half_is_nan = std::isnan(static_cast<float>(half));
        const bool brain_is_nan = std::isnan(static_cast<float>(brain));
        ASSERT_EQ(half_is_nan, (bits & 0x7FFFU) > 0x7C00U);
        ASSERT_EQ(brain_is_nan, (bits & 0x7FFFU) > 0x7F80U);
        ASSERT_EQ(Float16(static_cast<float>(half)).bits, half_is_nan ? 0x7E00U : bits);
        ASSERT_EQ(BFloat16(static_cast<float>(brain)).bits, brain_is_nan ? 0x7FC0U : bits);
    }
}

TEST(Float16, RoundsToNearestEven) {
    EXPECT_EQ(static_cast<float>(Float16(1.0F)), 1.0F);
    EXPECT_EQ(static_cast<float>(Float16(2049.0F)), 2048.0F);
    EXPECT_EQ(static_cast<float>(Float16(2051.0F)), 2052.0F);
    EXPECT_EQ(static_cast<float>(Float16(65519.0F)), 65504.0F);
    EXPECT_EQ(static_cast<float>(Float16(65520.0F)), std::numeric_limits<float>::infinity());
    EXPECT_EQ(static_cast<float>(Float16(0x1p-24F)), 0x1p-24F);
    EXPECT_EQ(static_cast<float>(Float16(0x1p-25F)), 0.0F);
    EXPECT_EQ(static_cast<float>(Float16(-0x1.8p-24F)), -0x1p-23F);
    EXPECT_TRUE(std::signbit(static_cast<float>(Float16(-0.0F))));
    EXPECT_EQ(static_cast<float>(BFloat16(257.0F)), 256.0F);
    EXPECT_EQ(static_cast<float>(BFloat16(259.0F)), 260.0F);
    EXPECT_EQ(static_cast<float>(BFloat16(3.4e38F)), std::numeric_limits<float>::infinity());
}

TEST(Float16, IsCombinedInFloatAndRoundedOnce) {
    const Float16 big(2048.0F);
    EXPECT_EQ(static_cast<float>(once<Float16, std::plus<>>(big, Float16(1.0F))), 2048.0F);
    EXPECT_EQ(static_cast<float>(once<Float16, std::plus<>>(big, Float16(3.0F))), 2052.0F);
    EXPECT_EQ(static_cast<float>(once<BFloat16, std::multiplies<>>(BFloat16(3.0F), BFloat16(0.5F))),
              1.5F);
}

TEST(Names, LeadBothWays) {
    for (std::size_t i = 0; i < corymb::element_type_count; ++i) {
        const auto type = static_cast<ElementType>(i);
        EXPECT_EQ(corymb::element_type_from_string(to_string(type)), type);
        EXPECT_GT(corymb::element_bytes(type), 0U);
    }
    for (std::size_t i = 0; i < corymb::operator_count; ++i) {
        const auto op = static_cast<Operator>(i);
        EXPECT_EQ(corymb::operator_from_string(to_string(op)), op);
    }
    const auto typo = text_of(
        Errc::unknown_name, [] { static_cast<void>(corymb::element_type_from_string("flot32")); });
    EXPECT_NE(typo.find("did you mean float32?"), std::string::npos) << typo;
    const auto strange =
        text_of(Errc::unknown_name, [] { static_cast<void>(corymb::operator_from_string("!")); });
    EXPECT_NE(strange.find("bitwise_xor"), std::string::npos) << strange;
}

TEST(ReductionOf, NamesTypeAndOperatorThatDoNotFit) {
    const auto text = text_of(Errc::invalid_argument, [] {
        static_cast<void>(corymb::reduction_of(ElementType::complex64, Operator::min));
    });
    EXPECT_NE(text.find("min"), std::string::npos);
    EXPECT_NE(text.find("complex64"), std::string::npos);
    EXPECT_NE(text.find("sum, prod"), std::string::npos) << text;
    const auto unknown = text_of(Errc::invalid_argument, [] {
        static_cast<void>(corymb::reduction_of(static_cast<ElementType>(200), Operator::min));
    });
    EXPECT_NE(unknown.find("200"), std::string::npos) << unknown;
    EXPECT_EQ(corymb::element_bytes(static_cast<ElementType>(200)), 0U);
}

TEST(ReductionOf, IsTheSameForATypeAndItsName) {
    const auto typed = corymb::reduction_of<double, std::plus<>>();
    const auto named = corymb::reduction_of(ElementType::float64, Operator::sum);
    EXPECT_EQ(typed.identity, named.identity);
    EXPECT_EQ(typed.element_bytes, named.element_bytes);
    EXPECT_EQ((corymb::reduction_of<long long, std::bit_or<>>().identity),
              corymb::reduction_of(ElementType::int64, Operator::bitwise_or).identity);
    EXPECT_EQ((corymb::reduction_of<unsigned char, std::plus<unsigned char>>().identity),
              corymb::reduction_of(ElementType::uint8, Operator::sum).identity);
    EXPECT_EQ((corymb::reduction_of<std::complex<float>, std::multiplies<>>().identity),
              corymb::reduction_of(ElementType::complex64, Operator::prod).identity);
    EXPECT_NE(typed.identity, (corymb::reduction_of<float, std::plus<>>().identity));
}

struct Midpoint {
    double operator()(double a, double b) const { return (a + b) / 2; }
};

TEST(ReductionOf, RunsWhatHasNoKernelElementByElement) {
    EXPECT_EQ((corymb::reduction_of<double, Midpoint>().identity), 0U);
    EXPECT_EQ((once<double, Midpoint>(1, 4)), 2.5);
    // Addition in double of integers is not the addition of integers.
    EXPECT_EQ((corymb::reduction_of<int, std::plus<double>>().identity), 0U);
    EXPECT_EQ((once<long double, std::plus<>>(1.5L, 2.0L)), 3.5L);
    EXPECT_TRUE((once<bool, std::plus<>>(true, true)));
    EXPECT_TRUE((once<double, std::logical_and<>>(0.5, 2.0)) == 1.0);
}

TEST(Extremes, DoNotDependOnTheOrder) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [a, b] : {std::pair{nan, 1.0}, {1.0, nan}, {nan, nan}}) {
        EXPECT_TRUE(std::isnan((once<double, corymb::minimum>(a, b))));
        EXPECT_TRUE(std::isnan((once<double, corymb::maximum>(a, b))));
        EXPECT_TRUE(std::isnan(corymb::minimum{}(a, b)));
        EXPECT_TRUE(std::isnan(corymb::maximum{}(a, b)));
    }
    for (const auto& [a, b] : {std::pair{0.0, -0.0}, {-0.0, 0.0}}) {
        EXPECT_TRUE(std::signbit(once<double, corymb::minimum>(a, b)));
        EXPECT_FALSE(std::signbit(once<double, corymb::maximum>(a, b)));
        EXPECT_TRUE(std::signbit(corymb::minimum{}(a, b)));
        EXPECT_FALSE(std::signbit(corymb::maximum{}(a, b)));
    }
    EXPECT_EQ(corymb::minimum{}(2, 3), 2);
    EXPECT_EQ(corymb::maximum{}(2, 3), 3);
}

TEST(Locations, TakeTheLowestIndexOfEquals) {
    using At = corymb::ValueIndex<double>;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ((once<At, corymb::min_loc>({1, 7}, {1, 3})), (At{1, 3}));
    EXPECT_EQ((once<At, corymb::min_loc>({2, 1}, {1, 3})), (At{1, 3}));
    EXPECT_EQ((once<At, corymb::max_loc>({2, 1}, {1, 3})), (At{2, 1}));
    EXPECT_EQ((once<At, corymb::max_loc>({-0.0, 4}, {0.0, 2})).index, 2);
    EXPECT_EQ((once<At, corymb::min_loc>({1, 0}, {nan, 5})).index, 5);
    EXPECT_EQ((once<At, corymb::max_loc>({nan, 6}, {nan, 5})).index, 5);
    // A value type without a kernel.
    using Odd = corymb::ValueIndex<std::uint8_t, std::uint8_t>;
    EXPECT_EQ((once<Odd, corymb::max_loc>({9, 4}, {9, 2})), (Odd{9, 2}));
}

} // namespace
