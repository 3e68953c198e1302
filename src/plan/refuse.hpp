// SPDX-License-Identifier: Apache-2.0
// The one way in which the checker says no.
#pragma once

#include <corymb/plan.hpp>

#include <string>

namespace corymb::plan {

/// Throws Errc::invalid_plan: "rank 3, step 5 (recv from 2): what".
[[noreturn]] void refuse(const Plan& plan, Rank rank, std::size_t index, const std::string& what);

/// Throws Errc::invalid_plan about the whole of a rank's program: "rank 3: what".
[[noreturn]] void refuse(Rank rank, const std::string& what);

/// A step as error texts name it: "send to 3 via line", "publish".
[[nodiscard]] std::string described(const Step& step);

} // namespace corymb::plan
