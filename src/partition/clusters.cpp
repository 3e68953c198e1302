// SPDX-License-Identifier: Apache-2.0
#include "partition/clusters.hpp"

#include "base/random.hpp"
#include "partition/flat_table.hpp"
#include "partition/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>

namespace corymb::partition {

namespace {

/// A vertex wants to join the cluster, or has left it (with a negative weight).
struct Request {
    Vertex name;
    Weight weight;
};

/// What one rank does while clusters form.
class Clustering {
public:
    Clustering(Team& team, const SharedGraph& graph, Weight weight_most, std::uint64_t seed)
        : team_(team), graph_(graph), weight_most_(weight_most),
          random_(seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(team.rank())),
          requests_(size_of(team)), asking_(size_of(team)) {
        for (Vertex local = 0; local < graph.own() + graph.ghosts(); ++local) {
            clusters.names.push_back(graph.global(local));
        }
        for (Vertex own = 0; own < graph.own(); ++own) {
            clusters.weights.push_back(graph.vertex_weight(own));
        }
    }

    void run() {
        // Ranks that are alone need not look at the others in between.
        const int rounds = tuning::cluster_rounds;
        const int steps = team_.size() == 1 ? 1 : static_cast<int>(tuning::steps_of_a_round);
        for (int round = 0; round < rounds; ++round) {
            const std::vector<Vertex> order = shuffled_pieces();
            for (int step = 0; step < steps; ++step) {
                is_upward_ = (round + step) % 2 == 0;
                const std::size_t begin =
                    order.size() * static_cast<std::size_t>(step) / static_cast<std::size_t>(steps);
                const std::size_t end = order.size() * static_cast<std::size_t>(step + 1) /
                                        static_cast<std::size_t>(steps);
                for (std::size_t piece = begin; piece < end; ++piece) {
                    const Vertex first = order[piece] * piece_length;
                    const Vertex last = std::min(first + piece_length, graph_.own());
                    for (Vertex own = first; own < last; ++own) {
                        visit(own);
                    }
                }
                settle();
            }
        }
        settle(); // Owners learn who has left.
        join_by_favourites();
        graph_.update_ghosts<Vertex>(team_, clusters.names);
    }

    Clusters clusters;

private:
    static constexpr Vertex piece_length = 64;

    /// Numbers of pieces of neighbouring vertices: random enough, and kind to caches.
    std::vector<Vertex> shuffled_pieces() {
        std::vector<Vertex> order((graph_.own() + piece_length - 1) / piece_length);
        std::iota(order.begin(), order.end(), Vertex{0});
        for (std::size_t left = order.size(); left > 1; --left) {
            std::swap(order[left - 1], order[random_.below(static_cast<std::uint32_t>(left))]);
        }
        return order;
    }

    [[nodiscard]] bool is_own(Vertex name) const noexcept {
        return name - graph_.first() < graph_.own();
    }

    void rate(Vertex own) {
        ratings_.clear();
        graph_.for_each_neighbour(own, [&](Vertex neighbour, Weight weight) {
            ratings_[clusters.names[neighbour]] += weight;
        });
    }

    /// The vertex goes to the cluster that it has the heaviest edges to, if there is room.
    void visit(Vertex own) {
        rate(own);
        const Vertex current = clusters.names[own];
        const Weight weight = graph_.vertex_weight(own);
        const Weight* const stays = ratings_.find(current);
        Weight best = stays == nullptr ? 0 : *stays;
        Vertex chosen = current;
        std::uint32_t equal = 1;
        ratings_.for_each([&](Vertex name, Weight rating) {
            if (rating < best || name == current || !may_join(name, current, weight)) {
                return;
            }
            equal = rating > best ? 1 : equal + 1;
            if (rating > best || random_.below(equal) == 0) {
                best = rating;
                chosen = name;
            }
        });
        if (chosen == current) {
            return;
        }
        if (is_own(chosen)) {
            clusters.weights[chosen - graph_.first()] += weight;
            leave(current, weight);
            clusters.names[own] = chosen;
        } else {
            const auto rank = static_cast<std::size_t>(graph_.owner(chosen));
            requests_[rank].push_back({chosen, weight});
            asking_[rank].push_back(own);
        }
    }

