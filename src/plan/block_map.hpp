// SPDX-License-Identifier: Apache-2.0
// What each block of a buffer holds, as ranges: a plan of 4096 blocks that move together costs no
// more than a plan of one.
#pragma once

#include <corymb/plan.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace corymb::plan {

/// Maps block numbers to values. `Value` has operator== and `advanced(n)`: the value of the n-th
/// block of a range whose first block has this value.
template <class Value>
class BlockMap {
public:
    struct Range {
        std::uint32_t first = 0;
        std::uint32_t end = 0;
        Value value{};
    };

    /// Gives the blocks first .. first + count - 1 the values value.advanced(0), advanced(1), ...
    /// O(ranges).
    void assign(std::uint32_t first, std::uint32_t count, const Value& value) {
        if (count == 0) {
            return;
        }
        auto place = erase(first, count);
        place = std::next(ranges_.insert(place, Range{first, first + count, value}));
        if (place != ranges_.end()) {
            join_with_previous(place);
        }
        place = find_in(ranges_, first);
        if (place != ranges_.begin()) {
            join_with_previous(place);
        }
    }

    /// Forgets the blocks; returns where a range could be put in. O(ranges).
    auto erase(std::uint32_t first, std::uint32_t count) {
        const std::uint32_t end = first + count;
        auto place = find_in(ranges_, first);
        if (place != ranges_.end() && place->first < first) {
            const Range whole = *place;
            place->end = first;
            place = std::next(place);
            if (whole.end > end) {
                return ranges_.insert(
                    place, Range{end, whole.end, whole.value.advanced(end - whole.first)});
            }
        }
        auto last = place;
        while (last != ranges_.end() && last->end <= end) {
            ++last;
        }
        if (last != ranges_.end() && last->first < end) {
            last->value = last->value.advanced(end - last->first);
            last->first = end;
        }
        return ranges_.erase(place, last);
    }

    /// Calls visit(Range) for each known stretch of the blocks, clipped to them, in order; the
    /// blocks that were never assigned are left out.
    template <class Visit>
    void for_each(std::uint32_t first, std::uint32_t count, Visit visit) const {
        const std::uint32_t end = first + count;
        for (auto place = find_in(ranges_, first); place != ranges_.end() && place->first < end;
             ++place) {
            const std::uint32_t from = std::max(first, place->first);
            visit(
                Range{from, std::min(end, place->end), place->value.advanced(from - place->first)});
        }
    }

private:
    using Place = typename std::vector<Range>::iterator;

    /// The range that holds the block, else the first one behind it.
    template <class Ranges>
    static auto find_in(Ranges& ranges, std::uint32_t block) {
        return std::partition_point(ranges.begin(), ranges.end(),
                                    [block](const Range& range) { return range.end <= block; });
    }

    void join_with_previous(Place place) {
        const Place previous = std::prev(place);
        if (previous->end == place->first &&
            previous->value.advanced(previous->end - previous->first) == place->value) {
            previous->end = place->end;
            ranges_.erase(place);
        }
    }

    std::vector<Range> ranges_; // disjoint, by increasing blocks
};

} // namespace corymb::plan
