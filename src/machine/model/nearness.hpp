// SPDX-License-Identifier: Apache-2.0
// Which PUs lie near each other, and parts of machines.
#pragma once

#include <corymb/machine.hpp>

#include <span>
#include <vector>

namespace corymb {

struct Nearness {
    /// The places in the list of PUs, each followed by the one that is nearest to those before it,
    /// so that PUs of a package stand together, and within them those of a cache. The first is the
    /// one least far from all others. Of about equally near ones the first in the list comes first:
    /// where all cost the same the order is that of the list.
    std::vector<int> order;
    /// Of each place in the list: send and receive, both ways, to all others together.
    std::vector<double> distance;
};

/// By the costs of classes: those of single pairs differ by chance. O(n^2).
[[nodiscard]] Nearness nearness_of(const Machine& machine, std::span<const int> pus);

/// The first place whose distance is about the least.
[[nodiscard]] std::size_t most_central(std::span<const double> distances);

/// All PUs of a machine: one of each core, in their order, and then the other threads of cores. PUs
/// of no known core count as cores.
[[nodiscard]] std::vector<int> pus_of_each_core_first(const Machine& machine);

/// The model of these PUs alone, in this order. O(n^2).
[[nodiscard]] Machine part_of(const Machine& machine, std::span<const int> pus);

} // namespace corymb
