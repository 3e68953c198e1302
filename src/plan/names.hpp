// SPDX-License-Identifier: Apache-2.0
// The inverse of the public to_string functions, for names that stand in plan files only.
#pragma once

#include <corymb/plan.hpp>

#include <string_view>

namespace corymb::plan {

/// Throw Errc::unknown_name and list what exists.
[[nodiscard]] StepKind step_kind_from_string(std::string_view name);
[[nodiscard]] Mechanism mechanism_from_string(std::string_view name);
[[nodiscard]] Buffer buffer_from_string(std::string_view name);

} // namespace corymb::plan
