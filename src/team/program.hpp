// SPDX-License-Identifier: Apache-2.0
// A plan compiled for one rank: steps with resolved shared memory and private counts.
#pragma once

#include "base/assert.hpp"
#include "team/fabric.hpp"

#include <corymb/operators.hpp>
#include <corymb/plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

namespace corymb::team {

/// One rank's private ends of everything between it and one peer, shared by all its programs.
template <class Env>
struct Peer {
    Rank rank = -1;
    std::uint32_t process = 0; ///< The process to copy from and to; 0: this one.
    ProcessMark mark{};        ///< Mark of another process.
    /// Until this time the process is known to be alive (ProcessCopies).
    std::int64_t alive_until_ns = 0;
    channel::EventCount<Env>* spot = nullptr;
    channel::SignalLine<Env>* signal_out = nullptr;
    channel::SignalLine<Env>* signal_in = nullptr;
    std::uint64_t signals_sent = 0;
    std::uint64_t signals_received = 0;
    bool has_line_out = false, has_line_in = false, has_cells_out = false, has_cells_in = false;
    bool has_exchange = false;
    channel::ExchangeEnd<Env, exchange_payload_bytes> exchange;
    channel::SlotSender<Env, LineRing<Env>> line_out;
    channel::SlotReceiver<Env, LineRing<Env>> line_in;
    channel::SlotSender<Env, CellRing<Env>> cells_out;
    channel::SlotReceiver<Env, CellRing<Env>> cells_in;
};

/// Places of a buffer, taken apart into parts and blocks within a part (plan.hpp): from `first` up
/// to, but not including, `end`.
struct Places {
    Buffer buffer = Buffer::input;
    std::uint32_t first_part = 0, first_block = 0;
    std::uint32_t end_part = 0, end_block = 0;
    bool is_one_part = false; ///< The whole of the buffer's first part, and no more.
};

/// The places of `blocks` in a plan whose parts have `block_count` blocks.
[[nodiscard]] inline Places places_of(const Blocks& blocks, std::uint32_t block_count) {
    if (blocks.count == 0) {
        return {};
    }
    const std::uint32_t end = blocks.first + blocks.count;
    Places places{blocks.buffer, blocks.first / block_count, blocks.first % block_count,
                  end / block_count, end % block_count};
    places.is_one_part = blocks.first == 0 && end == block_count;
    CORYMB_ASSERT(places.first_block < block_count && places.end_block < block_count);
    CORYMB_ASSERT(places.is_one_part ==
                  (blocks.first == 0 && places.end_part == 1 && places.end_block == 0));
    CORYMB_ASSERT(places.first_part * block_count + places.first_block == blocks.first);
    CORYMB_ASSERT(places.end_part * block_count + places.end_block == blocks.first + blocks.count);
    return places;
}

/// What a read takes out of a longer publication. Its parts are as long as the reader's own.
struct Excerpt {
    Places published{}; ///< In a buffer of the publisher.
    Places passed{};    ///< Those of them before the first that is taken.
};

/// One rank's private end of a publication: of its own (it publishes) or of a peer's (it reads).
template <class Env>
struct PublicationEnd {
    Publication<Env>* publication = nullptr;
    std::uint32_t process = 0; ///< Process of the publisher; 0: this one.
    channel::EventCount<Env>* publisher_spot = nullptr;
    std::vector<channel::EventCount<Env>*> reader_spots; ///< Only the publisher's end.
    std::vector<Rank> readers;                           ///< The ranks of `reader_spots`.
    std::size_t reader_index = 0;                        ///< Only a reader's end.
    std::vector<Excerpt> excerpts;                       ///< Only a reader's end.
    std::uint64_t flags = 0;                             ///< Zero-byte publications made or seen.
    std::uint64_t messages = 0; ///< Publications with payload made or consumed.
};

enum class Opcode : std::uint8_t {
    signal,
    wait,
    /// As `signal`, unless the message that it acknowledges has taken a copy along.
    signal_lent,
    wait_lent,
    send_line,
    receive_line,
    send_cells,
    receive_cells,
    post,    ///< Tell the peer where the blocks are.
    pull,    ///< Receive the address, copy or fold from there.
    offer,   ///< Tell the peer where it may write, and where it may read.
    put,     ///< Receive the addresses, copy or fold to there.
    raise,   ///< Zero-byte publication.
    observe, ///< Wait for it.
    publish_line,
    read_line,
    publish_address,
    read_address,
    copy,
    meet_signal, ///< Via exchange, without bytes.
    meet_wait,   ///< The other half of meet_signal.
    meet_put,    ///< Via exchange, with bytes.
    meet_take,   ///< The other half of meet_put.
    far,         ///< A message to or from another node: FarMessages has it.
};

template <class Env>
struct CompiledStep {
    Opcode code = Opcode::signal;
    bool fold = false;
    bool incoming_first = false;
    /// For post, pull and their acknowledgements: a message that fits into so many cells goes
    /// through them. For far: its number among the program's far steps. For read_address: the
    /// number of its excerpt in `end`, from 1; 0: it takes all.
    std::uint32_t cells = 0;
    std::uint32_t number = 0; ///< In the plan.
    Rank awaited = -1;        ///< The rank that the step names.
    /// The steps, from this one on, that the rank may await in one sleep (row_of_waits.hpp).
    std::uint32_t row = 0;
    Places to{};
    Places from{};
    Peer<Env>* peer = nullptr;
    PublicationEnd<Env>* end = nullptr;

