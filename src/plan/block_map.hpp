// SPDX-License-Identifier: Apache-2.0
// The contents of a buffer's blocks, as ranges: a plan of 4096 blocks that move together costs no
// more than a plan of one.
#pragma once

#include <corymb/plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
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
    /// O(log ranges + ranges that it replaces + chunk size + chunks).
    void assign(std::uint32_t first, std::uint32_t count, const Value& value) {
        if (count == 0) {
            return;
        }
        Place place = find(first);
        if (!is_end(place) && at(place).first == first && at(place).end == first + count) {
            at(place).value = value; // All others stay where they are.
        } else {
            erase(first, count);
            place = insert(find(first), Range{first, first + count, value});
        }
        if (const Place next = after(place); !is_end(next)) {
            join_with_previous(next);
        }
        join_with_previous(place);
    }

    /// Forgets the blocks. As `assign`.
    void erase(std::uint32_t first, std::uint32_t count) {
        const std::uint32_t end = first + count;
        Place place = find(first);
        if (!is_end(place) && at(place).first < first) {
            const Range whole = at(place);
            at(place).end = first;
            place = after(place);
            if (whole.end > end) {
                insert(place, Range{end, whole.end, whole.value.advanced(end - whole.first)});
                return;
            }
        }
        while (!is_end(place) && at(place).end <= end) {
            place = remove_until(place, end);
        }
        if (!is_end(place) && at(place).first < end) {
            at(place).value = at(place).value.advanced(end - at(place).first);
            at(place).first = end;
        }
    }

    /// Calls visit(Range) for each known stretch of the blocks, clipped to them, in order; the
    /// blocks that were never assigned are left out.
    template <class Visit>
    void for_each(std::uint32_t first, std::uint32_t count, Visit visit) const {
        const std::uint32_t end = first + count;
        for (Place place = find(first); !is_end(place) && at(place).first < end;
             place = after(place)) {
            const Range& range = at(place);
            const std::uint32_t from = std::max(first, range.first);
            visit(Range{from, std::min(end, range.end), range.value.advanced(from - range.first)});
        }
    }

private:
    /// A buffer may have thousands of ranges that come and go in any order: a chunk is what moves.
    static constexpr std::size_t chunk_most = 64;
    using Chunk = std::vector<Range>;
    struct Place {
        std::size_t chunk = 0;
        std::size_t index = 0;
    };

    [[nodiscard]] bool is_end(Place place) const noexcept { return place.chunk == chunks_.size(); }
    [[nodiscard]] Range& at(Place place) { return chunks_[place.chunk][place.index]; }
    [[nodiscard]] const Range& at(Place place) const { return chunks_[place.chunk][place.index]; }
    [[nodiscard]] Place after(Place place) const {
        return place.index + 1 < chunks_[place.chunk].size() ? Place{place.chunk, place.index + 1}
                                                             : Place{place.chunk + 1, 0};
    }

    /// The range that holds the block, else the first one behind it.
    [[nodiscard]] Place find(std::uint32_t block) const {
        const auto ends_before = [block](const Range& range) {
            return range.end <= block;
        };
        const auto chunk = std::ranges::partition_point(
            chunks_, [&](const Chunk& one) { return ends_before(one.back()); });
        if (chunk == chunks_.end()) {
            return {chunks_.size(), 0};
        }
        const auto range = std::ranges::partition_point(*chunk, ends_before);
        return {static_cast<std::size_t>(chunk - chunks_.begin()),
                static_cast<std::size_t>(range - chunk->begin())};
    }

    /// Before a place; returns where it is.
    Place insert(Place place, const Range& range) {
        if (is_end(place)) {
            if (chunks_.empty() || chunks_.back().size() == chunk_most) {
                chunks_.emplace_back();
            }
            chunks_.back().push_back(range);
            return {chunks_.size() - 1, chunks_.back().size() - 1};
        }
        if (chunks_[place.chunk].size() == chunk_most) {
            constexpr std::size_t half = chunk_most / 2;
            const auto middle = chunks_[place.chunk].begin() + half;
            Chunk upper(middle, chunks_[place.chunk].end());
            chunks_[place.chunk].erase(middle, chunks_[place.chunk].end());
            chunks_.insert(chunks_.begin() + signed_of(place.chunk) + 1, std::move(upper));
            if (place.index > half) {
                place = {place.chunk + 1, place.index - half};
            }
        }
        Chunk& chunk = chunks_[place.chunk];
        chunk.insert(chunk.begin() + signed_of(place.index), range);
        return place;
    }

    /// Takes out ranges of one chunk, from this one on, that are over by `end`; returns where the
    /// next one is.
    Place remove_until(Place place, std::uint32_t end) {
        Chunk& chunk = chunks_[place.chunk];
        const auto first = chunk.begin() + signed_of(place.index);
        const auto last =
            std::find_if(first, chunk.end(), [end](const Range& range) { return range.end > end; });
        const auto next = chunk.erase(first, last);
        if (chunk.empty()) {
            chunks_.erase(chunks_.begin() + signed_of(place.chunk));
            return {place.chunk, 0};
        }
        return next == chunk.end() ? Place{place.chunk + 1, 0} : place;
    }

    /// Nothing for the first range.
    void join_with_previous(Place place) {
        if (place.index == 0 && place.chunk == 0) {
            return;
        }
        const Place before = place.index > 0
                                 ? Place{place.chunk, place.index - 1}
                                 : Place{place.chunk - 1, chunks_[place.chunk - 1].size() - 1};
        Range& previous = at(before);
        const Range& range = at(place);
        if (previous.end == range.first &&
            previous.value.advanced(previous.end - previous.first) == range.value) {
            previous.end = range.end;
            remove_until(place, range.end);
        }
    }

    [[nodiscard]] static std::ptrdiff_t signed_of(std::size_t index) noexcept {
        return static_cast<std::ptrdiff_t>(index);
    }

    std::vector<Chunk> chunks_; // None is empty; ranges are disjoint, by increasing blocks.
};

} // namespace corymb::plan
