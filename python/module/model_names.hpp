// SPDX-License-Identifier: Apache-2.0
// The words of machine models, as in their files.
#pragma once

#include "named.hpp"

#include <corymb/machine.hpp>

namespace corymb::python {

inline constexpr Names<SharedUse, 3> shared_uses{{{"copies-from", SharedUse::copies_from},
                                                  {"copies-between", SharedUse::copies_between},
                                                  {"word", SharedUse::word}}};
inline constexpr Names<Scope, 5> scopes{{{"pu", Scope::pu},
                                         {"l3", Scope::l3},
                                         {"numa", Scope::numa},
                                         {"package", Scope::package},
                                         {"machine", Scope::machine}}};
inline constexpr Names<DataOrigin, 3> data_origins{{{"measured", DataOrigin::measured},
                                                    {"imported", DataOrigin::imported},
                                                    {"assumed", DataOrigin::assumed}}};

} // namespace corymb::python
