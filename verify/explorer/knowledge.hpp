// SPDX-License-Identifier: Apache-2.0
// What a thread, or a message that it published, knows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace corymb::verify {

inline constexpr int threads_max = 6;

using LocationId = std::uint32_t;
/// Number of a store among those of its location, in the order of execution; 0 is the initial one.
using StoreId = std::uint32_t;

/// Happens-before: for each thread the time up to which its accesses come before.
using Clock = std::array<std::uint32_t, threads_max>;

inline void join(Clock& into, const Clock& other) noexcept {
    for (std::size_t i = 0; i < into.size(); ++i) {
        into[i] = std::max(into[i], other[i]);
    }
}

/// Coherence: for each location the newest store, in modification order, that must not be missed.
/// Locations beyond the end are at their initial store.
using View = std::vector<StoreId>;

struct Knowledge {
    View view;
    Clock clock{};
};

} // namespace corymb::verify
