// SPDX-License-Identifier: Apache-2.0
// The memory in which the ranks of a communicator on one node see each other, besides their team's:
// the CallBoard, the RequestBoard, the EarlyBoard. Rank 0 makes it, and the others find it by its
// descriptor.
#pragma once

#include "channel/env.hpp"
#include "channel/first_comer.hpp"
#include "communicator/communicator.hpp"
#include "policy/agreement.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace corymb::mpi {

/// The descriptor of zeroed memory for so many ranks; -1: none can be had.
[[nodiscard]] int make_board_memory(int size) noexcept;
/// Maps the boards of a team that has its CallBoard. False: it has no RequestBoard. Throws
/// std::bad_alloc.
[[nodiscard]] bool open_boards(RankTeam& team, int rank, int size, int descriptor);

/// The board on which ranks agree on a team in nonblocking calls (agreement/steps.cpp).
class EarlyBoard {
public:
    static constexpr std::size_t words = Agreement::words_most;
    using End = channel::FirstComerEnd<channel::StandardEnv, words>;

    EarlyBoard(int rank, int size) noexcept;
    EarlyBoard(const EarlyBoard&) = delete;
    EarlyBoard& operator=(const EarlyBoard&) = delete;
    ~EarlyBoard();

    [[nodiscard]] static std::size_t bytes(int size) noexcept;
    /// Maps its part of the memory; false: that cannot be done.
    [[nodiscard]] bool open(int descriptor) noexcept;

    /// A number that rank 0 has drawn. Whoever finds it has rank 0's memory.
    [[nodiscard]] std::uint64_t& nonce() const noexcept;
    /// Set when the calls of a rank have taken long enough for a team. It publishes nothing else.
    [[nodiscard]] std::atomic<std::uint32_t>& is_wanted() const noexcept;
    [[nodiscard]] End& end() noexcept { return *end_; }

private:
    struct Shared;

    int rank_;
    int size_;
    Shared* shared_ = nullptr;
    std::optional<End> end_;
};

} // namespace corymb::mpi
