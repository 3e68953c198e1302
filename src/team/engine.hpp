// SPDX-License-Identifier: Apache-2.0
// Purpose: runs a program, one step after the other. Within a node no other code performs the steps
// of a plan: blocking, nonblocking and persistent calls give the engine different waiters.
//
// Roles: one engine per rank, used by that rank's thread only.
//
// Layout: none of its own; all shared memory belongs to the channels and to the callers' buffers.
//
// Protocol:
//   Every step that changes a word that a peer may sleep on is followed by wake_if_parked on that
//   peer. `post` sends the address of the blocks through the line ring; `pull` receives it and
//   copies. The poster's buffer stays valid because the plan makes it wait for a signal that
//   follows the copy; check_plan has proved that. `offer` and `put` swap the roles of the buffers:
//   the receiver of the address writes there, and the rank that offered touches the blocks again
//   only after a signal that follows. If parts differ in length, `post` sends a short part along
//   with its address, and `pull` copies it out of the line. Between processes a part that is short
//   enough (Plan::copied_cells) goes through cells after its address, which says only its length.
//   Both sides leave out an acknowledgement (signal_lent, wait_lent) of such a message.
//
//   A step whose await fails changes nothing but the bytes that went through cells. The activation
//   counts those bytes, so that a later call goes on where this one stopped. Nothing that a step
//   changes may come before its last await.
//
//   `lead` does the first steps of `run` as far as they wait for nobody: messages that peers wait
//   for go before the other work of a call.
//
//   Steps between nodes are messages of a carrier (far_messages.hpp), which are looked at as
//   channels are: one that has not come is a wait that failed.
//
//   Every message carries the signature of the sender's call. A message with another signature than
//   the receiver's is not used: the step fails for good, and `met_other_call` is true.
//
// Order: all of it in the channels: what a rank wrote before it sends, signals or publishes is
// visible to the peer after the matching receive, wait or read; that covers the blocks that `pull`
// copies (the address message) and their reuse (the acknowledging signal), and those that `put`
// writes: what the owner did with them before (the address message) and does afterwards (the
// signal).
//
// Progress: a step waits only for the peer that it names; every wait has the waiter's deadline.
//
// Checked by: verify/worlds/engine_world.cpp (generated plans, 2-4 ranks), lanes_world.cpp (looks
// that fail), tests/unit/team.
#pragma once

#include "base/assert.hpp"
#include "base/copy_bytes.hpp"
#include "team/activation.hpp"
#include "team/addresses.hpp"
#include "team/copying.hpp"
#include "team/operand_bytes.hpp"
#include "team/process_copies.hpp"
#include "team/program.hpp"
#include "team/row_of_waits.hpp"
#include "team/step_check.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace corymb::team {

template <class Env, class Waiter>
class Engine {
public:
    /// `own` is the engine's rank: it wakes only peers that wait for this rank. -1: it wakes every
    /// peer that sleeps. `gate` guards the rank's copies.
    explicit Engine(Waiter& waiter, Rank own = -1, OwnGate<Env> gate = {}) noexcept
        : waiter_(&waiter), own_key_(channel::wake_key(own)), gate_(gate) {}

    /// Runs the steps from `activation.step` on, at most `steps_max` of them. True: all steps of
    /// the program are done. False: the waiter gave up in the step that `activation` then names, or
    /// `steps_max` were done; another call goes on from there.
    bool run(Activation<Env>& activation,
             std::size_t steps_max = std::numeric_limits<std::size_t>::max()) {
        Program<Env>& program = *activation.program;
        operands_ = activation.operands;
        offset_ = activation.offset;
        block_count_ = std::max<std::size_t>(1, program.block_count);
        signature_ = operands_->signature;
        messages_ = activation.messages;
        Compiled* const first = program.steps.data();
        Compiled* const last = first + program.steps.size();
        CORYMB_ASSERT(operands_ != nullptr && activation.step <= program.steps.size());
        Compiled* step = first + activation.step;
        Compiled* const end = step + std::min(steps_max, static_cast<std::size_t>(last - step));
        bool goes_on = true;
        while (step != end && (goes_on = checked(*step, *operands_, block_count_, offset_,
                                                 [&] { return perform(*step); }))) {
            ++step;
        }
        CORYMB_ASSERT(step >= first + activation.step && step <= end);
        CORYMB_ASSERT(step == end || !goes_on);
        activation.step = static_cast<std::size_t>(step - first);
        activation.offset = offset_;
        return step == last;
    }

