// SPDX-License-Identifier: Apache-2.0
// Which pairs of PUs should cost about the same, judged from the topology alone.
#pragma once

#include <corymb/machine.hpp>

#include <string>
#include <vector>

namespace corymb::discover {

/// One partition of the PUs, e.g. by shared L3. `object[pu]` is dense from 0.
struct Level {
    std::string name; ///< "core", "l2", "l3", "numa", "die", "package".
    std::vector<int> object;
    int count = 0;
};

/// The partitions that tell pairs apart, the smallest objects first. Left out are unknown ones,
/// those with one PU an object, and those equal to a smaller-named one. A last level may hold all
/// PUs in one object. Need not nest: an L3 may span NUMA nodes or the reverse.
std::vector<Level> distinct_levels(const std::vector<Pu>& pus);

/// Fills classes, group and group_class with one class a level: two PUs belong to the first level
/// in which they share an object. Costs are the typical ones of docs/measuring.md, relative only.
void classes_from_topology(Machine& machine);

} // namespace corymb::discover
