// SPDX-License-Identifier: Apache-2.0
// Lists that C callers get in arrays of their own.
#pragma once

#include "c/status.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace corymb::c {

/// Fills `entries` with as many of `found` as there is room for, each converted by `to_c`. Sets
/// `*count` to the number of `found`.
template <class Found, class Entry, class ToC>
void give_list(const std::vector<Found>& found, Entry* entries, std::size_t room,
               std::size_t* count, const ToC& to_c) {
    require(count, "count");
    if (room != 0) {
        require(entries, "room is not 0, but the array");
    }
    std::transform(found.begin(),
                   found.begin() + static_cast<std::ptrdiff_t>(std::min(room, found.size())),
                   entries, to_c);
    *count = found.size();
}

} // namespace corymb::c
