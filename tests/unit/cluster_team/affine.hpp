// SPDX-License-Identifier: Apache-2.0
// An operator that does not commute.
#pragma once

#include <corymb/operators.hpp>

namespace cluster_test {

/// x -> a x + b, modulo 256, and then another one.
struct Then {
    unsigned operator()(unsigned left, unsigned right) const {
        const unsigned a = (left >> 8U) * (right >> 8U) & 0xFFU;
        return a << 8U | (((left & 0xFFU) * (right >> 8U) + (right & 0xFFU)) & 0xFFU);
    }
};

} // namespace cluster_test

template <>
inline constexpr bool corymb::is_commutative<cluster_test::Then> = false;
