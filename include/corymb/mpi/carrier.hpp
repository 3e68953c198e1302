// SPDX-License-Identifier: Apache-2.0
// Messages between nodes by MPI's point-to-point. For programs that are compiled with an MPI's
// mpicxx; the library itself needs no MPI.
#pragma once

#include <corymb/carrier.hpp>
#include <corymb/error.hpp>
#include <corymb/rank.hpp>

#include <mpi.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace corymb {

/// The carrier of one team or of one group of ranks that call each other; `comm` gives its ranks
/// their numbers. It has notices, but no lanes: teams have blocking operations only. Between
/// MPI_Init and MPI_Finalize; with several threads, MPI must allow MPI_THREAD_SERIALIZED at least.
/// Functions throw Errc::io with the text of an error of the MPI.
class MpiCarrier final : public Carrier {
public:
    /// Collective over `comm`.
    explicit MpiCarrier(MPI_Comm comm) {
        for (MPI_Comm& own : comms_) {
            check(MPI_Comm_dup(comm, &own));
            MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
        }
        find_nodes();
    }
    /// Collective. Drops notices that nobody has taken.
    ~MpiCarrier() override {
        drop_notices();
        for (MPI_Comm& own : comms_) {
            MPI_Comm_free(&own);
        }
    }
    MpiCarrier(const MpiCarrier&) = delete;
    MpiCarrier& operator=(const MpiCarrier&) = delete;

    /// The rank's number in the communicator.
    [[nodiscard]] Rank rank() const noexcept { return rank_; }
    /// The node of each rank: ranks of one node can share memory.
    [[nodiscard]] const std::vector<int>& node_of_rank() const noexcept { return nodes_; }

