// SPDX-License-Identifier: Apache-2.0
#include "plan/contributions.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <string>

namespace corymb::plan {

namespace {

/// 512 MiB of intervals: no plan that makes sense comes near.
constexpr std::size_t interval_count_max = std::size_t{1} << 26;

} // namespace

Contributions::Contributions(Rank ranks) {
    for (Rank rank = 0; rank < ranks; ++rank) {
        merged_.assign(1, Interval{rank, rank + 1});
        static_cast<void>(intern());
    }
}

std::optional<Contributions::Set> Contributions::join(Set left, Set right) {
    const auto [low, high] = std::minmax(left, right);
    const std::uint64_t pair = std::uint64_t{low} << 32 | high;
    if (const auto known = joined_.find(pair); known != joined_.end()) {
        return known->second;
    }
    if (!merge(intervals(left), intervals(right))) {
        return std::nullopt;
    }
    const Set united = intern();
    joined_.emplace(pair, united);
    return united;
}

/// Puts the union into `merged_`; false when the sets are not disjoint.
bool Contributions::merge(std::span<const Interval> left, std::span<const Interval> right) {
    merged_.clear();
    std::size_t l = 0;
    std::size_t r = 0;
    while (l < left.size() || r < right.size()) {
        const bool take_left =
            r == right.size() || (l < left.size() && left[l].first < right[r].first);
        const Interval next = take_left ? left[l++] : right[r++];
        if (merged_.empty() || merged_.back().end < next.first) {
            merged_.push_back(next);
        } else if (merged_.back().end == next.first) {
            merged_.back().end = next.end;
        } else {
            return false;
        }
    }
    return true;
}

Contributions::Set Contributions::intern() {
    std::uint64_t hash = merged_.size();
    for (const Interval& interval : merged_) {
        hash = (hash ^ static_cast<std::uint64_t>(interval.first)) * 0x9e3779b97f4a7c15u;
        hash =
            (hash ^ static_cast<std::uint64_t>(interval.end) ^ (hash >> 32)) * 0xbf58476d1ce4e5b9u;
    }
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto place = first; place != last; ++place) {
        if (std::ranges::equal(intervals(place->second), merged_)) {
            return place->second;
        }
    }
    if (intervals_.size() + merged_.size() > interval_count_max) {
        throw Error(Errc::invalid_plan, "plan: combines contributions in so many ways that it "
                                        "cannot be checked in reasonable memory");
    }
    const auto set = static_cast<Set>(sets_.size());
    sets_.push_back({intervals_.size(), merged_.size()});
    intervals_.insert(intervals_.end(), merged_.begin(), merged_.end());
    by_hash_.emplace(hash, set);
    return set;
}

bool Contributions::is_run(Set set, Rank first, Rank end) const noexcept {
    return sets_[set].count == 1 && intervals(set).front() == Interval{first, end};
}

bool Contributions::are_adjacent(Set left, Set right) const noexcept {
    return sets_[left].count == 1 && sets_[right].count == 1 &&
           intervals(left).front().end == intervals(right).front().first;
}

Rank Contributions::first_common(Set left, Set right) const noexcept {
    const auto a = intervals(left);
    const auto b = intervals(right);
    std::size_t l = 0;
    std::size_t r = 0;
    while (l < a.size() && r < b.size()) {
        const Rank first = std::max(a[l].first, b[r].first);
        if (first < std::min(a[l].end, b[r].end)) {
            return first;
        }
        ++(a[l].end < b[r].end ? l : r);
    }
    return -1;
}

Rank Contributions::first_missing(Set set, Rank end) const noexcept {
    const Interval first = intervals(set).front();
    const Rank missing = first.first > 0 ? 0 : first.end;
    return missing < end ? missing : -1;
}

} // namespace corymb::plan
