// SPDX-License-Identifier: Apache-2.0
// Which elements of an array lie on which rank.
#pragma once

#include <corymb/rank.hpp>

#include <algorithm>
#include <cstddef>

namespace corymb {

/// How elements are dealt out to ranks. A value.
class ArrayMapping {
public:
    /// Each rank has one run of elements. Runs differ by one element at most.
    [[nodiscard]] static constexpr ArrayMapping block() noexcept { return ArrayMapping(0); }
    /// One element after the other goes to the next rank.
    [[nodiscard]] static constexpr ArrayMapping cyclic() noexcept { return ArrayMapping(1); }
    /// As cyclic, for tiles of so many elements, at least 1.
    [[nodiscard]] static constexpr ArrayMapping tiled(std::size_t elements) noexcept {
        return ArrayMapping(std::max<std::size_t>(elements, 1));
    }
    /// Elements of a tile; 0: block.
    [[nodiscard]] constexpr std::size_t tile() const noexcept { return tile_; }

private:
    explicit constexpr ArrayMapping(std::size_t tile) noexcept : tile_(tile) {}
    std::size_t tile_;
};

/// A mapping of `count` elements to `ranks` ranks. Elements of one rank keep their order. All
/// functions take constant time.
class ArrayLayout {
public:
    constexpr ArrayLayout(ArrayMapping mapping, std::size_t count, int ranks) noexcept
        : tile_(mapping.tile()), count_(count), ranks_(static_cast<std::size_t>(ranks)),
          short_run_(count / ranks_), long_runs_(count % ranks_) {}

    [[nodiscard]] constexpr std::size_t count() const noexcept { return count_; }
    [[nodiscard]] constexpr int ranks() const noexcept { return static_cast<int>(ranks_); }

    struct Place {
        Rank rank;
        std::size_t offset; ///< Among the elements of the rank.
        std::size_t run;    ///< Elements from here on that follow each other on the rank, at least.
    };
    [[nodiscard]] constexpr Place place(std::size_t index) const noexcept {
        if (tile_ != 0) {
            const std::size_t tile = index / tile_;
            const std::size_t within = index % tile_;
            return {static_cast<Rank>(tile % ranks_), tile / ranks_ * tile_ + within,
                    tile_ - within};
        }
        const std::size_t border = long_runs_ * (short_run_ + 1);
        if (index < border) {
            const std::size_t run = short_run_ + 1;
            return {static_cast<Rank>(index / run), index % run, run - index % run};
        }
        const std::size_t behind = index - border;
        return {static_cast<Rank>(long_runs_ + behind / short_run_), behind % short_run_,
                short_run_ - behind % short_run_};
    }
    /// Elements of a rank.
    [[nodiscard]] constexpr std::size_t size(Rank rank) const noexcept {
        const auto number = static_cast<std::size_t>(rank);
        if (tile_ == 0) {
            return short_run_ + (number < long_runs_ ? 1 : 0);
        }
        const std::size_t whole = count_ / tile_;
        const std::size_t rest = whole % ranks_;
        return (whole / ranks_ + (number < rest ? 1 : 0)) * tile_ +
               (number == rest ? count_ % tile_ : 0);
    }
    /// The index of an element of a rank.
    [[nodiscard]] constexpr std::size_t index(Rank rank, std::size_t offset) const noexcept {
        const auto number = static_cast<std::size_t>(rank);
        if (tile_ == 0) {
            return number * short_run_ + std::min(number, long_runs_) + offset;
        }
        return (offset / tile_ * ranks_ + number) * tile_ + offset % tile_;
    }

private:
    std::size_t tile_;
    std::size_t count_;
    std::size_t ranks_;
    std::size_t short_run_; ///< Block: the elements of most ranks ...
    std::size_t long_runs_; ///< ... and how many of the first ranks have one more.
};

} // namespace corymb
