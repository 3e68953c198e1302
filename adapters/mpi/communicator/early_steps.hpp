// SPDX-License-Identifier: Apache-2.0
// The way to a team of a communicator in nonblocking calls, which must not wait for other ranks:
// how far this rank has come, and what it has in its hands (agreement/steps.cpp).
#pragma once

#include "below/descriptor.hpp"
#include "below/host.hpp"
#include "communicator/board_memory.hpp"
#include "communicator/communicator.hpp"
#include "communicator/terms.hpp"
#include "policy/agreement.hpp"

#include <corymb.h>

#include <array>
#include <cstdint>
#include <memory>

namespace corymb::mpi {

struct EarlySteps {
    enum class Stage : unsigned char {
        counting,  ///< There were too few calls.
        asked,     ///< The MPI combines what the ranks say of themselves.
        early,     ///< The ranks share a board. Calls are to take longer before there is a team.
        proposed,  ///< This rank has told its terms.
        mapped,    ///< It has told whether it has the memory of the team.
        attaching, ///< It attaches, or has told what came of it.
        over,      ///< The team is made in another way, or there is none.
        team,      ///< Nonblocking calls are on the team.
    };
    /// What ranks say of themselves; combined by one nonblocking reduction of the MPI's.
    struct Question {
        std::uint64_t objections = 0;
        bool no_requests = false; ///< A rank leaves all requests to the MPI.
        bool is_one_machine = false;
        // Rank 0 alone sets these: its board.
        std::uint64_t pid = 0;
        std::uint64_t descriptor = 0;
        std::uint64_t nonce = 0; ///< 0: there is none.
        Agreement agreement;
        std::array<std::uint64_t, 8> own{};
        std::array<std::uint64_t, 8> all{};
        MPI_Request request{};
        bool is_asked = false;
        bool is_under_way = false;
    };

    EarlySteps() = default;
    EarlySteps(const EarlySteps&) = delete;
    EarlySteps& operator=(const EarlySteps&) = delete;
    ~EarlySteps();

    /// Rank 0 makes memory for the boards. False: there is none, or too many descriptors are open.
    [[nodiscard]] bool make_board(int size) noexcept;
    void close_board() noexcept;
    /// Gives back all that is on the way to a team; there will be none in this way.
    void end() noexcept;

    Stage stage = Stage::counting;
    std::uint64_t calls = 0; ///< Nonblocking calls of this rank.
    bool has_looked = false; ///< The last call was looked up on the board, and ended no term,
    bool has_ended = false;  ///< or ended one.
    bool is_again = false;   ///< The next call is the last one again, which the MPI has refused.
    bool is_urgent = false;  ///< Time plays no part.
    Question question;
    Descriptor board_memory; ///< Rank 0's, until all have opened it.
    std::unique_ptr<EarlyBoard> board{};
    Terms terms{};
    Descriptor memory; ///< Memory of the team.
    RankTeam offer{};  ///< A kept team to go on with.
    corymb_process_team* arriving = nullptr;
    RankTeam made{}; ///< The team, from when on this rank attaches to it.
    /// The MPI keeps the CPU of a waiting rank: of this one; after the agreement, of any.
    bool mpi_keeps_cpus = false;
    std::uint64_t calls_before_team = 0;
};

/// The communicator goes, or MPI ends: waits for the reduction of the MPI's, if it is under way.
/// All ranks have begun it, or will before they come here: it belongs to one of their calls.
void wait_for_question(EarlySteps& steps) noexcept;

} // namespace corymb::mpi
