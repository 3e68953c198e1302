// SPDX-License-Identifier: Apache-2.0
// A plan as few bytes, for ranks that hand it to each other: less than a quarter of its JSON form.
// Only for processes of one job; files and other programs get JSON.
#pragma once

#include <corymb/plan.hpp>

#include <string>
#include <string_view>

namespace corymb::plan {

/// Numbers are in groups of seven bits, so that it is the same on every machine. O(steps).
[[nodiscard]] std::string to_bytes(const Plan& plan);

/// The opposite, with the same limits as `plan_from_json`. Throws Errc::invalid_plan for what is
/// not all of such a text, or that of another version of the library. It does not prove the plan.
[[nodiscard]] Plan plan_from_bytes(std::string_view bytes);

} // namespace corymb::plan
