// SPDX-License-Identifier: Apache-2.0
// Messages between nodes by the MPI below, on communicators of the adapter's own. Messages of
// blocking operations have their mark as tag, and a communicator for each of the two channels.
// Nonblocking and persistent operations share one communicator: the channel is the tag, and the
// mark goes before the data or, if the data is long, in a message of its own.
#pragma once

#include "below/host.hpp"

#include <corymb.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace corymb::mpi {

/// The carrier of one communicator, for one thread at a time. It numbers peers by their ranks in
/// `comm`.
class MessageCarrier {
public:
    /// Collective over `comm`; `is_whole` says whether this rank succeeded.
    explicit MessageCarrier(MPI_Comm comm) noexcept;
    MessageCarrier(const MessageCarrier&) = delete;
    MessageCarrier& operator=(const MessageCarrier&) = delete;
    ~MessageCarrier() = default;

    [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }
    /// The functions for libcorymb; *this is their context.
    [[nodiscard]] corymb_carrier functions() noexcept;
    /// Takes channels for one more persistent operation. False, on all ranks at once: the MPI has
    /// no more tags.
    [[nodiscard]] bool take_own_lane() noexcept;
    /// Whether such channels were taken; equal on all ranks.
    [[nodiscard]] bool has_own_lanes() const noexcept { return own_taken_ > 0; }
    /// Gives the communicators back. Not at MPI_Finalize, where MPI does it.
    void free_communicators() noexcept;

private:
    /// Pairs of channels for nonblocking operations.
    static constexpr int lanes = 8;
    /// Persistent operations have the channels after these and the pair of notices, which there are
    /// none of: who frees a communicator must not leave messages behind that nobody takes.
    static constexpr int first_own_channel = 2 * (lanes + 2);

    static int send(void* self, const void* data, std::size_t bytes, int to, int channel, int mark,
                    std::uint64_t* ticket) noexcept;
    static int receive(void* self, void* data, std::size_t room, int from, int channel,
                       std::uint64_t* ticket) noexcept;
    static int test(void* self, std::uint64_t ticket, int* done, std::size_t* bytes,
                    int* mark) noexcept;
    static void abandon(void* self, std::uint64_t ticket) noexcept;
    [[nodiscard]] std::uint64_t take_slot();

    struct Slot {
        MPI_Request request{};
        MPI_Request body{}; ///< Request of the data, if it comes after its mark.
        bool is_receive = false;
        bool is_apart = false; ///< The mark has come, the data is a message of its own.
        /// The mark of a nonblocking operation's message, and its data, where that is short. Empty:
        /// it has none of these.
        std::vector<std::byte> front;
        std::byte* data = nullptr; ///< Destination of the data.
        std::size_t room = 0;      ///< Room for the data of a message to come.
    };
    /// The buffer for the MPI of a message with a mark in front: one piece if it is short.
    struct Framed {
        void* begin;
        int count;
        MPI_Datatype type;
        bool is_made; ///< The type is to be freed.
    };
    [[nodiscard]] static int frame(Slot& slot, void* data, std::size_t bytes, Framed& framed);
    [[nodiscard]] int send_framed(Slot& slot, const void* data, std::size_t bytes, int to,
                                  int channel, int mark);
    [[nodiscard]] int receive_framed(Slot& slot, void* data, std::size_t room, int from,
                                     int channel);
    [[nodiscard]] static bool goes_on_with_body(Slot& slot) noexcept;
    static void give_up(MPI_Request& request, bool is_receive) noexcept;
    static void arrive(Slot& slot, const MPI_Status& status, std::size_t* bytes, int* mark);

    static constexpr int framed_comm = 2;
    MPI_Comm comms_[3]{};
    bool is_whole_ = false;
    int own_lanes_ = 0; ///< Lanes for persistent operations, as many as the MPI has tags for.
    int own_taken_ = 0;
    std::vector<Slot> slots_;
    std::vector<std::uint64_t> free_; ///< Slots without a request.
};

} // namespace corymb::mpi
