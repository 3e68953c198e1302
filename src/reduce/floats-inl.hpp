// SPDX-License-Identifier: Apache-2.0
// Operators on vectors of float and double, shared by floats.cpp and halves.cpp. Compiled once for
// each instruction set (see elementwise-inl.hpp). One rounding an operation, never fused, so that
// all instruction sets give the same bits.
#if defined(CORYMB_REDUCE_FLOATS) == defined(HWY_TARGET_TOGGLE)
#ifdef CORYMB_REDUCE_FLOATS
#undef CORYMB_REDUCE_FLOATS
#else
#define CORYMB_REDUCE_FLOATS
#endif

#include "reduce/elementwise-inl.hpp"

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace corymb::reduce::HWY_NAMESPACE {

struct FloatSum {
    template <class D, class V>
    static HWY_INLINE V vector(D /*d*/, V a, V b) {
        return hn::Add(a, b);
    }
    template <class T>
    static T scalar(T a, T b) {
        return a + b;
    }
};

struct FloatProd {
    template <class D, class V>
    static HWY_INLINE V vector(D /*d*/, V a, V b) {
        return hn::Mul(a, b);
    }
    template <class T>
    static T scalar(T a, T b) {
        return a * b;
    }
};

/// `chosen` where neither is NaN, else the quiet NaN.
template <class D, class V>
HWY_INLINE V unless_nan(D d, V a, V b, V chosen) {
    const auto is_number = hn::And(hn::Eq(a, a), hn::Eq(b, b));
    const auto nan = hn::Set(d, std::numeric_limits<hn::TFromD<D>>::quiet_NaN());
    return hn::IfThenElse(is_number, chosen, nan);
}

// If both are equal, or-ing the bits keeps a -0 and and-ing keeps a +0. All other equal values have
// equal bits.
struct FloatMin {
    template <class D, class V>
    static HWY_INLINE V vector(D d, V a, V b) {
        const auto least = hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), hn::Min(a, b));
        return unless_nan(d, a, b, least);
    }
    template <class T>
    static T scalar(T a, T b) {
        return minimum{}(a, b);
    }
};

struct FloatMax {
    template <class D, class V>
    static HWY_INLINE V vector(D d, V a, V b) {
        const auto greatest = hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), hn::Max(a, b));
        return unless_nan(d, a, b, greatest);
    }
    template <class T>
    static T scalar(T a, T b) {
        return maximum{}(a, b);
    }
};

} // namespace corymb::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
