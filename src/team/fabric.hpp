// SPDX-License-Identifier: Apache-2.0
// The shared memory of a team: objects that its ranks write for each other, found by key in an
// arena. The arena lies in the heap for threads and in memory of several processes for processes.
// Edges are made when a plan first needs them, so memory grows with the edges in use and not with
// the square of the team.
#pragma once

#include "base/arena.hpp"
#include "base/assert.hpp"
#include "base/cache_line.hpp"
#include "base/membarrier.hpp"
#include "base/remote_memory.hpp"
#include "channel/channels.hpp"
#include "channel/copy_gate.hpp"
#include "channel/event_count.hpp"
#include "channel/signal_line.hpp"
#include "team/call_terms.hpp"

#include <corymb/error.hpp>
#include <corymb/plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace corymb::team {

/// Kinds of objects in a team's arena; the `kind` of an ArenaKey.
enum class Kind : std::uint32_t {
    record,
    states,
    plan,
    signal,
    line,
    cells,
    exchange,
    publication,
    lane_state,
    own_lanes,
    roster,
    crowd,
    line_probe,
    answers,
};

/// Ranks that have no CPU of their own sleep often. So may others where heavy fences are dear.
inline channel::Fencing fencing_of(bool oversubscribed) noexcept {
    return oversubscribed || membarrier::is_dear() ? channel::Fencing::both
                                                   : channel::Fencing::sleeper;
}

/// Number of a set of edges. Blocking operations have lane 0. Nonblocking collective number s has
/// lane 1 + s mod collective_lanes, so many can overlap. Long nonblocking collectives use the edges
/// of long_lane, one operation at a time. Messages between two ranks have a lane, and every
/// persistent collective has its own.
using LaneId = std::uint32_t;
inline constexpr LaneId collective_lanes = 8;
inline constexpr LaneId long_lane = collective_lanes + 1;
/// Slots of a channel of cells of a collective lane: together they have the memory of a blocking
/// one.
[[nodiscard]] constexpr std::size_t shared_cell_ring_slots(int ranks) noexcept {
    return std::max(channel::cell_ring_slots(ranks) / collective_lanes,
                    channel::cell_ring_slots_least);
}
inline constexpr LaneId pair_lane = long_lane + 1;
inline constexpr LaneId first_own_lane = pair_lane + 1;
inline constexpr LaneId own_lanes_max = 1 << 14;
/// The first few persistent collectives have as long channels as blocking ones; many would take too
/// much memory.
inline constexpr LaneId whole_own_lanes = 8;

/// Slots of the channels of cells of a lane.
[[nodiscard]] constexpr std::size_t lane_cell_ring_slots(LaneId lane, int ranks) noexcept {
    const bool is_whole =
        lane == 0 || (lane >= long_lane && lane < first_own_lane + whole_own_lanes);
    return is_whole ? channel::cell_ring_slots(ranks) : shared_cell_ring_slots(ranks);
}

using channel::CellRing;
using channel::LinePublication;
using channel::LineRing;
using channel::PairLine;

/// The state that one rank shows to all about one lane, or about its messages to or from one peer.
template <class Env>
struct LaneState {
    using Log = CallLog<Env>;

    /// Operations that came to be under way. The rank writes the number on every operation; ranks
    /// that have waited for long read it.
    alignas(line_pair_bytes) typename Env::template Atomic<std::uint64_t> started;
    /// Operations that the rank is done with: it needs no peer for them any more, and no peer needs
    /// it.
    typename Env::template Atomic<std::uint64_t> finished;
    /// Written in long waits only: the lower 16 bits of the number of the operation that the rank
    /// waits in, and above them 48 bits of the digest of its calls up to that one; 0: it has not
    /// waited for long.
    typename Env::template Atomic<std::uint64_t> standstill;
    Log calls;
};

/// The state that one rank shows to all: its progress with blocking operations, which have lane 0,
/// and whether it sleeps.
template <class Env>
struct RankState : LaneState<Env> {
    RankState(Reach reach, channel::Fencing fencing) noexcept : spot(reach, fencing) {}

