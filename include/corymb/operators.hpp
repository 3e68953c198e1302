// SPDX-License-Identifier: Apache-2.0
// Reduction operators and their type-erased form.
#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>

namespace corymb {

/// a < b ? a : b, element by element. Beside it: std::plus<>, std::multiplies<>, std::bit_and<>,
/// std::bit_or<>, std::bit_xor<>, std::logical_and<>, std::logical_or<>, or any function object
/// without state that is associative.
struct minimum {
    template <class T>
    constexpr T operator()(const T& a, const T& b) const {
        return b < a ? b : a;
    }
};
struct maximum {
    template <class T>
    constexpr T operator()(const T& a, const T& b) const {
        return a < b ? b : a;
    }
};

/// Whether a (+) b == b (+) a. Specialise to false for an operator of your own that depends on the
/// order; reductions then combine in rank order.
template <class Op>
inline constexpr bool is_commutative = true;

/// A reduction operator for one element type. `combine` sets out[i] = left[i] (+) right[i]; `out`
/// may be `left` or `right`.
struct Reduction {
    using Combine = void (*)(const void* left, const void* right, void* out, std::size_t count);
    Combine combine = nullptr;
    std::size_t element_bytes = 0;
    bool commutative = true;
};

/// The `Reduction` of a stateless operator on a trivially copyable type.
template <class T, class Op>
[[nodiscard]] constexpr Reduction reduction_of() noexcept {
    static_assert(std::is_trivially_copyable_v<T>, "elements travel as bytes");
    static_assert(std::is_empty_v<Op> && std::is_default_constructible_v<Op>,
                  "an operator is a function object without state");
    return {[](const void* left, const void* right, void* out, std::size_t count) {
                const auto* a = static_cast<const T*>(left);
                const auto* b = static_cast<const T*>(right);
                auto* o = static_cast<T*>(out);
                for (std::size_t i = 0; i < count; ++i) {
                    o[i] = static_cast<T>(Op{}(a[i], b[i]));
                }
            },
            sizeof(T), is_commutative<Op>};
}

} // namespace corymb
