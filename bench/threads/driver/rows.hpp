// SPDX-License-Identifier: Apache-2.0
// The lines of the output, one JSON object each; bench/README.md describes the fields.
#pragma once

#include "measure.hpp"

#include <string>
#include <vector>

namespace corymb::bench {

/// Adds the outcome "floor": the fastest hand-written flag exchange of the case, if there is one.
void add_floor_of(std::vector<Outcome>& outcomes);

/// Whether peers were to take part and none of them has a figure.
[[nodiscard]] bool lacks_peers(const std::vector<Outcome>& outcomes);

/// One line an outcome, "type": "row". `ratio` is to the outcome "corymb", null without it.
std::vector<std::string> row_lines(const Case& what, const std::vector<Outcome>& outcomes);

} // namespace corymb::bench
