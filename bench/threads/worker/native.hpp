// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../case.hpp"

#include <string_view>

namespace corymb::bench {

/// Serves as a contestant on threads of ours; the exit status.
int serve_native(std::string_view contestant, const Case& what);

} // namespace corymb::bench
