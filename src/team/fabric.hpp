// SPDX-License-Identifier: Apache-2.0
// The shared memory of a team: what its ranks write for each other. Edges are made when a plan
// first needs them, so memory grows with the edges in use and not with the square of the team.
#pragma once

#include "base/cache_line.hpp"
#include "channel/copy_gate.hpp"
#include "channel/exchange_line.hpp"
#include "channel/parking_spot.hpp"
#include "channel/publication_ring.hpp"
#include "channel/signal_line.hpp"
#include "channel/slot_ring.hpp"

#include <corymb/plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace corymb::team {

// Twice the slots that plans may rely on: lines give credit every line_slots messages, and a block
// of cell_bytes may need two cells when its length is rounded up to whole elements.
template <class Env>
using LineRing = channel::SlotRing<Env, line_payload_bytes, 2 * line_slots, line_slots>;
template <class Env>
using CellRing = channel::SlotRing<Env, cell_bytes, 2 * cell_slots, 1>;
template <class Env>
using ExchangeLine = channel::ExchangeLine<Env, exchange_payload_bytes>;
template <class Env>
using LinePublication = channel::PublicationRing<Env, line_payload_bytes, 2 * line_slots>;

/// What one rank says to everybody: how far it is, and whether it sleeps.
template <class Env>
struct RankState {
    /// Operations that the rank has begun; written by it on every operation, read after a timeout.
    alignas(line_pair_bytes) typename Env::template Atomic<std::uint64_t> started;
    channel::ParkingSpot<Env> spot;
    channel::CopyGate<Env> gate;
};

/// Everything that travels from one rank to another.
template <class Env>
struct Edge {
    channel::SignalLine<Env> signal;
    std::unique_ptr<LineRing<Env>> line;
    std::unique_ptr<CellRing<Env>> cells;
};

/// What one rank publishes to others in one plan.
template <class Env>
struct Publication {
    explicit Publication(std::vector<Rank> who) : readers(std::move(who)), ring(readers.size()) {}

    std::vector<Rank> readers; ///< Ascending.
    channel::SignalLine<Env> flag;
    LinePublication<Env> ring;
};

/// The publications of one plan; publisher -> Publication.
template <class Env>
using Publications = std::map<Rank, std::unique_ptr<Publication<Env>>>;

template <class Env>
Publications<Env> make_publications(const Plan& plan) {
    std::map<Rank, std::vector<Rank>> readers;
    for (Rank rank = 0; rank < plan.size(); ++rank) {
        for (const Step& step : plan.steps[static_cast<std::size_t>(rank)]) {
            if (step.kind == StepKind::publish) {
                readers[rank];
            } else if (step.kind == StepKind::read || step.kind == StepKind::read_fold) {
                auto& of = readers[step.peer];
                if (of.empty() || of.back() != rank) {
                    of.push_back(rank);
                }
            }
        }
    }
    Publications<Env> made;
    for (auto& [publisher, who] : readers) {
        made[publisher] = std::make_unique<Publication<Env>>(std::move(who));
    }
    return made;
}

template <class Env>
class Fabric {
public:
    explicit Fabric(int size) : states_(static_cast<std::size_t>(size)) {}

    [[nodiscard]] int size() const noexcept { return static_cast<int>(states_.size()); }
    [[nodiscard]] RankState<Env>& state(Rank rank) noexcept {
        return states_[static_cast<std::size_t>(rank)];
    }

    // The three below may be called by any rank at any time; they allocate on first use.
    channel::SignalLine<Env>& signal(Rank from, Rank to) {
        const std::lock_guard lock(mutex_);
        return edge(from, to).signal;
    }
    LineRing<Env>& line(Rank from, Rank to) {
        const std::lock_guard lock(mutex_);
        return made(edge(from, to).line);
    }
    CellRing<Env>& cells(Rank from, Rank to) {
        const std::lock_guard lock(mutex_);
        return made(edge(from, to).cells);
    }
    /// One for both directions.
    ExchangeLine<Env>& exchange_line(Rank one, Rank other) {
        const std::lock_guard lock(mutex_);
        return made(exchanges_[std::minmax(one, other)]);
    }
    [[nodiscard]] std::size_t edge_count() const {
        const std::lock_guard lock(mutex_);
        return edges_.size();
    }

private:
    Edge<Env>& edge(Rank from, Rank to) { return made(edges_[{from, to}]); }

    template <class T>
    static auto& made(std::unique_ptr<T>& pointer) {
        if (!pointer) {
            pointer = std::make_unique<T>();
        }
        return *pointer;
    }

    mutable std::mutex mutex_;
    std::map<std::pair<Rank, Rank>, std::unique_ptr<Edge<Env>>> edges_;
    std::map<std::pair<Rank, Rank>, std::unique_ptr<ExchangeLine<Env>>> exchanges_;
    std::vector<RankState<Env>> states_;
};

} // namespace corymb::team
