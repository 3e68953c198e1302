// SPDX-License-Identifier: Apache-2.0
#include "sim/transfer.hpp"

#include "base/cache_line.hpp"
#include "machine/model/curve.hpp"
#include "machine/model/transfer_time.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace corymb::sim {

namespace {

/// By class: whether a pair of these PUs is in it. Pairs of groups stand for pairs of PUs.
std::vector<bool> classes_among(const Machine& machine, const std::vector<bool>& taken) {
    std::vector<int> members(static_cast<std::size_t>(machine.group_count()));
    std::vector<int> groups; // Groups that have members.
    for (std::size_t pu = 0; pu < machine.group.size(); ++pu) {
        if (taken[pu] && members[static_cast<std::size_t>(machine.group[pu])]++ == 0) {
            groups.push_back(machine.group[pu]);
        }
    }
    std::vector<bool> found(machine.classes.size(), false);
    for (const int from : groups) {
        for (const int to : groups) {
            const auto row = static_cast<std::size_t>(from) * members.size();
            const int pair_class = machine.group_class[row + static_cast<std::size_t>(to)];
            if (pair_class >= 0 && (from != to || members[static_cast<std::size_t>(from)] > 1)) {
                found[static_cast<std::size_t>(pair_class)] = true;
            }
        }
    }
    return found;
}

/// The curves of the classes of pairs of these PUs.
std::vector<const Curve*> curves_among(const Machine& machine, const std::vector<Curve>& curves,
                                       const std::vector<bool>& taken) {
    std::vector<const Curve*> found;
    if (curves.empty()) {
        return found;
    }
    const std::vector<bool> classes = classes_among(machine, taken);
    for (std::size_t index = 0; index < classes.size(); ++index) {
        if (const Curve* const curve =
                classes[index] ? curve_of(curves, static_cast<int>(index)) : nullptr) {
            found.push_back(curve);
        }
    }
    return found;
}

} // namespace

std::optional<double> slowest_transfer(const Machine& machine, const std::vector<bool>& taken,
                                       std::uint64_t bytes) {
    std::optional<double> slowest;
    for (const Curve* const curve : curves_among(machine, machine.transfer, taken)) {
        slowest = std::max(slowest.value_or(0), time_per_byte(*curve, bytes));
    }
    return slowest;
}

std::optional<FreshBytes> slowest_fresh_bytes(const Machine& machine,
                                              const std::vector<bool>& taken, std::uint64_t bytes) {
    const auto most = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
    const auto whole = static_cast<int>(std::clamp<std::uint64_t>(bytes, cache_line_bytes, most));
    std::optional<FreshBytes> slowest;
    for (const Curve* const curve : curves_among(machine, machine.fresh, taken)) {
        const double all = total_at(*curve, whole);
        const double first = std::min(total_at(*curve, cache_line_bytes), all);
        if (!slowest || all > slowest->copying(static_cast<std::uint64_t>(whole))) {
            slowest = {first, (all - first) / whole, slowest ? slowest->write_per_byte : 0};
        }
    }
    for (const Curve* const curve : curves_among(machine, machine.rewrite, taken)) {
        // A line comes back while that of the message which tells of the bytes does.
        const double more = total_at(*curve, whole) - total_at(*curve, cache_line_bytes);
        if (slowest) {
            slowest->write_per_byte = std::max(slowest->write_per_byte, more / whole);
        }
    }
    return slowest;
}

} // namespace corymb::sim
