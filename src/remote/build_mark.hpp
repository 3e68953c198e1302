// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace corymb::detail {

/// Tells the builds of programs apart: the names of functions mean the same in one build only.
struct BuildMark {
    std::string mark;    ///< A hash.
    std::string program; ///< Its path, and the number of its build, for people.
};

/// This process's. Reads the program once.
[[nodiscard]] const BuildMark& own_build();

} // namespace corymb::detail
