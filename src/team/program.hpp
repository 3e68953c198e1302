// SPDX-License-Identifier: Apache-2.0
// A plan compiled for one rank: steps with resolved shared memory and private counts.
#pragma once

#include "team/fabric.hpp"

#include <corymb/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace corymb::team {

/// One rank's private ends of everything between it and one peer, shared by all its programs.
template <class Env>
struct Peer {
    Rank rank = -1;
    channel::ParkingSpot<Env>* spot = nullptr;
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

/// One rank's private end of a publication: of its own (it publishes) or of a peer's (it reads).
template <class Env>
struct PublicationEnd {
    Publication<Env>* publication = nullptr;
    channel::ParkingSpot<Env>* publisher_spot = nullptr;
    std::vector<channel::ParkingSpot<Env>*> reader_spots; ///< Only the publisher's end.
    std::size_t reader_index = 0;                         ///< Only a reader's end.
    std::uint64_t flags = 0;                              ///< Zero-byte publications made or seen.
    std::uint64_t messages = 0; ///< Publications with payload made or consumed.
};

enum class Opcode : std::uint8_t {
    signal,
    wait,
    send_line,
    receive_line,
    send_cells,
    receive_cells,
    post,    ///< Tell the peer where the blocks are.
    pull,    ///< Receive the address, copy or fold from there.
    raise,   ///< Zero-byte publication.
    observe, ///< Wait for it.
    publish_line,
    read_line,
    publish_address,
    read_address,
    copy,
    meet_put,  ///< Via exchange, with or without bytes.
    meet_take, ///< The other half of the meeting.
};

template <class Env>
struct CompiledStep {
    Opcode code = Opcode::signal;
    bool fold = false;
    bool incoming_first = false;
    Rank awaited = -1; ///< The rank that the step names.
    Blocks to{};
    Blocks from{};
    Peer<Env>* peer = nullptr;
    PublicationEnd<Env>* end = nullptr;
};

template <class Env>
struct Program {
    std::vector<CompiledStep<Env>> steps;
    std::deque<PublicationEnd<Env>> ends; ///< Stable addresses for `CompiledStep::end`.
    std::uint32_t block_count = 0;
    std::uint32_t scratch_blocks = 0;
};

/// The buffers and the operator of one call.
struct Operands {
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    std::byte* scratch = nullptr;
    std::size_t bytes = 0;       ///< Whole payload.
    std::size_t block_bytes = 0; ///< Of one full block; a multiple of element_bytes.
    std::size_t element_bytes = 1;
    void (*combine)(const void* left, const void* right, void* out, std::size_t count) = nullptr;
};

} // namespace corymb::team
