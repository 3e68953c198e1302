// SPDX-License-Identifier: Apache-2.0
// The option structs of the C interface, which may be older or newer than this library.
#pragma once

#include <corymb.h>
#include <corymb/process.hpp>
#include <corymb/team.hpp>

namespace corymb::c {

/// Null: all defaults. Throws Errc::invalid_argument for a struct that was not initialised or has
/// values that do not exist, Errc::unsupported for a newer one that sets what this library lacks.
[[nodiscard]] TeamOptions team_options(const corymb_options* given);
/// As team_options, for AttachOptions.
[[nodiscard]] AttachOptions attach_options(const corymb_attach_options* given);

} // namespace corymb::c
