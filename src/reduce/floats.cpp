// SPDX-License-Identifier: Apache-2.0
// float, double and complex.
#include "reduce/kernel_table.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/floats.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file again for each instruction set.
#include "reduce/floats-inl.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace corymb::reduce::HWY_NAMESPACE {
namespace {

template <class T, class Op>
struct OfFloat : LaneIsElement<T> {
    template <class D, class V>
    static HWY_INLINE V vector(D d, V a, V b) {
        return Op::vector(d, a, b);
    }
    static T scalar(T a, T b) { return Op::scalar(a, b); }
};

/// (a + bi)(c + di) by the formula: (ac - bd) + (ad + bc)i. Unlike C's complex product it does not
/// repair infinities that come out as NaN.
template <class T>
struct ComplexProd : LaneIsElement<T> {
    struct Element {
        T real, imaginary;
    };
    static constexpr std::size_t lanes_per_element = 2;

// The vectors of HWY_SCALAR have one lane; combine_lanes does without `vector`.
#if HWY_TARGET != HWY_SCALAR
    template <class D, class V>
    static HWY_INLINE V vector(D d, V a, V b) {
        const auto real_by = hn::Mul(hn::DupEven(a), b);
        const auto imaginary_by = hn::Mul(hn::DupOdd(a), hn::Reverse2(d, b));
        return hn::OddEven(hn::Add(real_by, imaginary_by), hn::Sub(real_by, imaginary_by));
    }
#endif
    static Element scalar(Element a, Element b) {
        return {a.real * b.real - a.imaginary * b.imaginary,
                a.real * b.imaginary + a.imaginary * b.real};
    }
};

template <class T>
void fill_width(KernelTable& table, ElementType type, ElementType complex) {
    table.set(type, Operator::sum, combine<OfFloat<T, FloatSum>>);
    table.set(type, Operator::prod, combine<OfFloat<T, FloatProd>>);
    table.set(type, Operator::min, combine<OfFloat<T, FloatMin>>);
    table.set(type, Operator::max, combine<OfFloat<T, FloatMax>>);
    table.set(complex, Operator::sum, combine<OfFloat<T, FloatSum>, 2>);
    table.set(complex, Operator::prod, combine<ComplexProd<T>>);
}

void fill(KernelTable& table) {
    fill_width<float>(table, ElementType::float32, ElementType::complex64);
    fill_width<double>(table, ElementType::float64, ElementType::complex128);
}

} // namespace
} // namespace corymb::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corymb::reduce {
void fill_floats(KernelTable& table, std::int64_t usable) {
    CORYMB_REDUCE_BEST(fill, usable)(table);
}
} // namespace corymb::reduce
#endif
