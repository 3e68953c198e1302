// SPDX-License-Identifier: Apache-2.0
// Finds ranks of a placement that are alike: a plan for one of them as root serves the others.
#pragma once

#include "plan/renumber.hpp"

#include <corymb/machine.hpp>
#include <corymb/rank.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace corymb::plan {

/// Immutable after construction.
class AlikeRanks {
public:
    /// Compares pairs of ranks by their class and by the given levels that hold both: costs of
    /// single pairs differ by chance. Models
    /// without classes and placements of more than 256 ranks have no ranks that are alike. O(n^2).
    AlikeRanks(const Machine& machine, std::span<const int> placement);

    /// The lower rank that `rank` is like; nothing when it stands for itself, or when none was
    /// found. Finds alike ranks on machines whose levels have parts of equal size. Equal models
    /// give equal answers everywhere. O(n^2) for each rank that looks alike, mostly one.
    [[nodiscard]] std::optional<Likeness> of(Rank rank) const;

private:
    [[nodiscard]] int class_of(Rank from, Rank to) const noexcept {
        return classes_[static_cast<std::size_t>(from) * size_ + static_cast<std::size_t>(to)];
    }
    [[nodiscard]] std::optional<std::vector<Rank>> renumbering(Rank from, Rank to) const;
    [[nodiscard]] bool fits(const std::vector<Rank>& rank_of, Rank rank, Rank candidate) const;

    std::size_t size_ = 0;
    std::vector<std::int32_t> classes_; ///< Row-major; -1 on the diagonal. Empty: nobody is alike.
    std::vector<int> looks_;            ///< Equal for ranks with equally many pairs of each class.
};

} // namespace corymb::plan
