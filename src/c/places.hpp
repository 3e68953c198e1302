// SPDX-License-Identifier: Apache-2.0
// Where the buffers of a call lie: parts of different lengths, and CORYMB_IN_PLACE.
#pragma once

#include "c/calls.hpp"

#include <corymb/team.hpp>

namespace corymb::c {

/// Fills in the buffers and their parts; the type of the elements is in `wish` already. Throws
/// Errc::invalid_argument for CORYMB_IN_PLACE where it has no meaning, and for counts that are
/// missing. For rank `rank` of a team of `size`.
void set_places(detail::Wish& wish, const Arguments& arguments, Rank rank, int size);

} // namespace corymb::c