    [[nodiscard]] bool has_notices() const noexcept override { return true; }
    Ticket send(const void* data, std::size_t bytes, Rank to, Channel channel, int mark) override {
        const Ticket ticket = take_slot(false, 0);
        check(MPI_Isend(data, count_of(bytes), MPI_BYTE, to, mark, comm(channel),
                        &slots_[ticket].request));
        notices_to_[static_cast<std::size_t>(to)] += channel == Channel::notices ? 1 : 0;
        return ticket;
    }
    Ticket receive(void* data, std::size_t room, Rank from, Channel channel) override {
        const Ticket ticket = take_slot(true, room);
        slots_[ticket].is_notice = channel == Channel::notices;
        check(MPI_Irecv(data, count_of(room), MPI_BYTE, from == any_rank ? MPI_ANY_SOURCE : from,
                        MPI_ANY_TAG, comm(channel), &slots_[ticket].request));
        return ticket;
    }
    bool test(Ticket ticket, Arrival& arrival) override {
        Slot& slot = slots_[ticket];
        MPI_Status status;
        int done = 0;
        const int result = MPI_Test(&slot.request, &done, &status);
        if (result == MPI_SUCCESS && done == 0) {
            return false;
        }
        slot.request = MPI_REQUEST_NULL;
        free_.push_back(ticket);
        if (slot.is_receive && class_of(result) == MPI_ERR_TRUNCATE) {
            note_arrival(slot, status);
            arrival = {slot.room + 1, -1};
            return true;
        }
        check(result);
        if (slot.is_receive) {
            int count = 0;
            MPI_Get_count(&status, MPI_BYTE, &count);
            arrival = {static_cast<std::size_t>(count), status.MPI_TAG};
            note_arrival(slot, status);
        }
        return true;
    }
    void abandon(Ticket ticket) noexcept override {
        if (ticket >= slots_.size() || slots_[ticket].request == MPI_REQUEST_NULL) {
            return;
        }
        Slot& slot = slots_[ticket];
        if (slot.is_receive) {
            MPI_Status status;
            int is_cancelled = 0;
            MPI_Cancel(&slot.request);
            MPI_Wait(&slot.request, &status);
            MPI_Test_cancelled(&status, &is_cancelled);
            if (is_cancelled == 0) {
                note_arrival(slot, status);
            }
        } else {
            MPI_Request_free(&slot.request);
        }
        slot.request = MPI_REQUEST_NULL;
        free_.push_back(ticket);
    }

private:
    struct Slot {
        MPI_Request request;
        bool is_receive;
        std::size_t room; ///< A receive's.
        bool is_notice;   ///< A receive of one.
    };
    void note_arrival(const Slot& slot, const MPI_Status& status) noexcept {
        notices_from_[static_cast<std::size_t>(status.MPI_SOURCE)] += slot.is_notice ? 1 : 0;
    }
    /// An MPI may refuse to free a communicator with messages that nobody takes.
    void drop_notices() noexcept {
        std::vector<long> coming(nodes_.size());
        MPI_Alltoall(notices_to_.data(), 1, MPI_LONG, coming.data(), 1, MPI_LONG, comms_[0]);
        std::vector<char> notice(notice_bytes_most);
        for (std::size_t from = 0; from < coming.size(); ++from) {
            for (long left = coming[from] - notices_from_[from]; left > 0; --left) {
                MPI_Recv(notice.data(), count_of(notice.size()), MPI_BYTE, static_cast<int>(from),
                         MPI_ANY_TAG, comms_[2], MPI_STATUS_IGNORE);
            }
        }
    }
    static int class_of(int result) noexcept {
        int kind = result;
        return result != MPI_SUCCESS && MPI_Error_class(result, &kind) == MPI_SUCCESS ? kind
                                                                                      : result;
    }
    static void check(int result) {
        if (result != MPI_SUCCESS) {
            char text[MPI_MAX_ERROR_STRING] = "";
            int length = 0;
            MPI_Error_string(result, text, &length);
            throw Error(Errc::io, "the MPI has failed with a message: " + std::string(text));
        }
    }
    static int count_of(std::size_t bytes) {
        if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
            throw Error(Errc::invalid_argument, "a message of more than 2 GiB");
        }
        return static_cast<int>(bytes);
    }
    /// Numbers the nodes in the order of their first ranks.
    void find_nodes() {
        int size = 0;
        MPI_Comm_rank(comms_[0], &rank_);
        MPI_Comm_size(comms_[0], &size);
        MPI_Comm node = MPI_COMM_NULL;
        check(MPI_Comm_split_type(comms_[0], MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node));
        int first = rank_;
        check(MPI_Bcast(&first, 1, MPI_INT, 0, node));
        MPI_Comm_free(&node);
        nodes_.resize(static_cast<std::size_t>(size));
        notices_to_.resize(nodes_.size());
        notices_from_.resize(nodes_.size());
        check(MPI_Allgather(&first, 1, MPI_INT, nodes_.data(), 1, MPI_INT, comms_[0]));
        int count = 0;
        for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
            const auto leader = static_cast<std::size_t>(nodes_[rank]);
            nodes_[rank] = leader == rank ? count++ : nodes_[leader];
        }
    }
    [[nodiscard]] MPI_Comm comm(Channel channel) const {
        return comms_[channel == Channel::notices ? 2 : channel == Channel::notifications ? 1 : 0];
    }
    Ticket take_slot(bool is_receive, std::size_t room) {
        if (free_.empty()) {
            slots_.push_back({MPI_REQUEST_NULL, false, 0, false});
            free_.reserve(slots_.size()); // Room for all slots to come back.
            free_.push_back(slots_.size() - 1);
        }
        const Ticket ticket = free_.back();
        free_.pop_back();
        slots_[ticket] = {MPI_REQUEST_NULL, is_receive, room, false};
        return ticket;
    }

    MPI_Comm comms_[3]{};
    int rank_ = 0;
    std::vector<int> nodes_;
    // Notices so far, by rank.
    std::vector<long> notices_to_;
    std::vector<long> notices_from_;
    std::vector<Slot> slots_;
    std::vector<Ticket> free_;
};

} // namespace corymb
