// SPDX-License-Identifier: Apache-2.0
// Whom the holder of a range of positions tells, and which part of the range each of them gets. The
// protocol and its simulation share this.
#pragma once

#include "multicast/shape.hpp"
#include "multicast/snapshot.hpp"

#include <algorithm>

namespace corymb::multicast {

/// Along the static tree of `shape.end`. Calls `tell(member, first, end)` for each member that the
/// holder tells, with the range that it forwards in turn, and `pass(position)` for each position
/// that is tested and found to be no member: its children come next in the preorder, so the holder
/// does their share. Returns how many it told.
template <class Word, class Tell, class Pass>
std::uint32_t spread_tree(const Shape& shape, Snapshot<Word> named, Position first, Position end,
                          const Tell& tell, const Pass& pass) {
    std::uint32_t told = 0;
    for (Position p = first; p < end;) {
        if (shape.skipping) {
            p = named.next(p, end);
            if (p >= end) {
                break;
            }
        } else if (!named.has(p)) {
            pass(p);
            ++p;
            continue;
        }
        tell(p, p + 1, shape.end[p]);
        p = shape.end[p];
        ++told;
    }
    return told;
}

/// Into parts with equally many members; into as many as there are members when these are few.
template <class Word, class Tell>
std::uint32_t spread_split(const Shape& shape, Snapshot<Word> named, Position first, Position end,
                           const Tell& tell) {
    const std::uint32_t members = named.count(first, end);
    const std::uint32_t parts =
        members <= shape.flat_up_to ? members : std::min(members, shape.fan_out);
    Position from = first;
    for (std::uint32_t part = 0; part < parts; ++part) {
        const std::uint32_t share = members / parts + (part < members % parts ? 1 : 0);
        const Position leader = named.next(from, end);
        from = named.behind(leader, share);
        tell(leader, leader + 1, from);
    }
    return parts;
}

template <class Word, class Tell, class Pass>
std::uint32_t spread(const Shape& shape, Snapshot<Word> named, Position first, Position end,
                     const Tell& tell, const Pass& pass) {
    return shape.fan_out == 0 ? spread_tree(shape, named, first, end, tell, pass)
                              : spread_split(shape, named, first, end, tell);
}

} // namespace corymb::multicast
