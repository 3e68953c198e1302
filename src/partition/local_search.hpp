// SPDX-License-Identifier: Apache-2.0
// How one rank moves its own vertices between parts while those of other ranks stay.
#pragma once

#include "base/random.hpp"
#include "partition/refine.hpp"

#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

namespace corymb::partition {

/// Searches that start at single vertices and accept moves that make the cut larger for a while:
/// Sanders, Schulz, "Engineering multilevel graph partitioning algorithms", ESA 2011. Uses and
/// changes `parts.of` of own vertices only.
class LocalSearch {
public:
    /// By part: weight that this rank may add. What it takes away, it may add again.
    using Room = std::vector<Weight>;

    LocalSearch(const SharedGraph& graph, Assignment& parts, std::uint64_t seed)
        : graph_(graph), parts_(parts), random_(seed), connection_(parts.weights.size()),
          is_moved_(graph.own()) {}

    /// A round begins: finds the vertices with neighbours in other parts. Each is looked at in one
    /// step of each phase.
    void begin_round();
    /// Steps of the two phases: moves that make the cut smaller at once, then searches. Vertices
    /// beside ghosts only move to parts with higher numbers (`is_upward`) or with lower ones: two
    /// neighbours on two ranks must not change places. `is_alone`: there are no other ranks.
    struct Step {
        int number = 0;
        int count = 1;
        bool is_upward = true;
        bool is_alone = true;
    };
    void move_winners(Room room, const Step& step);
    void search(Room room, const Step& step);

    /// Moves vertices out of parts that are too heavy, cheapest ones first: at most `surplus` of
    /// each part, into the room of others.
    void unload(std::vector<Weight> surplus, Room room);

private:
    struct Move {
        std::uint32_t part = 0;
        Weight gain = 0;
        bool exists = false;
    };
    struct Entry {
        Weight gain;
        std::uint32_t order; ///< Random: breaks ties.
        Vertex vertex;
        bool operator<(const Entry& other) const noexcept {
            return std::tie(gain, order, vertex) < std::tie(other.gain, other.order, other.vertex);
        }
    };
    template <class Visit>
    void for_each_of_step(const Step& step, Visit&& visit);
    [[nodiscard]] Move best_move(Vertex own);
    void apply(Vertex own, std::uint32_t to);
    void search_from(Vertex start);
    void push(Vertex own);

    const SharedGraph& graph_;
    Assignment& parts_;
    Random random_;
    Room room_;
    Step step_;
    std::vector<Vertex> border_;     ///< In random order.
    std::vector<Weight> connection_; ///< Invariant: zeros between calls.
    std::vector<std::uint32_t> touched_;
    std::vector<std::uint8_t> is_moved_; ///< By a search of this round.
    std::priority_queue<Entry> queue_;
    std::vector<std::pair<Vertex, std::uint32_t>> moves_; ///< A search's: vertex, part before.
};

} // namespace corymb::partition