    /// Runs the steps at the beginning that hand something small over and wait for nobody, so that
    /// peers have it before this rank goes on with anything else. How many they were.
    std::size_t lead(Program<Env>& program, const Operands& operands) {
        const std::size_t blocks = std::max<std::size_t>(1, program.block_count);
        Compiled* step = program.steps.data();
        Compiled* const last = step + program.steps.size();
        const auto what = [&] {
            return team::bytes_of(operands, step->from, blocks);
        };
        // False, and nothing done, where the step may have to wait, or has more to do.
        const auto hand_over = [&] {
            switch (step->code) {
            case Opcode::signal: return signal(*step->peer, operands.signature);
            case Opcode::meet_signal: return meet_put(*step, {nullptr, 0}, operands.signature);
            case Opcode::meet_put: return meet_put(*step, what(), operands.signature);
            case Opcode::send_line:
                return step->peer->line_out.has_room() &&
                       send_line(*step->peer, what(), operands.signature);
            default: return false;
            }
        };
        while (step != last && checked(*step, operands, blocks, 0, hand_over)) {
            ++step;
        }
        return static_cast<std::size_t>(step - program.steps.data());
    }

    /// Why `run` has given up, for good: the peer of the step that the activation names is in
    /// another call.
    [[nodiscard]] bool met_other_call() const noexcept { return met_other_call_; }
    /// Whether a step failed for good because the peer's memory cannot be copied.
    [[nodiscard]] bool cannot_copy() const noexcept { return cannot_copy_; }

private:
    using Compiled = CompiledStep<Env>;
    using LineReceiver = channel::SlotReceiver<Env, LineRing<Env>>;

    bool perform(Compiled& step) {
        waiter_->expect(channel::Awaited(step.awaited, step));
        switch (step.code) {
        case Opcode::signal: return signal(*step.peer, signature_);
        case Opcode::wait: return wait(*step.peer);
        case Opcode::signal_lent:
            return operands_->takes_copy_along(step.cells, bytes_of(step.to).bytes) ||
                   signal(*step.peer, signature_);
        case Opcode::wait_lent:
            return operands_->takes_copy_along(step.cells, bytes_of(step.from).bytes) ||
                   wait(*step.peer);
        case Opcode::raise: return raise(*step.end);
        case Opcode::observe:
            return step.end->publication->flag.wait(*waiter_, step.end->flags, signature_,
                                                    &met_other_call_);
        case Opcode::send_line: return send_line(*step.peer, bytes_of(step.from), signature_);
        case Opcode::receive_line: return receive_line(step);
        case Opcode::send_cells: return send_cells(*step.peer, bytes_of(step.from));
        case Opcode::receive_cells: return receive_cells(step);
        case Opcode::post: return post(step);
        case Opcode::pull: return pull(step);
        case Opcode::offer: return offer(step);
        case Opcode::put: return put(step);
        case Opcode::publish_line: return publish(*step.end, bytes_of(step.from));
        case Opcode::read_line: return read_line(step);
        case Opcode::publish_address: return publish_address(*step.end, bytes_of(step.from));
        case Opcode::read_address: return read_address(step);
        case Opcode::meet_signal: return meet_put(step, {nullptr, 0}, signature_);
        case Opcode::meet_wait:
            return step.peer->exchange.take(*waiter_, 0, signature_, &met_other_call_) != nullptr;
        case Opcode::meet_put: return meet_put(step, bytes_of(step.from), signature_);
        case Opcode::meet_take: return meet_take(step);
        case Opcode::copy: copy(step); return true;
        case Opcode::far: return messages_->perform(step.cells, *operands_);
        }
        return false;
    }

