// SPDX-License-Identifier: Apache-2.0
#include "partition/refine.hpp"

#include "partition/local_search.hpp"
#include "partition/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace corymb::partition {

namespace {

/// Collective. Ghosts and weights.
void weigh(Team& team, const SharedGraph& graph, Assignment& parts) {
    graph.update_ghosts<std::uint32_t>(team, parts.of);
    std::fill(parts.weights.begin(), parts.weights.end(), 0);
    for (Vertex own = 0; own < graph.own(); ++own) {
        parts.weights[parts.of[own]] += graph.vertex_weight(own);
    }
    team.allreduce(parts.weights, parts.weights);
}

class Refinement {
public:
    Refinement(Team& team, const SharedGraph& graph, Assignment& parts, std::uint64_t seed)
        : team_(team), graph_(graph), parts_(parts),
          search_(graph, parts,
                  seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(team.rank()) + 1) {}

    void run() {
        balance();
        for (int round = 0; round < tuning::refinement_rounds; ++round) {
            const Assignment before = parts_;
            improve(round);
            count(team_, graph_, parts_);
            if (parts_.cut > before.cut) {
                parts_ = before;
            }
            const auto won = static_cast<double>(before.cut - parts_.cut);
            // Two rounds, so that vertices could move both ways.
            if (won <= tuning::worthwhile_gain * static_cast<double>(before.cut)) {
                if (round > 0 || team_.size() == 1) {
                    return;
                }
            }
        }
    }

private:
    void improve(int round) {
        search_.begin_round();
        LocalSearch::Step step;
        step.is_alone = team_.size() == 1;
        step.count = step.is_alone ? 1 : static_cast<int>(tuning::steps_of_a_refinement);
        for (const bool searches : {false, true}) {
            for (step.number = 0; step.number < step.count; ++step.number) {
                step.is_upward = (round + step.number) % 2 == 0;
                searches ? search_.search(shares(step.number), step)
                         : search_.move_winners(shares(step.number), step);
                weigh(team_, graph_, parts_);
            }
        }
    }

    [[nodiscard]] Weight excess() const {
        Weight sum = 0;
        for (const Weight weight : parts_.weights) {
            sum += std::max<Weight>(weight - parts_.limit, 0);
        }
        return sum;
    }

    /// This rank's share of the room in each part, such that all ranks together cannot exceed it.
    [[nodiscard]] std::vector<Weight> shares(int turn) const {
        std::vector<Weight> room;
        for (std::size_t part = 0; part < parts_.weights.size(); ++part) {
            room.push_back(share_of(parts_.limit - parts_.weights[part], part, turn));
        }
        return room;
    }
    [[nodiscard]] Weight share_of(Weight whole, std::size_t part, int turn) const {
        if (whole <= 0) {
            return 0;
        }
        // What cannot be divided goes to some of the ranks, by turns.
        const Weight size = team_.size();
        const Weight place = (team_.rank() + turn + static_cast<Weight>(part)) % size;
        return whole / size + (place < whole % size ? 1 : 0);
    }

    /// Until no part exceeds the limit. First all ranks move a share; if that does not help, one
    /// rank after the other moves all that it can.
    void balance() {
        const int size = team_.size();
        for (int fruitless = 0, turn = 0; excess() > 0 && fruitless <= size; ++turn) {
            const bool is_shared = fruitless == 0;
            const bool is_mine = (turn % size) == team_.rank();
            std::vector<Weight> surplus;
            std::vector<Weight> room;
            for (std::size_t part = 0; part < parts_.weights.size(); ++part) {
                const Weight over = parts_.weights[part] - parts_.limit;
                surplus.push_back(is_shared ? share_of(over, part, turn)
                                            : std::max<Weight>(is_mine ? over : 0, 0));
                room.push_back(is_shared ? share_of(-over, part, turn)
                                         : std::max<Weight>(is_mine ? -over : 0, 0));
            }
            const Weight before = excess();
            search_.unload(std::move(surplus), std::move(room));
            count(team_, graph_, parts_);
            fruitless = excess() < before ? 0 : fruitless + 1;
        }
    }

    Team& team_;
    const SharedGraph& graph_;
    Assignment& parts_;
    LocalSearch search_;
};

} // namespace

void count(Team& team, const SharedGraph& graph, Assignment& parts) {
    weigh(team, graph, parts);
    Weight ends = 0;
    for (Vertex own = 0; own < graph.own(); ++own) {
        graph.for_each_neighbour(own, [&](Vertex to, Weight weight) {
            ends += parts.of[to] == parts.of[own] ? 0 : weight;
        });
    }
    parts.cut = team.allreduce(ends) / 2;
}

void refine(Team& team, const SharedGraph& graph, Assignment& parts, std::uint64_t seed) {
    Refinement(team, graph, parts, seed).run();
}

} // namespace corymb::partition
