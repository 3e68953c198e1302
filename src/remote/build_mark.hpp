// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace corymb::detail {

/// Tells the builds of programs apart: the names of functions mean the same in one build only.
struct BuildMark {
    std::uint64_t mark = 0;
    std::string program; ///< Its path, and the number of its build, for people.
};

/// This process's. Reads the program once.
[[nodiscard]] const BuildMark& own_build();

} // namespace corymb::detail