    bool signal(Peer<Env>& peer, channel::Signature signature) {
        peer.signal_out->signal(peer.signals_sent, signature);
        peer.spot->wake_if_parked(own_key_);
        return true;
    }

    bool wait(Peer<Env>& peer) {
        return peer.signal_in->wait(*waiter_, peer.signals_received, signature_, &met_other_call_);
    }

    void copy(const Compiled& step) {
        const Address from = bytes_of(step.from);
        arrive(step, from.data, {bytes_of(step.to).data, from.bytes}, 0);
    }

    Address bytes_of(const Places& places) const noexcept {
        return team::bytes_of(*operands_, places, block_count_);
    }

    /// Puts what arrived for `step` into `to`, which lies `offset` bytes into the step's
    /// destination, combining if asked.
    void arrive(const Compiled& step, const std::byte* incoming, Address to, std::size_t offset) {
        // bytes_of hands out const addresses for both directions; `to` is never `input`
        // (check_plan).
        auto* out = const_cast<std::byte*>(to.data);
        Env::note_write(out, to.bytes);
        if (!step.fold) {
            if (out != incoming) { // In place: one rank whose input is its output.
                copy_bytes(out, incoming, to.bytes);
            }
            CORYMB_DEBUG_ASSERT(to.bytes == 0 || std::memcmp(out, incoming, to.bytes) == 0);
            return;
        }
        const std::byte* own = bytes_of(step.from).data + offset;
        CORYMB_DEBUG_ASSERT(!operands_->is_whole || to.bytes == bytes_of(step.from).bytes);
        Env::note_read(own, to.bytes);
        const std::size_t element = operands_->element_bytes;
        const std::size_t count = to.bytes == element ? 1 : to.bytes / element; // Divisions last.
        CORYMB_DEBUG_ASSERT(count * element == to.bytes);
        if (step.incoming_first) {
            operands_->combine(incoming, own, out, count, operands_->context);
        } else {
            operands_->combine(own, incoming, out, count, operands_->context);
        }
    }

    // Lines
    bool send_line(Peer<Env>& peer, Address what, channel::Signature signature) {
        Env::note_read(what.data, what.bytes);
        return send_message(peer, what.data, what.bytes, signature);
    }

    bool send_message(Peer<Env>& peer, const void* data, std::size_t bytes,
                      channel::Signature signature) {
        if (!peer.line_out.send(*waiter_, data, bytes, peer.line_in.consumed(), signature)) {
            return false;
        }
        peer.spot->wake_if_parked(own_key_);
        return true;
    }

    const std::byte* receive_message(Peer<Env>& peer, std::size_t bytes) {
        std::uint64_t word = 0;
        const std::byte* payload = peer.line_in.receive(*waiter_, bytes, word);
        if (payload == nullptr) {
            return nullptr;
        }
        peer.line_out.accept_credit(word);
        return is_ours(word) ? payload : nullptr;
    }

    /// Whether the word of a slot carries the signature of this call.
    bool is_ours(std::uint64_t word) noexcept {
        if (LineReceiver::signature_of(word) != signature_) [[unlikely]] {
            met_other_call_ = true;
            return false;
        }
        return true;
    }

    /// Whether both ends have the same length. If lengths differ between pairs of ranks, the
    /// signature does not cover them, and only the two ends can find out.
    bool agree(std::size_t there, std::size_t here) noexcept {
        met_other_call_ = met_other_call_ || there != here;
        return there == here;
    }

    void release_message(Peer<Env>& peer) {
        if (peer.line_in.release()) {
            peer.spot->wake_if_parked(own_key_);
        }
    }

