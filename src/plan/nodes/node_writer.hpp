// SPDX-License-Identifier: Apache-2.0
// Writes the steps of plans for several nodes: messages take the network or stay in the node.
#pragma once

#include "plan/nodes/scheme.hpp"

#include <corymb/plan.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace corymb::nodes {

/// A message. With `own`, the receiver combines it: target = own (+) incoming, or the other way
/// round where it comes from a lower rank or `precedes`.
struct Arrival {
    Rank from = -1;
    Rank to = -1;
    Blocks source{};
    Blocks target{};
    Blocks own{};
    bool precedes = false;
};

/// Blocks that a rank has and gives to all ranks of `members` (itself among them), to stand in
/// equal places there.
struct Gift {
    Rank from = -1;
    std::span<const Rank> members{};
    Blocks blocks{};
};

class NodeWriter {
public:
    /// An empty plan for parts of `bytes` in `blocks` blocks.
    NodeWriter(Collective op, const Layout& layout, const Scheme& scheme, std::uint64_t bytes,
               std::uint32_t blocks, Rank root = 0);

    [[nodiscard]] Rank size() const noexcept { return plan_.size(); }
    [[nodiscard]] std::uint32_t block_count() const noexcept { return plan_.block_count; }
    void need_scratch(std::uint32_t places) {
        plan_.scratch_blocks = std::max(plan_.scratch_blocks, places);
    }

    /// Writes messages at once; messages of the network first. Empty ones are left out. `known`:
    /// later messages to the senders say that these were taken.
    void round(std::span<const Arrival> messages, bool known = false);
    /// Each gift goes around its members, all at once: by a store that they read, or down binomial
    /// trees.
    void give(std::span<const Gift> gifts);
    void copy(Rank rank, Blocks from, Blocks to);
    /// A notification that is awaited at once; and its halves.
    void signal(Rank from, Rank to);
    void signal_only(Rank from, Rank to);
    void wait_only(Rank rank, Rank from);

    /// The plan, with an acknowledgement for every buffer that was read in place.
    [[nodiscard]] Plan finished() &&;

private:
    void add(Rank rank, const Step& step) {
        plan_.steps[static_cast<std::size_t>(rank)].push_back(step);
    }
    [[nodiscard]] bool is_far(const Arrival& message) const;
    [[nodiscard]] Mechanism via(const Arrival& message) const;
    [[nodiscard]] bool fits_line(std::uint32_t places) const;
    void send(const Arrival& message);
    void receive(const Arrival& message);
    void local_round(std::span<const Arrival> messages);
    void store(std::span<const Gift> gifts);
    void pass_down(const Gift& gift);

    const Layout& layout_;
    Inside inside_;
    Plan plan_;
    std::vector<std::uint32_t> stores_;          // by rank: publications so far
    std::vector<std::pair<Rank, Rank>> lent_to_; // owner, reader
};

} // namespace corymb::nodes
