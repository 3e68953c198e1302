// SPDX-License-Identifier: Apache-2.0
// The object behind a corymb_call.
#pragma once

#include "c/calls.hpp"
#include "team/known_call.hpp"

struct corymb_call : corymb::c::SlotBase<corymb_call> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620010;
    static constexpr const char* name = "the call";

    corymb_team* team = nullptr; ///< Lives longer.
    std::optional<corymb::c::Arguments> arguments;
    corymb::detail::KnownCall known;
    bool has_own_operator = false; ///< The operator is the user's; each call looks after it.
};