    bool receive_line(const Compiled& step) {
        const Address to = bytes_of(step.to);
        const std::byte* payload = receive_message(*step.peer, to.bytes);
        if (payload == nullptr) {
            return false;
        }
        arrive(step, payload, to, 0);
        release_message(*step.peer);
        return true;
    }

    // Meetings via exchange
    bool meet_put(Compiled& step, Address what, channel::Signature signature) {
        Env::note_read(what.data, what.bytes);
        step.peer->exchange.put(what.data, what.bytes, signature);
        step.peer->spot->wake_if_parked(own_key_);
        return true;
    }

    bool meet_take(const Compiled& step) {
        const Address to = bytes_of(step.to);
        const std::byte* payload =
            step.peer->exchange.take(*waiter_, to.bytes, signature_, &met_other_call_);
        if (payload == nullptr) {
            return false;
        }
        arrive(step, payload, to, 0);
        return true;
    }

    // Cells
    bool send_cells(Peer<Env>& peer, Address what) {
        Env::note_read(what.data, what.bytes);
        do {
            CORYMB_ASSERT(offset_ <= what.bytes);
            const std::size_t part = std::min(operands_->cell_length(), what.bytes - offset_);
            // No credit rides on cells: in its place is how much there is to come, modulo 2^32.
            if (!peer.cells_out.send(*waiter_, what.data + offset_, part, what.bytes - offset_,
                                     signature_)) {
                return false;
            }
            peer.spot->wake_if_parked(own_key_);
            offset_ += part;
        } while (offset_ < what.bytes);
        CORYMB_ASSERT(offset_ == what.bytes);
        offset_ = 0;
        return true;
    }

    bool receive_cells(const Compiled& step) {
        const Address to = bytes_of(step.to);
        const bool is_staged = step.fold && operands_->outgrow_a_cell(to.bytes);
        CORYMB_ASSERT(!is_staged || operands_->staging != nullptr);
        do {
            CORYMB_ASSERT(offset_ <= to.bytes);
            const std::size_t part = std::min(operands_->cell_length(), to.bytes - offset_);
            std::uint64_t word = 0;
            const std::byte* payload = step.peer->cells_in.receive(*waiter_, part, word);
            if (payload == nullptr || !is_ours(word) ||
                !agree(word >> 32U, static_cast<std::uint32_t>(to.bytes - offset_))) {
                return false;
            }
            if (is_staged) [[unlikely]] {
                copy_bytes(operands_->staging + offset_, payload, part);
            } else {
                arrive(step, payload, {to.data + offset_, part}, offset_);
            }
            if (step.peer->cells_in.release()) {
                step.peer->spot->wake_if_parked(own_key_);
            }
            offset_ += part;
        } while (offset_ < to.bytes);
        CORYMB_ASSERT(offset_ == to.bytes);
        offset_ = 0;
        if (is_staged) [[unlikely]] {
            arrive(step, operands_->staging, to, 0);
        }
        return true;
    }

    // Pull
    bool post(Compiled& step) {
        const Address what = bytes_of(step.from);
        if (operands_->is_enclosed(what.bytes)) [[unlikely]] {
            return post_enclosed(*step.peer, what);
        }
        if (operands_->fit_into(step.cells, what.bytes)) [[unlikely]] {
            return post_copy(*step.peer, what);
        }
        return send_message(*step.peer, &what, sizeof what, signature_);
    }

    bool post_enclosed(Peer<Env>& peer, Address what) {
        Env::note_read(what.data, what.bytes);
        Letter letter{what, {}};
        copy_bytes(letter.enclosed, what.data, what.bytes);
        return send_message(peer, &letter, sizeof what + what.bytes, signature_);
    }

