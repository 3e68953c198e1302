// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16: converted to float, combined there, rounded once to nearest even. Float has
// more than twice their precision, so a sum or product is the one that is correctly rounded.
#include "reduce/kernel_table.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/halves.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file again for each instruction set.
#include "reduce/floats-inl.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace corymb::reduce::HWY_NAMESPACE {
namespace {

/// NaN becomes the quiet positive one, whose upper bits are the NaN of both half types.
template <class D, class V>
HWY_INLINE V with_one_nan(D d, V v) {
    return unless_nan(d, v, v, v);
}

struct BFloat {
    using Scalar = BFloat16;
    template <class D32, class V16>
    static HWY_INLINE auto widened(D32 d32, V16 v) {
        const hn::RebindToUnsigned<D32> u32;
        return hn::BitCast(d32, hn::ShiftLeft<16>(hn::PromoteTo(u32, v)));
    }
    template <class D16, class D32, class V32>
    static HWY_INLINE auto rounded(D16 d16, D32 d32, V32 v) {
        const hn::RebindToUnsigned<D32> u32;
        const hn::RebindToSigned<D32> i32;
        const auto bits = hn::BitCast(u32, with_one_nan(d32, v));
        const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u32, 1U));
        const auto sum = hn::Add(bits, hn::Add(odd, hn::Set(u32, 0x7FFFU)));
        // At most 0xFFFF, so that the saturating conversion of signed integers keeps it.
        return hn::DemoteTo(d16, hn::BitCast(i32, hn::ShiftRight<16>(sum)));
    }
};

#if (HWY_ARCH_X86 && HWY_TARGET < HWY_SSE4) || HWY_ARCH_ARM_A64
// The processor's own conversion; both directions are exact or rounded to nearest even.
struct Half {
    using Scalar = Float16;
    template <class D32, class V16>
    static HWY_INLINE auto widened(D32 d32, V16 v) {
        const hn::Rebind<hwy::float16_t, D32> f16;
        return hn::PromoteTo(d32, hn::BitCast(f16, v));
    }
    template <class D16, class D32, class V32>
    static HWY_INLINE auto rounded(D16 d16, D32 d32, V32 v) {
        const hn::Rebind<hwy::float16_t, D32> f16;
        return hn::BitCast(d16, hn::DemoteTo(f16, with_one_nan(d32, v)));
    }
};
#else
// Widens and rounds as Float16 (corymb/types.hpp), with selections in place of branches.
struct Half {
    using Scalar = Float16;
    template <class D32, class V16>
    static HWY_INLINE auto widened(D32 d32, V16 v) {
        const hn::RebindToUnsigned<D32> u32;
        const auto bits = hn::PromoteTo(u32, v);
        const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(u32, 0x8000U)));
        const auto shifted = hn::ShiftLeft<13>(hn::And(bits, hn::Set(u32, 0x7FFFU)));
        const auto all_ones = hn::Set(u32, 0x7C00U << 13U);
        const auto exponent = hn::And(shifted, all_ones);
        const auto normal = hn::Add(shifted, hn::Set(u32, (127U - 15U) << 23U));
        const auto special = hn::Add(normal, hn::Set(u32, (128U - 16U) << 23U));
        const auto scaled = hn::BitCast(d32, hn::Add(normal, hn::Set(u32, 1U << 23U)));
        const auto magic = hn::BitCast(d32, hn::Set(u32, 113U << 23U));
        const auto small = hn::BitCast(u32, hn::Sub(scaled, magic));
        const auto wide =
            hn::IfThenElse(hn::Eq(exponent, all_ones), special,
                           hn::IfThenElse(hn::Eq(exponent, hn::Zero(u32)), small, normal));
        return hn::BitCast(d32, hn::Or(wide, sign));
    }
    template <class D16, class D32, class V32>
    static HWY_INLINE auto rounded(D16 d16, D32 d32, V32 v) {
        const hn::RebindToUnsigned<D32> u32;
        const hn::RebindToSigned<D32> i32;
        const auto all = hn::BitCast(u32, with_one_nan(d32, v));
        const auto sign = hn::And(hn::ShiftRight<16>(all), hn::Set(u32, 0x8000U));
        const auto wide = hn::And(all, hn::Set(u32, 0x7FFFFFFFU));
        const auto wide_i = hn::BitCast(i32, wide);
        const auto magic = hn::Set(u32, ((127U - 15U) + (23U - 10U) + 1U) << 23U);
        const auto small_sum = hn::Add(hn::BitCast(d32, wide), hn::BitCast(d32, magic));
        const auto small = hn::Sub(hn::BitCast(u32, small_sum), magic);
        const auto odd = hn::And(hn::ShiftRight<13>(wide), hn::Set(u32, 1U));
        const auto biased = hn::Sub(wide, hn::Set(u32, ((127U - 15U) << 23U) - 0xFFFU));
        const auto normal = hn::ShiftRight<13>(hn::Add(biased, odd));
        auto half = hn::IfThenElse(hn::RebindMask(u32, hn::Lt(wide_i, hn::Set(i32, 113 << 23))),
                                   small, normal);
        half = hn::IfThenElse(hn::RebindMask(u32, hn::Ge(wide_i, hn::Set(i32, (127 + 16) << 23))),
                              hn::Set(u32, 0x7C00U), half);
        half = hn::IfThenElse(hn::RebindMask(u32, hn::Gt(wide_i, hn::Set(i32, 0x7F800000))),
                              hn::Set(u32, 0x7E00U), half);
        return hn::DemoteTo(d16, hn::BitCast(i32, hn::Or(half, sign)));
    }
};
#endif

/// Lanes are 16 bits wide; a vector holds as many as there are floats in a whole one.
template <class Type, class Op>
struct OfHalf {
    using Lane = std::uint16_t;
    using Element = typename Type::Scalar;
    static constexpr std::size_t lanes_per_element = 1;
    template <std::size_t MaxBytes>
    using Tag = hn::Rebind<std::uint16_t, hn::CappedTag<float, MaxBytes / sizeof(float)>>;

    template <class D, class V>
    static HWY_INLINE V vector(D d, V a, V b) {
        const hn::Rebind<float, D> d32;
        const auto wide = Op::vector(d32, Type::widened(d32, a), Type::widened(d32, b));
        return Type::rounded(d, d32, wide);
    }
    // Only the ends of arrays come here; inlined into every loop, clang compiles for a minute.
    static HWY_NOINLINE Element scalar(Element a, Element b) {
        return Element(Op::scalar(static_cast<float>(a), static_cast<float>(b)));
    }
};

template <class Type>
void fill_type(KernelTable& table, ElementType type) {
    table.set(type, Operator::sum, combine<OfHalf<Type, FloatSum>>);
    table.set(type, Operator::prod, combine<OfHalf<Type, FloatProd>>);
    table.set(type, Operator::min, combine<OfHalf<Type, FloatMin>>);
    table.set(type, Operator::max, combine<OfHalf<Type, FloatMax>>);
}

void fill(KernelTable& table) {
    fill_type<Half>(table, ElementType::float16);
    fill_type<BFloat>(table, ElementType::bfloat16);
}

} // namespace
} // namespace corymb::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corymb::reduce {
void fill_halves(KernelTable& table, std::int64_t usable) {
    CORYMB_REDUCE_BEST(fill, usable)(table);
}
} // namespace corymb::reduce
#endif
