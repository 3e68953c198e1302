// SPDX-License-Identifier: Apache-2.0
// Matches steps to each other: all steps of a plan under one numbering, with their partners.
#pragma once

#include <corymb/plan.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace corymb::plan {

/// Number of a step in the whole plan: the steps of rank 0, then those of rank 1, and so on.
using StepNumber = std::uint32_t;
inline constexpr StepNumber no_step = 0xffffffffu;

/// The messages of a plan. Built from a plan that `check_shape` has passed; keeps a reference to
/// it.
class Matching {
public:
    /// Throws Errc::invalid_plan when a message, notification or publication has no partner, or the
    /// partners disagree. O(steps + ranks).
    explicit Matching(const Plan& plan);

    [[nodiscard]] const Plan& plan() const noexcept { return *plan_; }
    [[nodiscard]] StepNumber step_count() const noexcept { return offset_.back(); }
    [[nodiscard]] StepNumber first_step(Rank rank) const noexcept { return offset_[index(rank)]; }
    [[nodiscard]] StepNumber end_step(Rank rank) const noexcept { return offset_[index(rank) + 1]; }
    [[nodiscard]] Rank rank_of(StepNumber number) const noexcept { return rank_of_[number]; }
    /// Position of the step in the program of its rank.
    [[nodiscard]] std::uint32_t index_of(StepNumber number) const noexcept {
        return number - offset_[index(rank_of_[number])];
    }
    [[nodiscard]] const Step& step(StepNumber number) const noexcept {
        return plan_->steps[index(rank_of_[number])][index_of(number)];
    }

    /// The partner of a step. For signal, send and offer it is the step that receives; for wait,
    /// recv, fold, read, read_fold, put and put_fold the step that is awaited. `no_step` for
    /// publish and copy.
    [[nodiscard]] StepNumber partner(StepNumber number) const noexcept { return partner_[number]; }

    /// The steps that read a publication, in the order of their numbers.
    [[nodiscard]] std::span<const StepNumber> readers(StepNumber publication) const noexcept {
        const auto [first, end] = reader_range(publication);
        return {readers_.data() + first, end - first};
    }

    /// The step that must have completed before a send or publish surely has room, under the least
    /// buffering that the mechanisms and the plan's `cell_slots` guarantee: the receive of this
    /// earlier message, or all reads of this earlier publication. `no_step`: there is always room.
    [[nodiscard]] StepNumber needs_room(StepNumber number) const noexcept { return room_[number]; }

    /// Whether the send may only complete once its partner has been reached: the message does not
    /// fit the channel.
    [[nodiscard]] bool is_rendezvous(StepNumber send) const noexcept {
        return rendezvous_[send] != 0;
    }

private:
    static std::size_t index(Rank rank) noexcept { return static_cast<std::size_t>(rank); }
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t>
    reader_range(StepNumber publication) const noexcept {
        const std::uint32_t which = publication_index_[publication];
        return {reader_offset_[which], reader_offset_[which + 1]};
    }

    void number_steps();
    void match_messages();
    void match_pair(StepNumber sending, StepNumber receiving);
    void match_offer(StepNumber offering, StepNumber putting) const;
    void find_room(std::span<const StepNumber> edge);
    void match_publications();
    void collect_readers();
    void match_reads(Rank rank);

    const Plan* plan_;
    std::vector<StepNumber> offset_; // one more than ranks
    std::vector<Rank> rank_of_;
    std::vector<StepNumber> partner_;
    std::vector<StepNumber> room_;
    std::vector<std::uint8_t> rendezvous_;
    std::vector<std::uint32_t> publication_index_;  // dense number of each publish step
    std::vector<StepNumber> publications_;          // in the order of their numbers
    std::vector<std::uint32_t> publication_offset_; // first publication of each rank
    std::vector<std::uint32_t> reader_offset_;
    std::vector<StepNumber> readers_;
};

} // namespace corymb::plan
