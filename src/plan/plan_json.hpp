// SPDX-License-Identifier: Apache-2.0
// The parts of a plan's JSON form that the planner's file shares with it.
#pragma once

#include <corymb/plan.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace corymb::plan {

/// The head of a "corymb-plan/1" document: all fields of the plan itself but `steps`.
[[nodiscard]] nlohmann::ordered_json head_json(const Plan& plan);

/// The whole document: the members of `head`, then the plan's steps, one step a line.
[[nodiscard]] std::string document_json(const nlohmann::ordered_json& head, const Plan& plan);

} // namespace corymb::plan
