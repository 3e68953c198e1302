// SPDX-License-Identifier: Apache-2.0
// Bitwise operators, the same for integers of any width, and logical ones, the same for signed and
// unsigned integers.
#include "reduce/kernel_table.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/bits.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file again for each instruction set.
#include "reduce/elementwise-inl.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace corymb::reduce::HWY_NAMESPACE {
namespace {

struct BitAnd : LaneIsElement<std::uint8_t> {
    template <class D, class V>
    static HWY_INLINE V vector(D /*d*/, V a, V b) {
        return hn::And(a, b);
    }
    static std::uint8_t scalar(std::uint8_t a, std::uint8_t b) {
        return static_cast<std::uint8_t>(a & b);
    }
};
struct BitOr : LaneIsElement<std::uint8_t> {
    template <class D, class V>
    static HWY_INLINE V vector(D /*d*/, V a, V b) {
        return hn::Or(a, b);
    }
    static std::uint8_t scalar(std::uint8_t a, std::uint8_t b) {
        return static_cast<std::uint8_t>(a | b);
    }
};
struct BitXor : LaneIsElement<std::uint8_t> {
    template <class D, class V>
    static HWY_INLINE V vector(D /*d*/, V a, V b) {
        return hn::Xor(a, b);
    }
    static std::uint8_t scalar(std::uint8_t a, std::uint8_t b) {
        return static_cast<std::uint8_t>(a ^ b);
    }
};

// The unsigned minimum with 1 makes the truth value of an integer.
template <class T>
struct LogicalAnd : LaneIsElement<T> {
    template <class D, class V>
    static HWY_INLINE V vector(D d, V a, V b) {
        const auto one = hn::Set(d, T{1});
        return hn::And(hn::Min(a, one), hn::Min(b, one));
    }
    static T scalar(T a, T b) { return a != 0 && b != 0 ? T{1} : T{0}; }
};
template <class T>
struct LogicalOr : LaneIsElement<T> {
    template <class D, class V>
    static HWY_INLINE V vector(D d, V a, V b) {
        return hn::Min(hn::Or(a, b), hn::Set(d, T{1}));
    }
    static T scalar(T a, T b) { return (a | b) != 0 ? T{1} : T{0}; }
};
template <class T>
struct LogicalXor : LaneIsElement<T> {
    template <class D, class V>
    static HWY_INLINE V vector(D d, V a, V b) {
        const auto one = hn::Set(d, T{1});
        return hn::Xor(hn::Min(a, one), hn::Min(b, one));
    }
    static T scalar(T a, T b) { return (a != 0) != (b != 0) ? T{1} : T{0}; }
};

template <class T>
void fill_logical(KernelTable& table, ElementType type) {
    table.set(type, Operator::logical_and, combine<LogicalAnd<T>>);
    table.set(type, Operator::logical_or, combine<LogicalOr<T>>);
    table.set(type, Operator::logical_xor, combine<LogicalXor<T>>);
}

template <class T>
void fill_width(KernelTable& table, ElementType type) {
    fill_logical<T>(table, type);
    table.set(type, Operator::bitwise_and, combine<BitAnd, sizeof(T)>);
    table.set(type, Operator::bitwise_or, combine<BitOr, sizeof(T)>);
    table.set(type, Operator::bitwise_xor, combine<BitXor, sizeof(T)>);
}

void fill(KernelTable& table) {
    fill_width<std::uint8_t>(table, ElementType::int8);
    fill_width<std::uint8_t>(table, ElementType::uint8);
    fill_width<std::uint16_t>(table, ElementType::int16);
    fill_width<std::uint16_t>(table, ElementType::uint16);
    fill_width<std::uint32_t>(table, ElementType::int32);
    fill_width<std::uint32_t>(table, ElementType::uint32);
    fill_width<std::uint64_t>(table, ElementType::int64);
    fill_width<std::uint64_t>(table, ElementType::uint64);
    fill_logical<std::uint8_t>(table, ElementType::boolean);
    for (const auto op : {Operator::bitwise_and, Operator::min}) {
        table.set(ElementType::boolean, op, combine<LogicalAnd<std::uint8_t>>);
    }
    for (const auto op : {Operator::bitwise_or, Operator::max}) {
        table.set(ElementType::boolean, op, combine<LogicalOr<std::uint8_t>>);
    }
    table.set(ElementType::boolean, Operator::bitwise_xor, combine<LogicalXor<std::uint8_t>>);
}

} // namespace
} // namespace corymb::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corymb::reduce {
void fill_bits(KernelTable& table, std::int64_t usable) {
    CORYMB_REDUCE_BEST(fill, usable)(table);
}
} // namespace corymb::reduce
#endif
