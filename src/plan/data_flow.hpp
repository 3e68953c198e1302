// SPDX-License-Identifier: Apache-2.0
// Symbolic execution: finds the place of each block of the payload, and the ranks that have
// contributed to it.
#pragma once

#include "plan/block_map.hpp"
#include "plan/contributions.hpp"
#include "plan/items.hpp"
#include "plan/matching.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace corymb::plan {

/// A visitor of `Execution` that keeps the contents of every block of every buffer. It refuses
/// steps that read missing data, put a block into a place that is another's, or combine wrongly.
/// Time and memory grow with steps and ranges of blocks, not with the number of blocks.
class DataFlow {
public:
    /// With `ordered`, operands must be runs of consecutive ranks in their order.
    DataFlow(const Matching& matching, bool ordered);

    void perform(StepNumber number);
    void complete(StepNumber) noexcept {}
    /// After the last step: throws unless every rank that is to have the result has it.
    void verify_results() const;
    /// Whether every block that came into an output belongs there at the end; see `keeps_parts`.
    [[nodiscard]] bool stays_in_place() const noexcept { return stays_in_place_; }

private:
    /// Block `item`, combined over the ranks `from`. Where nothing is combined, `from` is rank 0.
    struct Content {
        Item item = 0;
        Contributions::Set from = 0;

        bool operator==(const Content&) const = default;
        [[nodiscard]] Content advanced(std::uint32_t n) const noexcept { return {item + n, from}; }
    };
    using Contents = BlockMap<Content>;
    using Range = Contents::Range;
    /// The contents of a message: ranges that count from 0, back to back.
    struct Extent {
        std::size_t offset = 0;
        std::size_t count = 0;
    };

    Contents& contents(Rank rank, Buffer buffer) {
        return contents_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(buffer)];
    }
    [[nodiscard]] const Contents& contents(Rank rank, Buffer buffer) const {
        return contents_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(buffer)];
    }

    void collect(StepNumber number, const Blocks& blocks, std::vector<Range>& into) const;
    [[nodiscard]] std::span<const Range> taken(const Step& read, std::span<const Range> all);
    void give_room(StepNumber offer);
    void deposit(StepNumber number, std::span<const Range> ranges);
    void fold(StepNumber number, std::span<const Range> incoming);
    void overwrite_input(Rank rank, std::uint32_t first, std::uint32_t count);
    void verify_result(Rank rank) const;
    [[nodiscard]] std::string name_of(Item item) const;
    [[nodiscard]] Range combined(StepNumber number, const Range& local, const Range& incoming);
    [[noreturn]] void refuse(StepNumber number, const std::string& what) const;

    const Matching& matching_;
    const Plan& plan_;
    bool ordered_;
    bool stays_in_place_ = true;
    Contributions contributions_;
    std::vector<std::array<Contents, 3>> contents_; // [rank][buffer]
    std::vector<Extent> message_;                   // by sending step
    std::vector<Range> message_ranges_;
    std::vector<Range> local_;
    std::vector<Range> result_;
    std::vector<Range> taken_;
};

} // namespace corymb::plan