    /// The address first, without data. From then on offset_ is one more than the bytes in cells.
    bool post_copy(Peer<Env>& peer, Address what) {
        if (offset_ == 0) {
            const Address length{nullptr, what.bytes};
            if (!send_message(peer, &length, sizeof length, signature_)) {
                return false;
            }
            offset_ = 1;
        }
        --offset_;
        const bool is_done = send_cells(peer, what);
        offset_ += is_done ? 0 : 1;
        return is_done;
    }

    /// Copies or folds out of the peer's memory, unless it may have gone with a broken team.
    bool copy_from(const Compiled& step, const Address& there, std::uint32_t process) {
        const Address to = bytes_of(step.to);
        if (!agree(there.bytes, to.bytes)) [[unlikely]] {
            return false;
        }
        CORYMB_ASSERT(there.data != nullptr || there.bytes == 0); // No message of cells.
        if (process != 0) [[unlikely]] {
            return copy_from_process(step, there, to, process);
        }
        const Copying copying(gate_);
        if (copying.is_allowed()) {
            Env::note_read(there.data, there.bytes);
            arrive(step, there.data, to, 0);
        }
        return copying.is_allowed();
    }

    /// Copies out of another process. The owner of that memory does not wait for readers when the
    /// team breaks, so the reader looks for a failure after the copy.
    bool copy_from_process(const Compiled& step, const Address& there, const Address& to,
                           std::uint32_t process) {
        const Copying copying(gate_);
        if (!copying.is_allowed()) {
            return false;
        }
        return copied(copies_.fetch(process, there, to, step.fold, operands_->uncut_bytes(to.bytes),
                                    arriving(step))) &&
               gate_.enter(channel::Copy::ordinary);
    }

    bool copied(bool is_done) noexcept {
        cannot_copy_ = cannot_copy_ || !is_done;
        return is_done;
    }

    auto arriving(const Compiled& step) {
        return [this, &step](const std::byte* incoming, std::size_t offset, const Address& to) {
            arrive(step, incoming, to, offset);
        };
    }

    bool pull(const Compiled& step) {
        const Address to = bytes_of(step.to);
        if (operands_->is_enclosed(to.bytes)) [[unlikely]] {
            return pull_enclosed(step, to);
        }
        if (operands_->fit_into(step.cells, to.bytes)) [[unlikely]] {
            return pull_copy(step, to);
        }
        Address there;
        return receive_places(*step.peer, there) && copy_from(step, there, step.peer->process);
    }

    /// An Address or a Room.
    template <class Places>
    bool receive_places(Peer<Env>& peer, Places& there) {
        const std::byte* payload = receive_message(peer, sizeof there);
        if (payload == nullptr) {
            return false;
        }
        there = places_in<Places>(payload);
        release_message(peer);
        return true;
    }

    /// Out of the cells that follow the address, as post_copy sends them.
    bool pull_copy(const Compiled& step, const Address& to) {
        if (offset_ == 0) {
            Address there;
            if (!receive_places(*step.peer, there) || !agree(there.bytes, to.bytes)) {
                return false;
            }
            CORYMB_ASSERT(there.data == nullptr); // The bytes are in cells.
            offset_ = 1;
        }
        --offset_;
        const bool is_done = receive_cells(step);
        offset_ += is_done ? 0 : 1;
        return is_done;
    }

    /// The peer encloses as many bytes as there is room for here, or it means another length.
    bool pull_enclosed(const Compiled& step, Address to) {
        const std::byte* payload = receive_message(*step.peer, sizeof(Address) + to.bytes);
        if (payload == nullptr) {
            return false;
        }
        const auto there = places_in<Address>(payload);
        const bool is_expected = agree(there.bytes, to.bytes);
        if (is_expected) {
            arrive(step, payload + sizeof there, to, 0);
        }
        release_message(*step.peer);
        return is_expected;
    }

    // Push
    bool offer(const Compiled& step) {
        const Room room{bytes_of(step.to), bytes_of(step.from)};
        return send_message(*step.peer, &room, sizeof room, signature_);
    }

