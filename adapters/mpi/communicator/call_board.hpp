// SPDX-License-Identifier: Apache-2.0
// Shows which library performs a call. That decision depends on facts that are equal on all ranks.
// If ranks contradict each other, one may be in the MPI and another in corymb, and neither ends. So
// each rank of a team on one node writes into memory of the team which of its calls the MPI
// performs, and ranks that wait in corymb read it.
#pragma once

#include "below/call.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace corymb::mpi {

class CallBoard {
public:
    CallBoard(int rank, int size) noexcept : rank_(rank), size_(size) {}
    CallBoard(const CallBoard&) = delete;
    CallBoard& operator=(const CallBoard&) = delete;
    ~CallBoard();

    /// What the ranks share.
    [[nodiscard]] static std::size_t bytes(int size) noexcept {
        return static_cast<std::size_t>(size) * sizeof(Slot);
    }
    /// Maps the zeroed memory. Without success this rank neither writes nor reads.
    void open(int descriptor) noexcept;

    /// The next blocking call begins. All ranks count alike.
    void begin(Operation operation) noexcept {
        ++number_;
        operation_ = operation;
    }
    /// Uncounts the call: the MPI has refused it on this rank.
    void take_back() noexcept { --number_; }
    /// The MPI performs the call, until `come_back`.
    void leave(std::uint64_t bytes) noexcept;
    void come_back() noexcept;

    /// Asked in a long wait of corymb: whether a rank is in the MPI with this call.
    [[nodiscard]] bool is_contradicted() noexcept;
    /// How ranks differ; empty: they do not, as far as is known.
    [[nodiscard]] const std::string& contradiction() const noexcept { return contradiction_; }

private:
    struct alignas(64) Slot {
        std::atomic<std::uint64_t> number; ///< Number of the call that the MPI performs; 0: none.
        std::atomic<std::uint64_t> operation;
        std::atomic<std::uint64_t> bytes;
    };
    [[nodiscard]] std::string describe(int rank, const Slot& slot) const;

    int rank_;
    int size_;
    Slot* slots_ = nullptr;
    std::uint64_t number_ = 0;
    Operation operation_{};
    std::int64_t next_look_ns_ = 0;
    std::string contradiction_;
};

} // namespace corymb::mpi
