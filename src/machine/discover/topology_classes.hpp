// SPDX-License-Identifier: Apache-2.0
// The classes that the topology promises, with what was measured of them so far.
#pragma once

#include "base/random.hpp"
#include "machine/discover/levels.hpp"
#include "machine/discover/pair_table.hpp"

#include <corymb/machine.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace corymb::discover {

class TopologyClasses {
public:
    TopologyClasses(const Topology& topology, const NodeDistances& distances);

    [[nodiscard]] int count() const noexcept { return static_cast<int>(prior_.classes.size()); }
    [[nodiscard]] int class_of(int a, int b) const noexcept { return prior_.class_of(a, b); }
    [[nodiscard]] const Machine& prior() const noexcept { return prior_; }

    /// Random pairs of each class, at most so many.
    [[nodiscard]] std::vector<std::vector<std::pair<int, int>>> some_pairs(Random& random,
                                                                           std::size_t most) const;

    /// Costs of a class from its measured pairs. A class without any costs as much more than the
    /// measured class next to it as is typical, and not more than a measured class outside of it.
    /// Its pairs_sampled is 0. Some class must have been measured.
    [[nodiscard]] std::vector<PairClass> costs(const std::vector<ClassSamples>& samples) const;

private:
    Machine prior_;
};

/// Measures a pair of each class, and another one where a CPU was busy. Begins none after `end_s`.
void measure_each_class(const TopologyClasses& classes, PairTable& table, Random& random,
                        double end_s);

} // namespace corymb::discover
