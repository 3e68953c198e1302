// SPDX-License-Identifier: Apache-2.0
// Messages between nodes by MPI's point-to-point.
#pragma once

#include <corymb/carrier.hpp>
#include <corymb/error.hpp>

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace corymb::bench {

/// For one team; `comm` gives its ranks their numbers. MPI's errors end the job.
class MpiCarrier final : public Carrier {
public:
    explicit MpiCarrier(MPI_Comm comm) {
        for (MPI_Comm& own : comms_) {
            MPI_Comm_dup(comm, &own);
        }
    }
    ~MpiCarrier() override {
        for (MPI_Comm& own : comms_) {
            MPI_Comm_free(&own);
        }
    }
    MpiCarrier(const MpiCarrier&) = delete;
    MpiCarrier& operator=(const MpiCarrier&) = delete;

    Ticket send(const void* data, std::size_t bytes, Rank to, Channel channel, int mark) override {
        const Ticket ticket = take_slot(false);
        MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, mark, comm(channel),
                  &slots_[ticket].request);
        return ticket;
    }
    Ticket receive(void* data, std::size_t room, Rank from, Channel channel) override {
        const Ticket ticket = take_slot(true);
        MPI_Irecv(data, static_cast<int>(room), MPI_BYTE, from, MPI_ANY_TAG, comm(channel),
                  &slots_[ticket].request);
        return ticket;
    }
    bool test(Ticket ticket, Arrival& arrival) override {
        MPI_Status status;
        int done = 0;
        MPI_Test(&slots_[ticket].request, &done, &status);
        if (done != 0) {
            free_.push_back(ticket);
            if (slots_[ticket].is_receive) {
                int count = 0;
                MPI_Get_count(&status, MPI_BYTE, &count);
                arrival = {static_cast<std::size_t>(count), status.MPI_TAG};
            }
        }
        return done != 0;
    }
    void abandon(Ticket /*ticket*/) noexcept override {} // The job ends.

private:
    struct Slot {
        MPI_Request request;
        bool is_receive;
    };
    [[nodiscard]] MPI_Comm comm(Channel channel) const {
        return comms_[channel == Channel::data ? 0 : 1];
    }
    Ticket take_slot(bool is_receive) {
        if (free_.empty()) {
            free_.push_back(slots_.size());
            slots_.push_back({MPI_REQUEST_NULL, false});
        }
        const Ticket ticket = free_.back();
        free_.pop_back();
        slots_[ticket].is_receive = is_receive;
        return ticket;
    }

    MPI_Comm comms_[2];
    std::vector<Slot> slots_;
    std::vector<Ticket> free_;
};

} // namespace corymb::bench
