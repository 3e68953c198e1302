// SPDX-License-Identifier: Apache-2.0
// The loop of all kernels: whole vectors, then one that overlaps the one before. Less than 16 bytes
// are combined element by element. The file is compiled once for each instruction set, so there is
// no `pragma once`: Highway's toggle below lets it in once for each.
#if defined(CORYMB_REDUCE_ELEMENTWISE) == defined(HWY_TARGET_TOGGLE)
#ifdef CORYMB_REDUCE_ELEMENTWISE
#undef CORYMB_REDUCE_ELEMENTWISE
#else
#define CORYMB_REDUCE_ELEMENTWISE
#endif

#include "reduce/instructions.hpp"
#include "reduce/kernel_table.hpp"

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace corymb::reduce::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class Op>
HWY_INLINE auto combined(D d, const hn::TFromD<D>* left, const hn::TFromD<D>* right) {
    return Op::vector(d, hn::LoadU(d, left), hn::LoadU(d, right));
}

/// count >= Lanes(d). The last vector is read before anything is written, as `out` may be `left` or
/// `right`; it overlaps the vector before it and writes the same there once more.
template <class Op, class D, class T = hn::TFromD<D>>
HWY_INLINE void combine_vectors(D d, const T* left, const T* right, T* out, std::size_t count) {
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t last = count - lanes;
    const auto end = combined<D, Op>(d, left + last, right + last);
    std::size_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
        const auto a = combined<D, Op>(d, left + i, right + i);
        const auto b = combined<D, Op>(d, left + i + lanes, right + i + lanes);
        const auto c = combined<D, Op>(d, left + i + 2 * lanes, right + i + 2 * lanes);
        const auto e = combined<D, Op>(d, left + i + 3 * lanes, right + i + 3 * lanes);
        hn::StoreU(a, d, out + i);
        hn::StoreU(b, d, out + i + lanes);
        hn::StoreU(c, d, out + i + 2 * lanes);
        hn::StoreU(e, d, out + i + 3 * lanes);
    }
    for (; i + lanes <= count; i += lanes) {
        hn::StoreU(combined<D, Op>(d, left + i, right + i), d, out + i);
    }
    hn::StoreU(end, d, out + last);
}

/// Combines one element after the other; each gets the bits that it has in a vector.
template <class Op>
HWY_INLINE void combine_scalars(const void* left, const void* right, void* out, std::size_t count) {
    using Element = typename Op::Element;
    for (std::size_t i = 0; i < count / Op::lanes_per_element; ++i) {
        const auto a = detail::load_element<Element>(left, i);
        const auto b = detail::load_element<Element>(right, i);
        detail::store_element(out, i, Op::scalar(a, b));
    }
}

/// Combines `count` lanes. An Op has `Lane`, the type of a lane; `Tag<N>`, Highway's tag of at most
/// N bytes of the widest type inside; `vector`, which combines vectors; `Element`, the type of one
/// element of `lanes_per_element` lanes; and `scalar`, which combines two elements.
template <class Op>
void combine_lanes(const void* left, const void* right, void* out, std::size_t count) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
    combine_scalars<Op>(left, right, out, count);
#else
    using Lane = typename Op::Lane;
    const auto* l = static_cast<const Lane*>(left);
    const auto* r = static_cast<const Lane*>(right);
    auto* o = static_cast<Lane*>(out);
    const typename Op::template Tag<HWY_MAX_BYTES> whole;
    const typename Op::template Tag<16> small;
    if (count >= hn::Lanes(whole)) {
        combine_vectors<Op>(whole, l, r, o, count);
    } else if (count >= hn::Lanes(small)) {
        combine_vectors<Op>(small, l, r, o, count);
    } else {
        combine_scalars<Op>(left, right, out, count);
    }
#endif
}

/// A Reduction::Combine: `count` elements of LaneCount lanes of Op.
template <class Op, std::size_t LaneCount = Op::lanes_per_element>
void combine(const void* left, const void* right, void* out, std::size_t count, void* /*context*/) {
    combine_lanes<Op>(left, right, out, count * LaneCount);
}

/// Base of most Ops: one element a lane.
template <class T>
struct LaneIsElement {
    using Lane = T;
    using Element = T;
    static constexpr std::size_t lanes_per_element = 1;
    template <std::size_t MaxBytes>
    using Tag = hn::CappedTag<T, MaxBytes / sizeof(T)>;
};

} // namespace corymb::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
