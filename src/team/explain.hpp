// SPDX-License-Identifier: Apache-2.0
// CORYMB_EXPLAIN=1: prints a line on standard error for each plan that a process makes, and for
// each doubt about the model that plans are made on.
#pragma once

#include "base/tuned.hpp"
#include "team/team_shared.hpp"

#include <corymb/plan.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corymb::team {

/// Says that a plan of a team of so many ranks was `made` in that time; nothing unless asked for.
/// One write, so that lines of several processes do not mix. The line ends with the `numbers` that
/// decided.
void explain_plan(const PlanKey& key, const Plan& plan, std::string_view made, std::int64_t ns,
                  const std::vector<TunedNumber>& numbers = {}) noexcept;

/// Says what the model of `machine` lacks or doubts; nothing unless asked for.
void explain_doubts(std::string_view machine, const std::vector<std::string>& doubts) noexcept;

} // namespace corymb::team
