// SPDX-License-Identifier: Apache-2.0
// Which CPU stands for a rank whose process a launcher has bound.
#pragma once

#include <span>
#include <vector>

namespace corymb::team {

/// One CPU of each rank out of those that its process may use, which it likes best first: its only
/// one, or one that no other rank has, as when launchers bind each to a core, or all to packages in
/// turn. Nothing where that says nothing: all may use the same several, there is not one for each,
/// or of some nothing is known. Takes steps in the number of CPUs of all ranks together, times the
/// ranks where two share CPUs and neither has all that the other has.
[[nodiscard]] std::vector<int> cpu_of_each(std::span<const std::vector<int>> ranks);

} // namespace corymb::team