    std::uint32_t pid = 0; ///< Process of the rank; 0: all ranks are in one.
    ProcessMark mark{};    ///< Mark of the rank's process.
    /// The rank has given up its handle; set under the lock. A rank that sees `gone` takes the lock
    /// before it reads another field.
    typename Env::template Atomic<std::uint32_t> gone;
    // Under the lock:
    std::uint32_t left = 0;         ///< The rank's process has given up its handles.
    std::uint32_t shrinking = 0;    ///< The rank wants a new team of the ranks that are left.
    std::uint64_t calls_in_all = 0; ///< Collectives called by a rank that is gone.
    std::uint64_t digest = 0;       ///< Digest of these collectives.
    // For `split`: the color and the key that the rank wants, and the arena of the team that it has
    // made for its group.
    std::int32_t color = -1;
    std::int32_t key = 0;
    Offset made = 0;

    channel::EventCount<Env> spot;
    channel::CopyGate<Env> gate;
};

/// The ring through which one rank publishes to others in one plan. Its reader lines follow it.
template <class Env>
struct Publication {
    using ReaderLine = typename LinePublication<Env>::ReaderLine;

    Publication(ReaderLine* lines, std::size_t readers) noexcept : ring(lines, readers) {}

    channel::SignalLine<Env> flag;
    LinePublication<Env> ring;
};

/// The readers of each publisher of a plan, ascending.
using Readers = std::map<Rank, std::vector<Rank>>;

inline Readers publication_readers(const Plan& plan) {
    Readers readers;
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
    return readers;
}

/// A handle on a team's arena; every process has its own. Each lane has edges of its own, so that
/// messages of different lanes never mix; rank states belong to the whole team.
template <class Env>
class Fabric {
public:
    /// `fencing` holds for the rank states if they are not there yet.
    Fabric(const Arena& arena, int size, LaneId lane = 0,
           channel::Fencing fencing = channel::Fencing::sleeper)
        : arena_(arena), size_(size), lane_(lane), states_(make_states(fencing)) {}

    [[nodiscard]] int size() const noexcept { return size_; }
    [[nodiscard]] Arena& arena() noexcept { return arena_; }
    [[nodiscard]] RankState<Env>& state(Rank rank) noexcept { return states_[rank]; }
    /// Whether the channel of two ranks that was made lies here; for assertions.
    [[nodiscard]] bool is_edge(Kind kind, Rank from, Rank to, const void* channel) const {
        return channel != nullptr && channel == arena_.find(key(kind, from, to));
    }

