// SPDX-License-Identifier: Apache-2.0
// Arithmetic of integers. Sums and products wrap around, which makes them the same for signed and
// unsigned integers and independent of the order.
#include "reduce/kernel_table.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/integers.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file again for each instruction set.
#include "reduce/elementwise-inl.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace corymb::reduce::HWY_NAMESPACE {
namespace {

template <class T>
struct Sum : LaneIsElement<T> {
    template <class D, class V>
    static HWY_INLINE V vector(D /*d*/, V a, V b) {
        return hn::Add(a, b);
    }
    static T scalar(T a, T b) { return static_cast<T>(a + b); }
};

template <class T>
struct Prod : LaneIsElement<T> {
    template <class D, class V>
    static HWY_INLINE V vector(D d, V a, V b) {
        if constexpr (sizeof(T) == 1) {
            // No processor multiplies bytes: the lower bytes of 16-bit products are right.
            const hn::Repartition<std::uint16_t, D> wide;
            const auto a16 = hn::BitCast(wide, a);
            const auto b16 = hn::BitCast(wide, b);
            const auto even = hn::And(hn::Mul(a16, b16), hn::Set(wide, std::uint16_t{0xFF}));
            const auto odd = hn::Mul(hn::ShiftRight<8>(a16), hn::ShiftRight<8>(b16));
            return hn::BitCast(d, hn::Or(even, hn::ShiftLeft<8>(odd)));
        } else {
            return hn::Mul(a, b);
        }
    }
    // Computed in 64 bits, where two 16-bit factors cannot overflow a signed int.
    static T scalar(T a, T b) {
        return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    }
};

template <class T>
struct Least : LaneIsElement<T> {
    template <class D, class V>
    static HWY_INLINE V vector(D /*d*/, V a, V b) {
        return hn::Min(a, b);
    }
    static T scalar(T a, T b) { return b < a ? b : a; }
};

template <class T>
struct Greatest : LaneIsElement<T> {
    template <class D, class V>
    static HWY_INLINE V vector(D /*d*/, V a, V b) {
        return hn::Max(a, b);
    }
    static T scalar(T a, T b) { return a < b ? b : a; }
};

template <class Signed, class Unsigned>
void fill_width(KernelTable& table, ElementType of_signed, ElementType of_unsigned) {
    for (const auto type : {of_signed, of_unsigned}) {
        table.set(type, Operator::sum, combine<Sum<Unsigned>>);
        table.set(type, Operator::prod, combine<Prod<Unsigned>>);
    }
    table.set(of_signed, Operator::min, combine<Least<Signed>>);
    table.set(of_signed, Operator::max, combine<Greatest<Signed>>);
    table.set(of_unsigned, Operator::min, combine<Least<Unsigned>>);
    table.set(of_unsigned, Operator::max, combine<Greatest<Unsigned>>);
}

void fill(KernelTable& table) {
    fill_width<std::int8_t, std::uint8_t>(table, ElementType::int8, ElementType::uint8);
    fill_width<std::int16_t, std::uint16_t>(table, ElementType::int16, ElementType::uint16);
    fill_width<std::int32_t, std::uint32_t>(table, ElementType::int32, ElementType::uint32);
    fill_width<std::int64_t, std::uint64_t>(table, ElementType::int64, ElementType::uint64);
}

} // namespace
} // namespace corymb::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corymb::reduce {
void fill_integers(KernelTable& table, std::int64_t usable) {
    CORYMB_REDUCE_BEST(fill, usable)(table);
}
} // namespace corymb::reduce
#endif
