// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/kernel_copy.hpp>

#include <cstdint>

namespace corymb::team {

/// The faster way of a long message between two processes: both copy through shared cells, or the
/// kernel copies once. Teams that differ in it have different plans.
enum class FasterWay : std::uint8_t { unknown, cells, kernel };

/// `cells_gbs` is the rate of copies in and out of cells in 10^9 bytes per second; 0: unknown.
[[nodiscard]] constexpr FasterWay faster_way(const KernelCopy& kernel, double cells_gbs) noexcept {
    return cells_gbs <= 0 || !kernel.present() ? FasterWay::unknown
           : cells_gbs > kernel.gbs            ? FasterWay::cells
                                               : FasterWay::kernel;
}

} // namespace corymb::team
