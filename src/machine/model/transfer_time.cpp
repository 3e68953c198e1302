// SPDX-License-Identifier: Apache-2.0
#include "machine/model/transfer_time.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace corymb {

double time_per_byte(const Curve& curve, std::uint64_t bytes) {
    const auto at = [&](std::size_t point) {
        return curve.value[point] / curve.count[point];
    };
    const auto wanted = static_cast<double>(bytes);
    const auto next = static_cast<std::size_t>(
        std::lower_bound(curve.count.begin(), curve.count.end(), wanted) - curve.count.begin());
    if (next == 0 || next == curve.count.size()) {
        return at(next == 0 ? 0 : next - 1);
    }
    const double before = curve.count[next - 1];
    const double share = std::log(wanted / before) / std::log(curve.count[next] / before);
    return at(next - 1) + share * (at(next) - at(next - 1));
}

} // namespace corymb
