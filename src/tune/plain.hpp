// SPDX-License-Identifier: Apache-2.0
// The families that a call tries which cannot wait for a search.
#pragma once

#include <corymb/planner.hpp>

#include <span>
#include <string_view>

namespace corymb::tune {

/// Names of families, one of which is mostly about as good as the result of a search: see
/// docs/decisions/0033. The caller leaves out families that have no plan for the request.
[[nodiscard]] std::span<const std::string_view> plain_families(const PlanRequest& request) noexcept;

} // namespace corymb::tune
