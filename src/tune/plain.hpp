// SPDX-License-Identifier: Apache-2.0
// The families that a call tries which cannot wait for a search.
#pragma once

#include <corymb/planner.hpp>

#include <span>
#include <string_view>

namespace corymb::tune {

/// Names of families of which one is mostly about as good as what a search finds: see
/// docs/decisions/0033. Those that have no plan for the request are to be left out.
[[nodiscard]] std::span<const std::string_view> plain_families(const PlanRequest& request) noexcept;

} // namespace corymb::tune
