// SPDX-License-Identifier: Apache-2.0
// What the checker says of a plan, as text.
#pragma once

#include <corymb/error.hpp>
#include <corymb/plan.hpp>

#include <gtest/gtest.h>

#include <string>

namespace corymb::test {

/// The text of the refusal, or "" when the plan is accepted.
inline std::string refusal(const Plan& plan, bool ordered = false) {
    try {
        check_plan(plan, ordered);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_plan);
        return error.what();
    }
    return "";
}

} // namespace corymb::test