    bool put(const Compiled& step) {
        Room room;
        if (!receive_places(*step.peer, room)) {
            return false;
        }
        const Address own = bytes_of(step.from);
        if (!agree(room.to.bytes, own.bytes) || (step.fold && !agree(room.from.bytes, own.bytes)))
            [[unlikely]] {
            return false;
        }
        if (step.peer->process != 0) [[unlikely]] {
            return put_to_process(step, room, own);
        }
        const Copying copying(gate_);
        if (copying.is_allowed()) {
            const Address incoming = step.fold ? room.from : own;
            Env::note_read(incoming.data, incoming.bytes);
            arrive(step, incoming.data, room.to, 0);
        }
        return copying.is_allowed();
    }

    bool put_to_process(const Compiled& step, const Room& room, const Address& own) {
        const auto guarded = [this](const auto& write) {
            const Copying copying(gate_, channel::Copy::into_process);
            return copying.is_allowed() && write();
        };
        return copied(step.fold
                          ? copies_.put_folded(*step.peer, room, operands_->uncut_bytes(own.bytes),
                                               arriving(step), guarded)
                          : copies_.put(*step.peer, room, own, guarded));
    }

    // Publications
    bool raise(PublicationEnd<Env>& end) {
        end.publication->flag.signal(end.flags, signature_);
        wake_readers(end);
        return true;
    }

    void wake_readers(PublicationEnd<Env>& end) {
        end.publisher_spot->wake_those_parked(end.reader_spots, own_key_);
    }

    bool publish(PublicationEnd<Env>& end, Address what) {
        Env::note_read(what.data, what.bytes);
        return publish_message(end, what.data, what.bytes);
    }

    bool publish_address(PublicationEnd<Env>& end, Address what) {
        return publish_message(end, &what, sizeof what);
    }

    bool publish_message(PublicationEnd<Env>& end, const void* data, std::size_t bytes) {
        const auto expects = [&](std::size_t reader) {
            waiter_->expect(channel::Awaited(end.readers[reader]));
        };
        auto& ring = end.publication->ring;
        if (!ring.publish(*waiter_, data, bytes, end.messages, signature_, expects)) {
            return false;
        }
        wake_readers(end);
        return true;
    }

    void release_publication(PublicationEnd<Env>& end) {
        if (end.publication->ring.release(end.reader_index, end.messages)) {
            end.publisher_spot->wake_if_parked(own_key_);
        }
    }

    bool read_line(const Compiled& step) {
        const Address to = bytes_of(step.to);
        PublicationEnd<Env>& end = *step.end;
        const std::byte* payload = end.publication->ring.read(*waiter_, to.bytes, end.messages,
                                                              signature_, &met_other_call_);
        if (payload == nullptr) {
            return false;
        }
        arrive(step, payload, to, 0);
        release_publication(end);
        return true;
    }

    bool read_address(const Compiled& step) {
        PublicationEnd<Env>& end = *step.end;
        const std::byte* payload = end.publication->ring.read(
            *waiter_, sizeof(Address), end.messages, signature_, &met_other_call_);
        if (payload == nullptr) {
            return false;
        }
        auto there = places_in<Address>(payload);
        release_publication(end);
        if (step.cells != 0) {
            const Excerpt& excerpt = end.excerpts[step.cells - 1];
            there = excerpt_of(*operands_, excerpt, there, bytes_of(step.to).bytes);
        }
        return copy_from(step, there, end.process);
    }

    Waiter* waiter_;
    channel::WakeKey own_key_;
    OwnGate<Env> gate_;
    const Operands* operands_ = nullptr;
    FarMessages* messages_ = nullptr;
    std::size_t block_count_ = 1;
    channel::Signature signature_ = 0;
    bool met_other_call_ = false;
    bool cannot_copy_ = false;
    std::size_t offset_ = 0; ///< The offset of the activation that runs.
    ProcessCopies<Env> copies_;
};

} // namespace corymb::team
