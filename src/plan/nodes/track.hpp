// SPDX-License-Identifier: Apache-2.0
// Leaders that exchange their parts, and the places where each of them keeps parts.
#pragma once

#include "plan/generate/rounds.hpp"
#include "plan/nodes/scheme.hpp"

#include <corymb/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace corymb::nodes {

/// A leader and the ranks whose parts it brings.
struct Position {
    Rank leader = -1;
    std::vector<Rank> parts;
};

class Track {
public:
    void add(Position position) { positions_.push_back(std::move(position)); }
    [[nodiscard]] std::size_t size() const noexcept { return positions_.size(); }
    [[nodiscard]] const Position& operator[](std::size_t p) const { return positions_[p]; }

    /// Decides where data stands: in the output if the data that an exchange moves at once is a run
    /// of parts there, otherwise in scratch from `base` on. Returns the places of scratch that it
    /// takes.
    std::uint32_t settle(Exchange exchange, std::uint32_t base);
    [[nodiscard]] bool in_scratch() const noexcept { return in_scratch_; }
    /// The place where `holder` has the data that `count` positions from `first` on have brought.
    [[nodiscard]] Blocks range(std::size_t holder, std::size_t first, std::size_t count) const;
    /// All that `holder` has in scratch and where it belongs, in as few runs as possible: O(runs).
    [[nodiscard]] std::vector<std::pair<Blocks, Blocks>> runs(std::size_t holder) const;
    /// The hops of an allgather: doubling, ring or Bruck.
    [[nodiscard]] Rounds rounds(Exchange exchange) const;

private:
    [[nodiscard]] std::uint32_t places() const noexcept { return start_.back(); }

    std::vector<Position> positions_;
    std::vector<std::uint32_t> start_;      // by position, and the end: parts before it
    std::vector<Rank> parts_;               // of all positions
    std::vector<std::uint32_t> run_starts_; // in parts_: where those after it follow each other
    std::uint32_t base_ = 0;
    bool in_scratch_ = false;
    bool rotated_ = false; // everybody's own data comes first
};

} // namespace corymb::nodes
