// SPDX-License-Identifier: Apache-2.0
// Vectors that must not grow where nothing may fail.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace corymb {

/// Makes room for `count` elements in all. Grows as push_back does: one more each time costs
/// quadratic time.
template <class T>
void make_room(std::vector<T>& list, std::size_t count) {
    if (count > list.capacity()) {
        list.reserve(std::max(count, 2 * list.capacity()));
    }
}

} // namespace corymb