    // The six below may be called by any rank at any time; they allocate on first use.
    channel::SignalLine<Env>& signal(Rank from, Rank to) {
        return arena_.find_or_make<channel::SignalLine<Env>>(edge(Kind::signal, from, to));
    }
    LineRing<Env>& line(Rank from, Rank to) {
        return arena_.find_or_make<LineRing<Env>>(edge(Kind::line, from, to));
    }
    CellRing<Env>& cells(Rank from, Rank to) {
        const std::size_t slots = cell_ring_slots();
        try {
            return cells(from, to, slots);
        } catch (const Error& error) {
            // If memory is short, perhaps by a limit, the shortest channel does: it is only slower.
            if (error.code() != Errc::io || slots == channel::cell_ring_slots_least) {
                throw;
            }
            return cells(from, to, channel::cell_ring_slots_least);
        }
    }
    /// The line of a pair of ranks, for both directions.
    PairLine<Env>& exchange_line(Rank one, Rank other) {
        const auto [low, high] = std::minmax(one, other);
        return arena_.find_or_make<PairLine<Env>>(edge(Kind::exchange, low, high));
    }
    LaneState<Env>& lane_state(Rank rank) {
        return arena_.find_or_make<LaneState<Env>>(key(Kind::lane_state, rank, -1));
    }
    /// The state of the messages that `rank` sends to `peer`, or receives from it.
    LaneState<Env>& pair_state(Rank rank, Rank peer, bool sends) {
        return arena_.find_or_make<LaneState<Env>>(pair_key(rank, peer, sends));
    }
    /// Null where there has been no such message. Under the lock of the memory.
    const LaneState<Env>* pair_state_if_made(Rank rank, Rank peer, bool sends) const noexcept {
        return std::launder(
            reinterpret_cast<const LaneState<Env>*>(arena_.find(pair_key(rank, peer, sends))));
    }
    /// Null where the rank has had nothing to do with the lane. Under the lock of the memory.
    const LaneState<Env>* lane_state_if_made(Rank rank) const noexcept {
        return std::launder(
            reinterpret_cast<const LaneState<Env>*>(arena_.find(key(Kind::lane_state, rank, -1))));
    }
    /// `plan` numbers the plan within the team.
    Publication<Env>& publication(std::uint64_t plan, Rank publisher, std::size_t readers) {
        using Made = Publication<Env>;
        using ReaderLine = typename Made::ReaderLine;
        ArenaKey publication_key = key(Kind::publication, publisher, -1);
        publication_key.id = plan;
        const std::size_t bytes = sizeof(Made) + readers * sizeof(ReaderLine);
        return *arena_.find_or_make_sized<Made>(publication_key, bytes, [readers](void* place) {
            auto* const lines = reinterpret_cast<ReaderLine*>(static_cast<Made*>(place) + 1);
            for (std::size_t reader = 0; reader < readers; ++reader) {
                new (lines + reader) ReaderLine;
            }
            new (place) Made(lines, readers);
        });
    }

private:
    CellRing<Env>& cells(Rank from, Rank to, std::size_t slots) {
        auto& ring = *arena_.find_or_make_sized<CellRing<Env>>(
            edge(Kind::cells, from, to), CellRing<Env>::bytes(slots),
            [slots](void* place) { new (place) CellRing<Env>(slots); });
        if constexpr (!requires { Env::cell_ring_slots; }) {
            // Touches the pages now. Otherwise the first lap among processes takes many times as
            // long as later ones, and that matters for the first calls of an MPI program, whose
            // times are compared. Times of persistent collectives and of threads are not compared:
            // their pages come as they are used.
            if (lane_ < first_own_lane && arena_.memory().reach() == Reach::machine) {
                const std::size_t bytes = CellRing<Env>::bytes(ring.slots());
                make_present(&ring, bytes);
                bring_near(&ring, bytes);
            }
        }
        return ring;
    }

    [[nodiscard]] std::size_t cell_ring_slots() const noexcept {
        if constexpr (requires { Env::cell_ring_slots; }) {
            return Env::cell_ring_slots;
        }
        return lane_cell_ring_slots(lane_, size_);
    }

    ArenaKey key(Kind kind, Rank from, Rank to) const noexcept {
        return {static_cast<std::uint32_t>(kind), lane_, from, to, 0};
    }

    /// The key of a channel between two ranks.
    ArenaKey edge(Kind kind, Rank from, Rank to) const {
        CORYMB_ASSERT(from >= 0 && to >= 0 && from < size_ && to < size_);
        return key(kind, from, to);
    }

    ArenaKey pair_key(Rank rank, Rank peer, bool sends) const noexcept {
        ArenaKey made = key(Kind::lane_state, rank, peer);
        made.id = sends ? 1 : 2;
        return made;
    }

    RankState<Env>* make_states(channel::Fencing fencing) {
        const auto count = static_cast<std::size_t>(size_);
        const Reach reach = arena_.memory().reach();
        return arena_.find_or_make_sized<RankState<Env>>(
            {static_cast<std::uint32_t>(Kind::states)}, count * sizeof(RankState<Env>),
            [count, reach, fencing](void* place) {
                auto* const states = static_cast<RankState<Env>*>(place);
                for (std::size_t rank = 0; rank < count; ++rank) {
                    new (states + rank) RankState<Env>(reach, fencing);
                }
            });
    }

    Arena arena_;
    int size_;               ///< Invariant: at least 1.
    LaneId lane_;            ///< Invariant: the lane in the keys of all edges.
    RankState<Env>* states_; ///< Invariant: size_ of them.
};

} // namespace corymb::team
