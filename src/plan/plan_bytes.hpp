// SPDX-License-Identifier: Apache-2.0
// A plan as few bytes, for ranks that hand it to each other: less than a quarter of its JSON form.
// Only for processes of one job; files and other programs get JSON.
#pragma once

#include <corymb/plan.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace corymb::plan {

/// Writes a plan as bytes. Numbers are in groups of seven bits, so that the bytes are equal on
/// every machine. O(steps).
[[nodiscard]] std::string to_bytes(const Plan& plan);

/// Reads a plan from the bytes of `to_bytes`, with the limits of `plan_from_json`. Throws
/// Errc::invalid_plan for bytes that are not a whole such text, or are another library version's.
/// It does not prove the plan.
[[nodiscard]] Plan plan_from_bytes(std::string_view bytes);

/// Appends a number, written as a plan's numbers are.
void put_number(std::string& bytes, std::uint64_t number);
/// Takes one off the front. Throws as `plan_from_bytes`, also for one that is more than `most`.
[[nodiscard]] std::uint64_t take_number(std::string_view& bytes, std::uint64_t most);
/// Takes so many bytes off the front. Throws as `plan_from_bytes`.
[[nodiscard]] std::string_view take_bytes(std::string_view& bytes, std::uint64_t count);

} // namespace corymb::plan
