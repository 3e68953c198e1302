// SPDX-License-Identifier: Apache-2.0
// Which CPUs stand for a class where not every pair of it can be measured.
#pragma once

#include <corymb/machine.hpp>

#include <vector>

namespace corymb::discover {

/// A PU and those others that are in the class as seen from it.
struct Star {
    int centre = -1;           ///< PU index; -1: no pair is in the class.
    std::vector<int> partners; ///< PU indexes.
};

/// The PU with the most partners in the class, at most 16 of them. O(size^2).
Star largest_star(const Machine& machine, int pair_class);

} // namespace corymb::discover
