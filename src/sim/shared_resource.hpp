// SPDX-License-Identifier: Apache-2.0
// What ranks share: its curves between and behind their points, and which PUs have it together.
#pragma once

#include "machine/model/curve.hpp"

#include <corymb/machine.hpp>

#include <algorithm>
#include <cstddef>

namespace corymb::sim {

/// 10^9 bytes per second of so many copies together: a line between points, and constant before
/// the first and behind the last one.
[[nodiscard]] inline double shared_gbs(const SharedResource& shared, int users) noexcept {
    const auto point = static_cast<std::size_t>(std::ranges::lower_bound(shared.count, users) -
                                                shared.count.begin());
    if (point == 0 || point == shared.count.size()) {
        return point == 0 ? shared.value.front() : shared.value.back();
    }
    const double part = static_cast<double>(users - shared.count[point - 1]) /
                        (shared.count[point] - shared.count[point - 1]);
    return shared.value[point - 1] + part * (shared.value[point] - shared.value[point - 1]);
}

/// Time until so many ranks have changed a word, in the model's unit; between and behind points as
/// `total_at`.
[[nodiscard]] inline double word_time(const SharedResource& shared, int users) noexcept {
    return total_at(shared.count, shared.value, users);
}

/// Number of the part of the machine that holds the PU; -1: unknown.
[[nodiscard]] inline int part_number(const Machine& machine, int pu, Scope scope) noexcept {
    const Pu& place = machine.topology.pus[static_cast<std::size_t>(pu)];
    switch (scope) {
    case Scope::pu: return pu;
    case Scope::l3: return place.l3;
    case Scope::numa: return place.numa;
    case Scope::package: return place.package;
    case Scope::machine: return 0;
    }
    return -1;
}

} // namespace corymb::sim
