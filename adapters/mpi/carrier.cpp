// SPDX-License-Identifier: Apache-2.0
#include "carrier.hpp"

#include <exception>
#include <limits>

namespace corymb::mpi {

namespace {

/// More than MPI's int counts hold goes to the MPI itself (Turn).
bool fits(std::size_t bytes) noexcept {
    return bytes <= static_cast<std::size_t>(std::numeric_limits<int>::max());
}

} // namespace

MessageCarrier::MessageCarrier(MPI_Comm comm) noexcept {
    const Host& mpi = host();
    int rank = 0;
    mpi.Comm_rank(comm, &rank);
    is_whole_ = true;
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
    return carrier;
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
        slots_.push_back({host().request_null, false});
        free_.reserve(slots_.size()); // For all of them to come back.
        return slots_.size() - 1;
    }
    const std::uint64_t slot = free_.back();
    free_.pop_back();
    return slot;
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
        slot.is_receive = false;
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
    const int result = host().Test(&slot.request, &is_done, &status);
    if (is_done != 0 || result != MPI_SUCCESS) {
        own.free_.push_back(ticket);
    }
    if (result == MPI_SUCCESS && is_done != 0 && slot.is_receive) {
        int count = 0;
        host().Get_count(&status, host().type_byte, &count);
        *bytes = static_cast<std::size_t>(count);
        *mark = status.MPI_TAG;
    }
    *done = is_done;
    return result;
}

void MessageCarrier::abandon(void* self, std::uint64_t ticket) noexcept {
    auto& own = *static_cast<MessageCarrier*>(self);
    if (ticket >= own.slots_.size() || own.slots_[ticket].request == host().request_null) {
        return;
    }
    Slot& slot = own.slots_[ticket];
    if (slot.is_receive) {
        host().Cancel(&slot.request);
    }
    host().Request_free(&slot.request);
    slot.request = host().request_null;
    own.free_.push_back(ticket);
}

} // namespace corymb::mpi
