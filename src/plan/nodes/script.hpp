// SPDX-License-Identifier: Apache-2.0
// Moves of data, round by round, before mechanisms are chosen. Operations in which every rank has
// parts of its own for others are composed of such moves.
#pragma once

#include "plan/nodes/scheme.hpp"
#include "plan/nodes/writer_for.hpp"

#include <corymb/plan.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace corymb::nodes {

class Script {
public:
    explicit Script(const Layout& layout)
        : layout_(&layout), used_(static_cast<std::size_t>(layout.size()), 0) {}

    /// Moves of one round do not depend on each other.
    void begin_round() { rounds_.emplace_back(); }
    /// Within a rank it is a copy. Goes on with the last move where both ends follow each other.
    void move(Rank from, Rank to, Blocks source, Blocks target);
    /// The receiver combines it, as a Transfer says.
    void fold(Rank from, Rank to, Blocks source, Blocks target, Blocks own, bool precedes = false);

    /// So many places of scratch of a rank that no other move uses.
    [[nodiscard]] Blocks scratch(Rank rank, std::size_t count);

    /// The script that moves all data back to its origin, with input and output exchanged: a
    /// scatter out of a gather. Without folds.
    [[nodiscard]] Script reversed() const;
    /// Writes the moves: between two ranks of a node one message at a time, between nodes all at
    /// once.
    void play(PlanWriter& writer) const;

private:
    using Round = std::vector<Transfer>;
    void add(const Transfer& move);
    void play(PlanWriter& writer, const Round& round) const;

    const Layout* layout_;
    std::vector<Round> rounds_;
    std::vector<std::uint32_t> used_; // by rank: places of scratch
};

/// A scan or exscan from each of these groups to the next; together they are all ranks in order.
[[nodiscard]] Script scan_chain(Collective op, std::vector<std::vector<Rank>> groups,
                                const Layout& layout, std::uint32_t pieces);

/// The layout of the acting nodes. For the role `flat` every rank is a node, numbered node after
/// node. For `runs` each run is a node. For other roles it is `layout`.
[[nodiscard]] Layout actors(const Layout& layout, const Scheme& scheme);

/// Ranks that follow each other: their parts lie side by side.
[[nodiscard]] bool is_run(std::span<const Rank> ranks);

/// The place of one part.
[[nodiscard]] inline Blocks part(Buffer buffer, Rank rank) {
    return {buffer, static_cast<std::uint32_t>(rank), 1};
}
[[nodiscard]] inline Blocks slice(Blocks blocks, std::size_t first, std::size_t count = 1) {
    return {blocks.buffer, blocks.first + static_cast<std::uint32_t>(first),
            static_cast<std::uint32_t>(count)};
}

} // namespace corymb::nodes
