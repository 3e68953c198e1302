// SPDX-License-Identifier: Apache-2.0
// Which pairs of PUs should cost about the same, judged from the topology alone.
#pragma once

#include <corymb/machine.hpp>

#include <cstddef>
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

/// What the kernel says about how far NUMA nodes are apart: 10 is the node itself, 20 twice as
/// long.
struct NodeDistances {
    int nodes = 0;             ///< 0: nothing is known.
    std::vector<double> value; ///< nodes x nodes, by the numbers in Pu::numa.

    /// Mean of both ways.
    [[nodiscard]] double between(int a, int b) const {
        const auto entry = [this](int from, int to) {
            return value[static_cast<std::size_t>(from * nodes + to)];
        };
        return (entry(a, b) + entry(b, a)) / 2;
    }
};

/// Fills classes, group and group_class with one class a level: two PUs belong to the first level
/// in which they share an object. Pairs of one level whose nodes are not equally far apart make
/// several classes. Costs are the typical ones of docs/explain/measuring.md, relative only. Classes
/// stand from near to far, and each costs more than those before it. Where the distances contradict
/// the levels, the levels hold and topology.disagreements says so.
void classes_from_topology(Machine& machine, const NodeDistances& distances = {});

} // namespace corymb::discover
