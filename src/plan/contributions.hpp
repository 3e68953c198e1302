// SPDX-License-Identifier: Apache-2.0
// Sets of ranks whose contributions a partial result holds.
#pragma once

#include <corymb/plan.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace corymb::plan {

/// Sets of ranks, each stored once: equal sets have equal numbers.
class Contributions {
public:
    using Set = std::uint32_t;

    explicit Contributions(Rank ranks);

    /// The set of one rank. O(1).
    [[nodiscard]] Set single(Rank rank) const noexcept { return static_cast<Set>(rank); }
    /// The union of disjoint sets; nothing when they share a rank. O(intervals), O(1) if seen
    /// before.
    [[nodiscard]] std::optional<Set> join(Set left, Set right);
    /// The set is exactly the ranks first to end - 1.
    [[nodiscard]] bool is_run(Set set, Rank first, Rank end) const noexcept;
    /// Whether both are runs of consecutive ranks and `right` starts where `left` ends.
    [[nodiscard]] bool are_adjacent(Set left, Set right) const noexcept;
    /// The smallest rank in both sets, which must not be disjoint.
    [[nodiscard]] Rank first_common(Set left, Set right) const noexcept;
    /// The smallest of the ranks 0 to end - 1 that is not in the set, or -1.
    [[nodiscard]] Rank first_missing(Set set, Rank end) const noexcept;
    /// The largest rank in the set.
    [[nodiscard]] Rank last(Set set) const noexcept { return intervals(set).back().end - 1; }

private:
    struct Interval {
        Rank first, end;
        bool operator==(const Interval&) const = default;
    };
    struct Extent {
        std::size_t offset;
        std::size_t count;
    };

    [[nodiscard]] std::span<const Interval> intervals(Set set) const noexcept {
        return {intervals_.data() + sets_[set].offset, sets_[set].count};
    }
    [[nodiscard]] bool merge(std::span<const Interval> left, std::span<const Interval> right);
    [[nodiscard]] Set intern();

    std::vector<Interval> intervals_; // of all sets
    std::vector<Extent> sets_;
    std::vector<Interval> merged_; // the union being built
    std::unordered_multimap<std::uint64_t, Set> by_hash_;
    std::unordered_map<std::uint64_t, Set> joined_; // left << 32 | right -> union
};

} // namespace corymb::plan