    /// The peers that have yet to act before a rank in this step can do more than wait; 0: nothing
    /// is known (row_of_waits.hpp).
    [[nodiscard]] std::uint32_t missing() const noexcept;
};

template <class Env>
struct Program {
    std::vector<CompiledStep<Env>> steps;
    std::deque<PublicationEnd<Env>> ends; ///< Stable addresses for `CompiledStep::end`.
    std::uint32_t block_count = 0;
    std::uint32_t scratch_blocks = 0;
    /// Calls until the lane asks whether there is a better one; all ranks count alike.
    std::uint32_t calls_left = std::numeric_limits<std::uint32_t>::max();
    /// The plan that it was compiled from; null unless it is a collective's.
    const Plan* plan = nullptr;
    std::int64_t call_ns = 0; ///< The time of one call, as an example; 0: unknown.
};

/// Offsets and lengths of the parts of a buffer, in bytes from its beginning. Without arrays part p
/// is `Operands::bytes` long and begins at p times that. Parts that a step names together lie side
/// by side.
struct Layout {
    const std::size_t* offsets = nullptr;
    const std::size_t* lengths = nullptr;
};

/// The buffers and the operator of one call.
///
/// With layouts, parts may have different lengths, and any order in memory: only for plans that
/// `keeps_parts` accepts, or, if also scratch has one, for those whose parts plan::PartNames knows.
/// A buffer of one part then has arrays of one entry, or no layout if that part is `bytes` long.
/// Offsets and lengths are multiples of element_bytes.
struct Operands {
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    std::byte* scratch = nullptr;
    std::byte* staging = nullptr; ///< For `is_whole`: room for one part.
    Layout input_layout{};
    Layout output_layout{};
    Layout scratch_layout{};
    std::size_t bytes = 0;       ///< Length of one part; with layouts the longest.
    std::size_t block_bytes = 0; ///< Length of one full block; a multiple of element_bytes.
    std::size_t element_bytes = 1;
    /// Reduction::whole: only for plans of one block, and without layouts.
    bool is_whole = false;
    Reduction::Combine combine = nullptr;
    void* context = nullptr; ///< Context of the operator.
    /// Signature of the call's messages; messages with another one are refused.
    channel::Signature signature = 0;

    /// Bytes that go into a cell: whole elements.
    [[nodiscard]] std::size_t cell_length() const noexcept {
        return cell_bytes / element_bytes * element_bytes;
    }
    [[nodiscard]] bool fit_into(std::uint32_t cells, std::size_t of) const noexcept {
        return cells != 0 && (of + cell_length() - 1) / cell_length() <= cells;
    }
    /// The unit in which a payload of `of` bytes may be cut: operands shorter than it cannot be
    /// combined.
    [[nodiscard]] std::size_t uncut_bytes(std::size_t of) const noexcept {
        return is_whole ? std::max<std::size_t>(of, 1) : element_bytes;
    }
    [[nodiscard]] bool outgrow_a_cell(std::size_t of) const noexcept {
        return uncut_bytes(of) > cell_length();
    }
    [[nodiscard]] bool has_layouts() const noexcept {
        return input_layout.lengths != nullptr || output_layout.lengths != nullptr;
    }
    /// Whether a message by pull comes along with its address.
    [[nodiscard]] bool is_enclosed(std::size_t of) const noexcept {
        return has_layouts() && of <= enclosed_bytes;
    }
    /// Whether post and pull leave the kernel alone. When the peer has come to this operation, the
    /// ring is empty of the messages of earlier ones, so it has room for all of this one.
    [[nodiscard]] bool takes_copy_along(std::uint32_t cells, std::size_t of) const noexcept {
        return is_enclosed(of) || fit_into(cells, of);
    }
};

/// Roughly the bytes that each of `ranks` ranks moves in the operation.
[[nodiscard]] inline std::uint64_t moved_bytes(Collective op, const Operands& operands,
                                               int ranks) noexcept {
    return has_parts(op) ? operands.bytes * static_cast<std::uint64_t>(ranks) : operands.bytes;
}

/// Cuts the payload into the program's blocks of whole elements.
template <class Env>
void set_block_bytes(Operands& operands, const Program<Env>& program) {
    const std::size_t blocks = program.block_count;
    if (blocks <= 1) { // Divisions would be a good part of a small operation.
        operands.block_bytes = operands.bytes;
        return;
    }
    const std::size_t elements = operands.bytes / operands.element_bytes;
    operands.block_bytes = (elements + blocks - 1) / blocks * operands.element_bytes;
    CORYMB_ASSERT(operands.block_bytes * blocks >= operands.bytes);
    CORYMB_ASSERT(operands.bytes == 0 ||
                  (operands.block_bytes - operands.element_bytes) * blocks < operands.bytes);
}

/// Scratch holds whole parts, each as long as the caller's, and behind them what `staging` needs.
template <class Env>
[[nodiscard]] std::size_t scratch_bytes(const Operands& operands,
                                        const Program<Env>& program) noexcept {
    const std::size_t blocks = program.block_count;
    const std::size_t parts =
        blocks <= 1 ? program.scratch_blocks : (program.scratch_blocks + blocks - 1) / blocks;
    return (parts + (operands.is_whole ? 1 : 0)) * operands.bytes;
}

/// Gives the operands `memory`, which has scratch_bytes(operands, program) bytes.
template <class Env>
void set_scratch(Operands& operands, const Program<Env>& program, std::byte* memory) noexcept {
    operands.scratch = memory;
    if (operands.is_whole) {
        operands.staging = memory + scratch_bytes(operands, program) - operands.bytes;
    }
}

} // namespace corymb::team
