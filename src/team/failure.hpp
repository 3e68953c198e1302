// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/arena.hpp"

#include <corymb/error.hpp>

#include <string>
#include <vector>

namespace corymb::team {

/// Why a team is broken.
struct Failure {
    Errc code = Errc::team_broken;
    std::string text;
    std::vector<int> ranks;
};

/// With the lock held: puts a failure where every process of the team can read it.
[[nodiscard]] Offset write_failure(Arena& arena, const Failure& failure);
[[nodiscard]] Failure read_failure(const Memory& memory, Offset where);

} // namespace corymb::team
