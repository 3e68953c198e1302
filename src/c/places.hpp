// SPDX-License-Identifier: Apache-2.0
// Sets the buffers of a call: parts of different lengths, and CORYMB_IN_PLACE.
#pragma once

#include "c/calls.hpp"

#include <corymb/team.hpp>

namespace corymb::c {

/// The unusual part of set_places: parts of different lengths, and CORYMB_IN_PLACE.
void set_special_places(CollectiveOperation& operation, const Arguments& arguments, Rank rank,
                        int size);

/// Fills in the buffers and their parts; the type of the elements is in `operation` already. Throws
/// Errc::invalid_argument for CORYMB_IN_PLACE where it has no meaning, and for counts that are
/// missing. For rank `rank` of a team of `size`.
inline void set_places(CollectiveOperation& operation, const Arguments& arguments, Rank rank,
                       int size) {
    operation.input = arguments.input;
    operation.output = arguments.output;
    operation.count = arguments.count;
    if (arguments.parts || operation.input == CORYMB_IN_PLACE ||
        operation.output == CORYMB_IN_PLACE) [[unlikely]] {
        set_special_places(operation, arguments, rank, size);
    }
}

} // namespace corymb::c
