// SPDX-License-Identifier: Apache-2.0
// Finds a CPU for each rank whose process a launcher has bound.
#pragma once

#include <span>
#include <vector>

namespace corymb::team {

/// One CPU for each rank, out of the CPUs that its process may use, best first. A rank gets its
/// only CPU, or one that no other rank has, as when launchers bind each rank to a core, or all to
/// packages in turn.
///
/// Returns nothing where the sets do not decide: all ranks may use the same several CPUs, there is
/// not one CPU for each rank, or a rank's CPUs are unknown.
///
/// Takes steps in the number of CPUs of all ranks together. If two ranks share CPUs and neither has
/// all CPUs of the other, this is multiplied by the ranks.
[[nodiscard]] std::vector<int> cpu_of_each(std::span<const std::vector<int>> ranks);

} // namespace corymb::team