    /// As far as is known here. Joins between ranks go one way at a time, or two vertices would
    /// change places again and again.
    [[nodiscard]] bool may_join(Vertex name, Vertex current, Weight weight) const noexcept {
        return is_own(name) ? clusters.weights[name - graph_.first()] + weight <= weight_most_
                            : (name > current) == is_upward_;
    }

    void leave(Vertex name, Weight weight) {
        if (is_own(name)) {
            clusters.weights[name - graph_.first()] -= weight;
        } else {
            const auto rank = static_cast<std::size_t>(graph_.owner(name));
            requests_[rank].push_back({name, -weight});
            asking_[rank].push_back(none);
        }
    }

    /// Collective. Owners answer the requests, and ghosts learn of new names.
    void settle() {
        if (team_.size() == 1) {
            return;
        }
        std::vector<std::size_t> counts;
        std::vector<Request> sent;
        std::vector<Vertex> asking;
        for (std::size_t rank = 0; rank < requests_.size(); ++rank) {
            counts.push_back(requests_[rank].size());
            sent.insert(sent.end(), requests_[rank].begin(), requests_[rank].end());
            asking.insert(asking.end(), asking_[rank].begin(), asking_[rank].end());
            asking_[rank].clear();
        }
        const auto inbox = exchange(team_, requests_);
        const auto granted =
            answer<std::uint8_t>(team_, inbox, counts, [&](const Request& request) {
                Weight& weight = clusters.weights[request.name - graph_.first()];
                const bool is_granted =
                    request.weight < 0 || weight + request.weight <= weight_most_;
                weight += is_granted ? request.weight : 0;
                return static_cast<std::uint8_t>(is_granted);
            });
        for (std::size_t at = 0; at < asking.size(); ++at) {
            if (asking[at] != none && granted[at] != 0) {
                leave(clusters.names[asking[at]], sent[at].weight);
                clusters.names[asking[at]] = sent[at].name;
            }
        }
        graph_.update_ghosts<Vertex>(team_, clusters.names);
    }

    /// Vertices that are still alone and would like to join the same full cluster, or have no
    /// neighbours, form clusters, too. Otherwise a star would hardly shrink. After "two-hop
    /// matching": LaSalle, Patwary, Satish et al., IA^3 2015.
    void join_by_favourites() {
        FlatTable<Vertex> open; // A cluster with room, by favourite.
        for (Vertex own = 0; own < graph_.own(); ++own) {
            const Vertex name = graph_.global(own);
            const Weight weight = graph_.vertex_weight(own);
            if (clusters.names[own] != name || clusters.weights[own] != weight) {
                continue;
            }
            rate(own);
            Vertex favourite = no_favourite;
            Weight best = 0;
            ratings_.for_each([&](Vertex candidate, Weight rating) {
                if (rating > best) {
                    best = rating;
                    favourite = candidate;
                }
            });
            const Vertex* const leader = open.find(favourite);
            if (leader == nullptr || clusters.weights[*leader] + weight > weight_most_) {
                open[favourite] = own;
            } else {
                clusters.names[own] = graph_.global(*leader);
                clusters.weights[*leader] += weight;
                clusters.weights[own] = 0;
            }
        }
    }

    static constexpr Vertex none = ~Vertex{0};
    static constexpr Vertex no_favourite = none - 1; // No vertex has this number.

    Team& team_;
    const SharedGraph& graph_;
    Weight weight_most_;
    Random random_;
    bool is_upward_ = true;
    FlatTable<Weight> ratings_;
    Outbox<Request> requests_;
    Outbox<Vertex> asking_; ///< Own vertices whose requests these are, or none.
};

} // namespace

Clusters find_clusters(Team& team, const SharedGraph& graph, Weight weight_most,
                       std::uint64_t seed) {
    Clustering clustering(team, graph, weight_most, seed);
    clustering.run();
    return std::move(clustering.clusters);
}

} // namespace corymb::partition
