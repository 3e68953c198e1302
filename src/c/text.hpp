// SPDX-License-Identifier: Apache-2.0
// Strings that the user gives back with corymb_free.
#pragma once

#include <string>

namespace corymb::c {

/// A copy; throws std::bad_alloc.
[[nodiscard]] char* new_text(const std::string& text);

} // namespace corymb::c
