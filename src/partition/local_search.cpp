// SPDX-License-Identifier: Apache-2.0
#include "partition/local_search.hpp"

#include "partition/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace corymb::partition {

void LocalSearch::begin_round() {
    border_.clear();
    for (Vertex own = 0; own < graph_.own(); ++own) {
        const auto neighbours = graph_.neighbours(own);
        if (std::any_of(neighbours.begin(), neighbours.end(),
                        [&](Vertex to) { return parts_.of[to] != parts_.of[own]; })) {
            border_.push_back(own);
        }
    }
    for (std::size_t left = border_.size(); left > 1; --left) {
        std::swap(border_[left - 1], border_[random_.below(static_cast<std::uint32_t>(left))]);
    }
    std::fill(is_moved_.begin(), is_moved_.end(), std::uint8_t{0});
}

template <class Visit>
void LocalSearch::for_each_of_step(const Step& step, Visit&& visit) {
    const std::size_t size = border_.size();
    const auto count = static_cast<std::size_t>(step.count);
    const auto number = static_cast<std::size_t>(step.number);
    for (std::size_t at = size * number / count; at < size * (number + 1) / count; ++at) {
        visit(border_[at]);
    }
}

/// The part with room that the vertex is connected to most, not its own one. Of equal ones that
/// with the most room.
LocalSearch::Move LocalSearch::best_move(Vertex own) {
    bool is_beside_ghosts = false;
    graph_.for_each_neighbour(own, [&](Vertex to, Weight weight) {
        const std::uint32_t part = parts_.of[to];
        if (connection_[part] == 0) {
            touched_.push_back(part);
        }
        connection_[part] += weight;
        is_beside_ghosts = is_beside_ghosts || to >= graph_.own();
    });
    const std::uint32_t current = parts_.of[own];
    const Weight stays = connection_[current];
    const Weight weight = graph_.vertex_weight(own);
    Move best;
    for (const std::uint32_t part : touched_) {
        const Weight gain = connection_[part] - stays;
        connection_[part] = 0;
        if (part == current || room_[part] < weight ||
            (is_beside_ghosts && !step_.is_alone && (part > current) != step_.is_upward)) {
            continue;
        }
        if (!best.exists || std::pair(gain, room_[part]) > std::pair(best.gain, room_[best.part])) {
            best = {part, gain, true};
        }
    }
    touched_.clear();
    return best;
}

void LocalSearch::apply(Vertex own, std::uint32_t to) {
    const Weight weight = graph_.vertex_weight(own);
    room_[parts_.of[own]] += weight;
    room_[to] -= weight;
    parts_.of[own] = to;
}

void LocalSearch::push(Vertex own) {
    const Move move = best_move(own);
    if (move.exists) {
        queue_.push({move.gain, static_cast<std::uint32_t>(random_.next()), own});
    }
}

void LocalSearch::move_winners(Room room, const Step& step) {
    room_ = std::move(room);
    step_ = step;
    for_each_of_step(step, [&](Vertex own) {
        const Move move = best_move(own);
        const Weight weight = graph_.vertex_weight(own);
        if (move.exists && (move.gain > 0 || (move.gain == 0 &&
                                              room_[move.part] - weight > room_[parts_.of[own]]))) {
            apply(own, move.part);
        }
    });
}

void LocalSearch::search(Room room, const Step& step) {
    room_ = std::move(room);
    step_ = step;
    for_each_of_step(step, [&](Vertex own) {
        if (is_moved_[own] == 0) {
            search_from(own);
        }
    });
}

void LocalSearch::search_from(Vertex start) {
    queue_ = {};
    moves_.clear();
    push(start);
    Weight gain = 0;
    Weight best_gain = 0;
    std::size_t best_length = 0;
    const auto patience = static_cast<std::size_t>(tuning::fruitless_moves.value());
    while (!queue_.empty() && moves_.size() < best_length + patience) {
        const Entry entry = queue_.top();
        queue_.pop();
        const Vertex own = entry.vertex;
        if (is_moved_[own] != 0) {
            continue;
        }
        const Move move = best_move(own);
        if (!move.exists) {
            continue;
        }
        if (move.gain < entry.gain) { // Out of date.
            queue_.push({move.gain, entry.order, own});
            continue;
        }
        moves_.emplace_back(own, parts_.of[own]);
        is_moved_[own] = 1;
        gain += move.gain;
        apply(own, move.part);
        if (gain > best_gain) {
            best_gain = gain;
            best_length = moves_.size();
        }
        const auto neighbours = graph_.neighbours(own);
        if (neighbours.size() > tuning::degree_of_a_hub) {
            continue;
        }
        for (const Vertex to : neighbours) {
            if (to < graph_.own() && is_moved_[to] == 0 &&
                graph_.neighbours(to).size() <= tuning::degree_of_a_hub) {
                push(to);
            }
        }
    }
    for (; moves_.size() > best_length; moves_.pop_back()) {
        apply(moves_.back().first, moves_.back().second);
    }
}

void LocalSearch::unload(std::vector<Weight> surplus, Room room) {
    room_ = std::move(room);
    step_ = {};
    const auto widest = [&] {
        return static_cast<std::uint32_t>(std::max_element(room_.begin(), room_.end()) -
                                          room_.begin());
    };
    // By loss for each unit of weight.
    std::vector<std::tuple<double, Vertex>> candidates;
    for (Vertex own = 0; own < graph_.own(); ++own) {
        if (surplus[parts_.of[own]] > 0 && graph_.vertex_weight(own) > 0) {
            const Move move = best_move(own);
            Weight gain = move.gain;
            if (!move.exists) {
                gain = 0;
                graph_.for_each_neighbour(own, [&](Vertex to, Weight weight) {
                    gain -= parts_.of[to] == parts_.of[own] ? weight : 0;
                });
            }
            candidates.emplace_back(
                -static_cast<double>(gain) / static_cast<double>(graph_.vertex_weight(own)), own);
        }
    }
    std::sort(candidates.begin(), candidates.end());
    for (const auto& [loss, own] : candidates) {
        const std::uint32_t from = parts_.of[own];
        if (surplus[from] <= 0) {
            continue;
        }
        const Move move = best_move(own);
        const std::uint32_t to = move.exists ? move.part : widest();
        if (to != from && room_[to] >= graph_.vertex_weight(own)) {
            surplus[from] -= graph_.vertex_weight(own);
            apply(own, to);
        }
    }
}

} // namespace corymb::partition
