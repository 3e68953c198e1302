// SPDX-License-Identifier: Apache-2.0
// The ranks' knowledge of each other's steps while a plan is followed (Mattern 1989, Fidge 1988).
#pragma once

#include "plan/matching.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace corymb::plan {

/// For up to `width` ranks, the number of their steps that are surely done, as known to a rank or
/// carried by a message; one stretch of the order after the other. A clock is shared by its rank
/// and the messages that the rank has sent since it last learned something.
class VectorClocks {
public:
    static constexpr std::size_t width = 128;

    explicit VectorClocks(const Matching& matching)
        : matching_(matching), column_(at(matching.plan().size()), -1),
          known_(column_.size(), none), carried_(matching.step_count(), none) {}

    /// Begins a stretch for these ranks; everything before the stretch is forgotten.
    void begin(std::span<const Rank> ranks) {
        std::ranges::for_each(ranks_, [this](Rank rank) { column_[at(rank)] = -1; });
        ranks_.assign(ranks.begin(), ranks.end());
        for (std::size_t column = 0; column < ranks_.size(); ++column) {
            column_[at(ranks_[column])] = static_cast<int>(column);
        }
        std::ranges::for_each(knowing_, [this](Rank rank) { known_[at(rank)] = none; });
        knowing_.clear();
        used_ = 0;
        free_.clear();
    }

    /// A sending step passes on its rank's knowledge.
    void send(StepNumber number, std::size_t receivers) {
        const std::uint32_t clock = known_[at(matching_.rank_of(number))];
        carried_[number] = clock;
        if (clock != none) {
            holders_[clock] += receivers;
        }
    }
    /// A step takes in the knowledge that a message of the stretch carries.
    void take(Rank rank, StepNumber message) {
        const Rank sender = matching_.rank_of(message);
        const std::uint32_t news = carried_[message];
        if (news == none && column_[at(sender)] < 0) {
            return;
        }
        Clock& known = own_clock(rank);
        if (news != none) {
            for (std::size_t column = 0; column < width; ++column) {
                known[column] = std::max(known[column], clocks_[news][column]);
            }
            release(news);
        }
        if (column_[at(sender)] >= 0) {
            std::int32_t& done = known[static_cast<std::size_t>(column_[at(sender)])];
            done = std::max(done, static_cast<std::int32_t>(matching_.index_of(message)));
        }
    }

    /// Whether `rank` knows that a step of another rank, one of those looked at, is done.
    [[nodiscard]] bool knows(Rank rank, StepNumber step) const {
        const std::uint32_t clock = known_[at(rank)];
        const auto column = static_cast<std::size_t>(column_[at(matching_.rank_of(step))]);
        return clock != none &&
               clocks_[clock][column] > static_cast<std::int32_t>(matching_.index_of(step));
    }

private:
    static std::size_t at(Rank rank) noexcept { return static_cast<std::size_t>(rank); }

    using Clock = std::array<std::int32_t, width>;
    static constexpr std::uint32_t none = 0xffffffffU;

    /// A clock of the rank that no message shares.
    Clock& own_clock(Rank rank) {
        std::uint32_t& clock = known_[at(rank)];
        if (clock == none) {
            knowing_.push_back(rank);
            clock = make(Clock{});
        } else if (holders_[clock] > 1) {
            --holders_[clock];
            clock = make(clocks_[clock]);
        }
        return clocks_[clock];
    }
    // `content` is passed by value: the place of the original may move.
    std::uint32_t make(Clock content) {
        if (free_.empty()) {
            free_.push_back(used_++);
            clocks_.resize(std::max<std::size_t>(clocks_.size(), used_));
            holders_.resize(clocks_.size());
        }
        const std::uint32_t clock = free_.back();
        free_.pop_back();
        clocks_[clock] = content;
        holders_[clock] = 1;
        return clock;
    }
    void release(std::uint32_t clock) {
        if (--holders_[clock] == 0) {
            free_.push_back(clock);
        }
    }

    const Matching& matching_;
    std::vector<Rank> ranks_;            // that are looked at
    std::vector<int> column_;            // by rank: its place among the ranks looked at, or -1
    std::vector<std::uint32_t> known_;   // by rank: its clock, or none if it knows of nothing
    std::vector<std::uint32_t> carried_; // by sending step
    std::vector<Rank> knowing_;          // ranks with a clock
    std::deque<Clock> clocks_;
    std::vector<std::size_t> holders_; // of each clock: messages under way, and its rank
    std::vector<std::uint32_t> free_;
    std::uint32_t used_ = 0; // clocks, free ones included
};

} // namespace corymb::plan
