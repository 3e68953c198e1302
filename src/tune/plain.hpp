// SPDX-License-Identifier: Apache-2.0
// The families that a call tries which cannot wait for a search.
#pragma once

#include "plan/generate/families.hpp"

#include <corymb/planner.hpp>

#include <span>

namespace corymb::tune {

/// Families one of which is mostly about as good as the result of a search, in portfolio order: see
/// docs/decisions/0033. The caller leaves out families that have no plan for the request.
[[nodiscard]] std::span<const Family* const> plain_families(const PlanRequest& request) noexcept;

} // namespace corymb::tune
