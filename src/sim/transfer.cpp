// SPDX-License-Identifier: Apache-2.0
#include "sim/transfer.hpp"

#include "machine/model/transfer_time.hpp"
#include "sim/curve.hpp"

#include <algorithm>
#include <cstddef>

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

} // namespace

std::optional<double> slowest_transfer(const Machine& machine, const std::vector<bool>& taken,
                                       std::uint64_t bytes) {
    std::optional<double> slowest;
    if (machine.transfer.empty()) {
        return slowest;
    }
    const std::vector<bool> classes = classes_among(machine, taken);
    for (std::size_t index = 0; index < classes.size(); ++index) {
        const Curve* const curve =
            classes[index] ? curve_of(machine.transfer, static_cast<int>(index)) : nullptr;
        if (curve != nullptr) {
            slowest = std::max(slowest.value_or(0), time_per_byte(*curve, bytes));
        }
    }
    return slowest;
}

} // namespace corymb::sim
