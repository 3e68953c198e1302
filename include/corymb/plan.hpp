// SPDX-License-Identifier: Apache-2.0
// A plan is data: for each rank an ordered list of small steps. It can be checked, simulated,
// drawn, hashed, stored and run. A team performs the steps of a plan in the order of the plan.
#pragma once

#include <corymb/export.hpp>
#include <corymb/rank.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corymb {

/// scan gives rank r the combination of the ranks 0 to r, exscan that of 0 to r - 1.
enum class Collective : std::uint8_t {
    barrier,
    broadcast,
    reduce,
    allreduce,
    gather,
    scatter,
    allgather,
    alltoall,
    reduce_scatter,
    scan,
    exscan,
};

inline constexpr std::size_t collective_count = 11;

/// Whether one rank is special: it has the data at the start or at the end.
[[nodiscard]] constexpr bool is_rooted(Collective op) noexcept {
    return op == Collective::broadcast || op == Collective::reduce || op == Collective::gather ||
           op == Collective::scatter;
}

/// Combines with an operator.
[[nodiscard]] constexpr bool is_reduction(Collective op) noexcept {
    return op == Collective::reduce || op == Collective::allreduce ||
           op == Collective::reduce_scatter || op == Collective::scan || op == Collective::exscan;
}

/// Whether there are buffers that hold a part for every rank; see Plan.
[[nodiscard]] constexpr bool has_parts(Collective op) noexcept {
    return op == Collective::gather || op == Collective::scatter || op == Collective::allgather ||
           op == Collective::alltoall || op == Collective::reduce_scatter;
}

/// The action of a step. `fold`, `read_fold` and `put_fold` combine with the reduction operator.
enum class StepKind : std::uint8_t {
    signal,    ///< Zero-byte notification to `peer`; never blocks.
    wait,      ///< Blocks until the matching `signal` of `peer`.
    send,      ///< Sends the blocks `from` to `peer`.
    recv,      ///< Receives from `peer` into the blocks `to`.
    fold,      ///< to = from (+) incoming; the k-th message of `peer`, as with `recv`.
    publish,   ///< A store that makes the blocks `from` readable by every rank; never names a peer.
    read,      ///< Waits for publication `ordinal` of `peer`; to = published, from `offset` on.
    read_fold, ///< Waits for it as well; to = from (+) published, from `offset` on.
    copy,      ///< Local: to = from.
    offer,     ///< Tells `peer` that it may write the blocks `to`, and where it may read `from`.
    put,       ///< Waits for the matching `offer` of `peer`: its to = from of this rank.
    put_fold,  ///< Waits for the matching `offer`: its to = from of this rank (+) its from.
};

/// How the bytes of a message travel.
enum class Mechanism : std::uint8_t {
    none,  ///< No bytes: signal, wait, copy, and publish or read of no blocks.
    line,  ///< Payload (at most `line_payload_bytes`) and sequence in one cache line.
    cells, ///< Copied through a ring of slots: two copies, the sender does not wait for the
           ///< receiver.
    pull,  ///< The receiver copies out of the sender's buffer; the plan must acknowledge it.
    /// Between nodes. The sender does not wait for the receiver; it must not overwrite the blocks
    /// that it sent before the receiver surely has them.
    network,
    exchange, ///< Both directions between two ranks on one cache line, which moves once where a
              ///< line each way moves twice. At most `exchange_payload_bytes`, or none.
    push,     ///< A rank writes into its peer's buffer; the plan must acknowledge it.
};

enum class Buffer : std::uint8_t { input, output, scratch };

/// A range of places of one of a rank's buffers, each holding one block. `count` 0 means "no data".
///
/// Place p holds block p mod block_count of part p / block_count and has its length (the last block
/// of a part may be shorter); that goes for scratch, too. A range lies within one part or covers
/// whole parts, and the places that a step or a message moves between hold the same blocks, so that
/// both ends have equal lengths.
struct Blocks {
    Buffer buffer = Buffer::input;
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    bool operator==(const Blocks&) const = default;
};

