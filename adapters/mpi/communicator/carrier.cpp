// SPDX-License-Identifier: Apache-2.0
#include "communicator/carrier.hpp"

#include "below/hook.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <new>

namespace corymb::mpi {

namespace {

constexpr std::size_t mark_bytes = sizeof(std::int32_t);
/// Data up to this is copied behind its mark: it costs less than a datatype of two pieces.
constexpr std::size_t short_bytes = 4096;

/// More than this has a message of its own behind its mark: MPICH sends a datatype of two pieces
/// several times as slowly.
constexpr std::size_t long_bytes = 65536;

bool fits(std::size_t bytes) noexcept {
    return bytes <= static_cast<std::size_t>(std::numeric_limits<int>::max());
}

/// The largest tag, equal on all ranks; at least the standard's minimum.
int largest_tag() noexcept {
    constexpr int promised = 32767;
    void* found = nullptr;
    int is_there = 0;
    const int result =
        host().Comm_get_attr(host().comm_world, MPI_TAG_UB, static_cast<void*>(&found), &is_there);
    return result == MPI_SUCCESS && is_there != 0 ? std::max(*static_cast<int*>(found), promised)
                                                  : promised;
}

/// More has come than there was room for.
bool is_truncation(int result) noexcept {
    int kind = MPI_SUCCESS;
    return result != MPI_SUCCESS && host().Error_class(result, &kind) == MPI_SUCCESS &&
           kind == MPI_ERR_TRUNCATE;
}

/// Reports the failure to stderr, because MPI's error number says little.
void report(int result) noexcept {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (host().Error_string(result, text, &length) == MPI_SUCCESS) {
        std::fprintf(stderr, "corymb: the MPI fails with a message between nodes: %s\n", text);
    }
}

/// Channels of other operations come after those of blocking ones.
bool is_framed(int channel) noexcept {
    return channel >= 2;
}

/// Memory that the MPI may still use, since its message was abandoned. Never freed.
void keep_for_good(std::vector<std::byte>&& memory) noexcept {
    static auto* const kept = new std::vector<std::vector<std::byte>>;
    try {
        kept->push_back(std::move(memory));
    } catch (const std::exception&) { // The memory leaks.
        static_cast<void>(new (std::nothrow) std::vector<std::byte>(std::move(memory)));
    }
}

} // namespace

MessageCarrier::MessageCarrier(MPI_Comm comm) noexcept {
    const Host& mpi = host();
    int rank = 0;
    mpi.Comm_rank(comm, &rank);
    is_whole_ = true;
    own_lanes_ = (largest_tag() - 1 - first_own_channel) / 2 + 1;
    for (MPI_Comm& own : comms_) { // A dup would copy attributes of the program's.
        own = mpi.comm_null;
        is_whole_ = mpi.Comm_split(comm, 0, rank, &own) == MPI_SUCCESS && is_whole_;
        if (is_whole_) {
            mpi.Comm_set_errhandler(own, mpi.errors_return);
        }
    }
}

corymb_carrier MessageCarrier::functions() noexcept {
    corymb_carrier carrier;
    corymb_carrier_init(&carrier);
    carrier.context = this;
    carrier.send = &send;
    carrier.receive = &receive;
    carrier.test = &test;
    carrier.abandon = &abandon;
    carrier.lanes = lanes;
    carrier.own_lanes = own_lanes_;
    return carrier;
}

bool MessageCarrier::take_own_lane() noexcept {
    if (own_taken_ == own_lanes_) {
        return false;
    }
    ++own_taken_;
    return true;
}

void MessageCarrier::free_communicators() noexcept {
    for (MPI_Comm& own : comms_) {
        if (own != host().comm_null) {
            host().Comm_free(&own);
        }
    }
}

std::uint64_t MessageCarrier::take_slot() {
    if (free_.empty()) {
        Slot& made = slots_.emplace_back();
        made.request = made.body = host().request_null;
        free_.reserve(slots_.size()); // Room for all slots to come back.
        return slots_.size() - 1;
    }
    const std::uint64_t slot = free_.back();
    free_.pop_back();
    return slot;
}

int MessageCarrier::frame(Slot& slot, void* data, std::size_t bytes, Framed& framed) {
    const bool is_short = bytes <= short_bytes;
    slot.front.resize(mark_bytes + (is_short ? bytes : 0));
    slot.data = static_cast<std::byte*>(data);
    if (is_short) {
        framed = {slot.front.data(), static_cast<int>(slot.front.size()), host().type_byte, false};
        return MPI_SUCCESS;
    }
    int lengths[2] = {static_cast<int>(mark_bytes), static_cast<int>(bytes)};
    MPI_Aint places[2]{};
    framed = {MPI_BOTTOM, 1, host().type_null, true};
    host().Get_address(slot.front.data(), &places[0]);
    host().Get_address(data, &places[1]);
    const int result =
        host().Type_create_hindexed(2, lengths, places, host().type_byte, &framed.type);
    return result == MPI_SUCCESS ? host().Type_commit(&framed.type) : result;
}

int MessageCarrier::send_framed(Slot& slot, const void* data, std::size_t bytes, int to,
                                int channel, int mark) {
    if (bytes > long_bytes) {
        const std::int32_t alone = mark;
        slot.front.resize(mark_bytes);
        std::memcpy(slot.front.data(), &alone, mark_bytes);
        const int sent =
            host().Isend(slot.front.data(), static_cast<int>(mark_bytes), host().type_byte, to,
                         channel, comms_[framed_comm], &slot.request);
        return sent != MPI_SUCCESS ? sent
                                   : host().Isend(data, static_cast<int>(bytes), host().type_byte,
                                                  to, channel, comms_[framed_comm], &slot.body);
    }
    Framed framed{};
    int result = frame(slot, const_cast<void*>(data), bytes, framed);
    if (result != MPI_SUCCESS) {
        return result;
    }
    const std::int32_t word = mark;
    std::memcpy(slot.front.data(), &word, mark_bytes);
    if (slot.front.size() > mark_bytes) {
        std::memcpy(slot.front.data() + mark_bytes, data, bytes);
    }
    result = host().Isend(framed.begin, framed.count, framed.type, to, channel, comms_[framed_comm],
                          &slot.request);
    if (framed.is_made) {
        host().Type_free(&framed.type);
    }
    return result;
}

int MessageCarrier::receive_framed(Slot& slot, void* data, std::size_t room, int from,
                                   int channel) {
    if (room > long_bytes) {
        slot.front.assign(mark_bytes, std::byte{0xFF});
        const int posted =
            host().Irecv(slot.front.data(), static_cast<int>(mark_bytes), host().type_byte, from,
                         channel, comms_[framed_comm], &slot.request);
        return posted != MPI_SUCCESS ? posted
                                     : host().Irecv(data, static_cast<int>(room), host().type_byte,
                                                    from, channel, comms_[framed_comm], &slot.body);
    }
    Framed framed{};
    int result = frame(slot, data, room, framed);
    if (result != MPI_SUCCESS) {
        return result;
    }
    result = host().Irecv(framed.begin, framed.count, framed.type, from, channel,
                          comms_[framed_comm], &slot.request);
    if (framed.is_made) {
        host().Type_free(&framed.type);
    }
    return result;
}

int MessageCarrier::send(void* self, const void* data, std::size_t bytes, int to, int channel,
                         int mark, std::uint64_t* ticket) noexcept {
    auto& own = *static_cast<MessageCarrier*>(self);
    try {
        if (!fits(bytes)) {
            return MPI_ERR_COUNT;
        }
        *ticket = own.take_slot();
        Slot& slot = own.slots_[*ticket];
        slot.is_receive = slot.is_apart = false;
        if (is_framed(channel)) {
            return own.send_framed(slot, data, bytes, to, channel, mark);
        }
        return host().Isend(data, static_cast<int>(bytes), host().type_byte, to, mark,
                            own.comms_[channel], &slot.request);
    } catch (const std::exception&) {
        return MPI_ERR_NO_MEM;
    }
}

int MessageCarrier::receive(void* self, void* data, std::size_t room, int from, int channel,
                            std::uint64_t* ticket) noexcept {
    auto& own = *static_cast<MessageCarrier*>(self);
    try {
        if (!fits(room)) {
            return MPI_ERR_COUNT;
        }
        *ticket = own.take_slot();
        Slot& slot = own.slots_[*ticket];
        slot.is_receive = true;
        slot.is_apart = false;
        slot.room = room;
        if (is_framed(channel)) {
            return own.receive_framed(slot, data, room, from, channel);
        }
        return host().Irecv(data, static_cast<int>(room), host().type_byte, from, MPI_ANY_TAG,
                            own.comms_[channel], &slot.request);
    } catch (const std::exception&) {
        return MPI_ERR_NO_MEM;
    }
}

int MessageCarrier::test(void* self, std::uint64_t ticket, int* done, std::size_t* bytes,
                         int* mark) noexcept {
    auto& own = *static_cast<MessageCarrier*>(self);
    Slot& slot = own.slots_[ticket];
    MPI_Status status{};
    int is_done = 0;
    int result = MPI_SUCCESS;
    do {
        if (!may_be_complete(slot.request)) {
            *done = 0;
            return MPI_SUCCESS;
        }
        result = host().Test(&slot.request, &is_done, &status);
    } while (result == MPI_SUCCESS && is_done != 0 && goes_on_with_body(slot));
    if (is_done != 0 || result != MPI_SUCCESS) {
        own.free_.push_back(ticket);
    }
    if (slot.is_receive && is_truncation(result)) { // Ranks have called different operations.
        slot.request = host().request_null;
        give_up(slot.body, true);
        slot.front.clear();
        *done = 1;
        *bytes = slot.room + 1;
        *mark = -1;
        return MPI_SUCCESS;
    }
    if (result != MPI_SUCCESS) {
        slot.request = host().request_null; // The ticket is used up.
        give_up(slot.body, slot.is_receive);
        report(result);
    } else if (is_done != 0 && slot.is_receive) {
        arrive(slot, status, bytes, mark);
    }
    if (is_done != 0) {
        slot.front.clear();
    }
    *done = is_done;
    return result;
}

bool MessageCarrier::goes_on_with_body(Slot& slot) noexcept {
    if (slot.body == host().request_null) {
        return false;
    }
    slot.request = slot.body;
    slot.body = host().request_null;
    slot.is_apart = true;
    return true;
}

void MessageCarrier::give_up(MPI_Request& request, bool is_receive) noexcept {
    if (request == host().request_null) {
        return;
    }
    if (is_receive) {
        host().Cancel(&request);
    }
    host().Request_free(&request);
    request = host().request_null;
}

void MessageCarrier::arrive(Slot& slot, const MPI_Status& status, std::size_t* bytes, int* mark) {
    int count = 0;
    host().Get_count(&status, host().type_byte, &count);
    *bytes = static_cast<std::size_t>(count);
    *mark = status.MPI_TAG;
    if (slot.front.empty()) {
        return;
    }
    std::int32_t word = -1;
    if (slot.is_apart || *bytes >= mark_bytes) {
        std::memcpy(&word, slot.front.data(), mark_bytes);
        *bytes -= slot.is_apart ? 0 : mark_bytes;
    }
    *mark = word;
    if (slot.front.size() > mark_bytes) {
        std::memcpy(slot.data, slot.front.data() + mark_bytes,
                    std::min(*bytes, slot.front.size() - mark_bytes));
    }
}

void MessageCarrier::abandon(void* self, std::uint64_t ticket) noexcept {
    auto& own = *static_cast<MessageCarrier*>(self);
    if (ticket >= own.slots_.size() || own.slots_[ticket].request == host().request_null) {
        return;
    }
    Slot& slot = own.slots_[ticket];
    give_up(slot.request, slot.is_receive);
    give_up(slot.body, slot.is_receive);
    if (!slot.front.empty()) {
        keep_for_good(std::move(slot.front));
        slot.front.clear();
    }
    own.free_.push_back(ticket);
}

} // namespace corymb::mpi
