// SPDX-License-Identifier: Apache-2.0
// Messages between nodes by the MPI below, on communicators of the adapter's own.
#pragma once

#include "host.hpp"

#include <corymb.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corymb::mpi {

/// Of one communicator and thread at a time. What it counts from 0 are the ranks of `comm`.
class MessageCarrier {
public:
    /// Collective over `comm`; `is_whole` says whether this rank succeeded.
    explicit MessageCarrier(MPI_Comm comm) noexcept;
    MessageCarrier(const MessageCarrier&) = delete;
    MessageCarrier& operator=(const MessageCarrier&) = delete;
    ~MessageCarrier() = default;

    [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }
    /// As libcorymb wants it; *this is its context.
    [[nodiscard]] corymb_carrier functions() noexcept;
    /// Gives the communicators back. Not at MPI_Finalize, where MPI does it.
    void free_communicators() noexcept;

private:
    static int send(void* self, const void* data, std::size_t bytes, int to, int channel, int mark,
                    std::uint64_t* ticket) noexcept;
    static int receive(void* self, void* data, std::size_t room, int from, int channel,
                       std::uint64_t* ticket) noexcept;
    static int test(void* self, std::uint64_t ticket, int* done, std::size_t* bytes,
                    int* mark) noexcept;
    static void abandon(void* self, std::uint64_t ticket) noexcept;
    [[nodiscard]] std::uint64_t take_slot();

    struct Slot {
        MPI_Request request;
        bool is_receive;
    };
    MPI_Comm comms_[2]{};
    bool is_whole_ = false;
    std::vector<Slot> slots_;
    std::vector<std::uint64_t> free_; ///< Slots without a request.
};

} // namespace corymb::mpi