/// A step of one rank. Fields that a kind does not use keep their defaults.
///
/// Matching: the k-th `signal` from p to q matches the k-th `wait` of q on p. The k-th `send` from
/// p to q matches the k-th `recv` or `fold` of q from p, and both name the same mechanism and
/// number of blocks; messages via exchange, with or without bytes, count for themselves. An `offer`
/// is a message, too, matched by a `put`, or by a `put_fold` if it names `from`. `read` and
/// `read_fold` name the publication by `ordinal`: 0 is the publisher's first `publish` in this
/// plan; a rank that reads one publication of a peer reads all, in order. Out of a publication via
/// pull a rank may take a part: whole parts of the payload, or blocks within one. A rank may also
/// read its own publication, to combine its operand where it comes in the order of ranks.
///
/// Via exchange a rank sends to a peer and takes from it in turns, beginning with sending: that is
/// the flow control of the line.
struct Step {
    StepKind kind = StepKind::signal;
    Mechanism via = Mechanism::none;
    Rank peer = -1;
    Blocks to{};
    Blocks from{};
    std::uint32_t ordinal = 0;
    /// For read and read_fold: places of the publication before the first that the step takes.
    std::uint32_t offset = 0;
    /// For fold, read_fold and put_fold: the peer's operand is the left one (keeps rank order).
    bool incoming_first = false;

    bool operator==(const Step&) const = default;
};

inline constexpr std::size_t line_payload_bytes =
    56; ///< Payload of one cache line beside its sequence.
inline constexpr std::size_t exchange_payload_bytes = 8; ///< Each way, beside the sequences.
/// Payload of a message by `pull` that fits into the line beside its address; see
/// Plan::copied_cells.
inline constexpr std::size_t enclosed_bytes = 40;
inline constexpr std::size_t line_slots = 4;    ///< Messages of `line` that an edge holds unread.
inline constexpr std::size_t cell_bytes = 8192; ///< Payload of one slot of the `cells` mechanism.
/// Slots of the shortest channel of `cells`. Four messages of at most cell_bytes fit into it.
inline constexpr std::uint32_t cell_slots_least = 8;
inline constexpr std::uint32_t cell_slots_most = 1U << 15U; ///< Slots of the longest channel.

/// The payload of plans for operations whose ranks do not know each other's lengths. Such a plan
/// also carries nothing, and small parts.
inline constexpr std::uint64_t any_part_bytes = std::uint64_t{1} << 48;

/// The steps of every rank for one operation.
///
/// Parts and blocks. Each rank contributes, or is given, one part; operations whose buffers hold
/// data of every rank have `parts()` = size() of them, the others 1. A part is cut in `block_count`
/// blocks of equal size, the last one possibly shorter; place p of a buffer holds block
/// p mod block_count of part p / block_count.
///
///     operation       input                  output
///     barrier         -                      -
///     broadcast       -                      1 part; the root's is there at the start
///     reduce          1 part                 root: 1 part
///     allreduce       1 part                 1 part
///     gather          1 part                 root: n parts, part r from rank r
///     scatter         root: n parts          1 part: part r of the root's input for rank r
///     allgather       1 part                 n parts
///     alltoall        n parts, r for rank r  n parts, r from rank r
///     reduce_scatter  n parts                1 part: part r of all ranks combined, for rank r
///     scan            1 part                 1 part: ranks 0 to r combined, for rank r
///     exscan          1 part                 1 part: ranks 0 to r - 1 combined; rank 0 has none
///
/// `input` is never written by a step, but it may be the same memory as output: where both have
/// one part, place for place; where one of them has n parts, the single part of rank r may be its
/// part r. A place is not read as input once the same place was written as output. The buffers of
/// an alltoall are distinct. A rank has `scratch_blocks` places of scratch.
struct Plan {
    Collective op = Collective::barrier;
    Rank root = 0;                 ///< The operation's root; if it has none, the inner root or 0.
    std::uint32_t block_count = 0; ///< Blocks of one part; 0 for a barrier.
    std::uint32_t scratch_blocks = 0;
    std::uint64_t bytes_max = 0; ///< Largest part in bytes that the plan is for.
    /// Slots that the plan counts on in the channel of `cells` of each ordered pair of ranks. A
    /// team whose channels have fewer refuses the plan. A message that may need more slots than
    /// this waits in its channel until the receiver takes it.
    std::uint32_t cell_slots = cell_slots_least;
    /// For plans for any length, among processes: a message by `pull` of at most so many cells goes
    /// through the channel of cells instead; 0: none does. One of up to `enclosed_bytes` travels in
    /// the line that would say where it lies. A signal or wait via `pull` acknowledges the only
    /// message by `pull` between the two ranks in that direction. Both ends leave it out if that
    /// message took a copy along.
    std::uint32_t copied_cells = 0;
    std::string algorithm;                ///< Name in the portfolio, e.g. "dissemination-2".
    std::vector<std::vector<Step>> steps; ///< steps[rank] in program order.

