// SPDX-License-Identifier: Apache-2.0
// Between measured classes and the topology: names for the classes, numbers for the PUs.
#pragma once

#include <corymb/machine.hpp>

#include <string>
#include <vector>

namespace corymb::model {

/// A way to divide the PUs, found by measurement: pairs within a part cost at most `pair_class`.
struct MeasuredLevel {
    int pair_class = 0;
    std::vector<int> part; ///< part[pu], dense from 0.
};

/// Every division that follows from "costs at most class k" and has parts of one size. The classes
/// must be in the order of their costs. Finest first. O(classes x groups^2).
[[nodiscard]] std::vector<MeasuredLevel> measured_levels(const Machine& machine);

/// Fills core, l3, die and package numbers from the levels, as far as their meaning is clear, and
/// sets topology.source to "measured". For models without any reported topology.
void fill_topology(Machine& machine, const std::vector<MeasuredLevel>& levels);

/// Notes in topology.disagreements which levels no part of the reported topology explains.
void note_disagreements(Machine& machine, const std::vector<MeasuredLevel>& levels);

/// Names each class by the smallest part of the topology that most of its pairs share:
/// "same-core", "same-l3", ..., "cross-package"; "all" when nothing is known.
void name_classes(Machine& machine);

} // namespace corymb::model