    [[nodiscard]] Rank size() const noexcept { return static_cast<Rank>(steps.size()); }
    /// Parts of a buffer that holds data of every rank; 1 if the operation has no such buffer.
    [[nodiscard]] std::uint32_t parts() const noexcept {
        return has_parts(op) ? static_cast<std::uint32_t>(steps.size()) : 1;
    }
    /// Bytes of one full block of a part of `bytes`: ceil(bytes / block_count), 0 for a barrier.
    [[nodiscard]] std::uint64_t block_bytes(std::uint64_t bytes) const noexcept {
        return block_count == 0 ? 0 : (bytes + block_count - 1) / block_count;
    }

    bool operator==(const Plan&) const = default;
};

/// The plan that a team runs an operation with, for inspection.
struct ChosenPlan {
    Collective op = Collective::barrier;
    Rank root = 0;           ///< 0 where the operation has none.
    std::uint64_t bytes = 0; ///< The largest payload that it was chosen for.
    std::string algorithm;   ///< See Plan.
};

/// Lower-case names as they stand in JSON and on the command line; the inverse functions throw
/// `Error` with Errc::unknown_name and list what exists.
CORYMB_EXPORT std::string_view to_string(Collective op) noexcept;
CORYMB_EXPORT std::string_view to_string(StepKind kind) noexcept;
CORYMB_EXPORT std::string_view to_string(Mechanism via) noexcept;
CORYMB_EXPORT std::string_view to_string(Buffer buffer) noexcept;
CORYMB_EXPORT Collective collective_from_string(std::string_view name);

/// The JSON form ("corymb-plan/1", docs/reference/plan.md). Throws Errc::invalid_plan naming the
/// field, rank and step on malformed text; does not prove the plan, see `check_plan`.
CORYMB_EXPORT std::string to_json(const Plan& plan);
CORYMB_EXPORT Plan plan_from_json(std::string_view text);

/// SHA-256 over everything that decides how the plan runs (all fields but `algorithm`), as 64 hex
/// digits. Two ranks with equal hashes run the same plan.
CORYMB_EXPORT std::string plan_hash(const Plan& plan);

/// Proves the plan by symbolic execution. Every rank ends with the right blocks, each contribution
/// exactly once. No rank waits for ever, even with the least buffering that the mechanisms and
/// `cell_slots` guarantee. Nothing is overwritten while a peer may still read it, also not after
/// the end. Throws Errc::invalid_plan whose text names rank, step and fault. With `ordered`, also
/// proves that reductions combine in rank order (non-commutative operators). O(steps x ranks / 64)
/// time and memory for plans of the supported operations.
CORYMB_EXPORT void check_plan(const Plan& plan, bool ordered = false);

/// Whether the plan also serves parts of different lengths (the vector operations): no step moves
/// more than one part, no part ever stands where another belongs, and nothing goes through scratch.
/// Always true for operations with one part. Cost and errors as of `check_plan`.
CORYMB_EXPORT bool keeps_parts(const Plan& plan);

} // namespace corymb
