// SPDX-License-Identifier: Apache-2.0
#include "communicator/early_steps.hpp"

#include "below/library.hpp"
#include "communicator/kept_teams.hpp"
#include "policy/tuning.hpp"

#include <atomic>
#include <utility>

namespace corymb::mpi {

namespace {

std::atomic<int> boards_open{0};

} // namespace

bool EarlySteps::make_board(int size) noexcept {
    if (boards_open.fetch_add(1, std::memory_order_relaxed) < tuning::boards_most) {
        board_memory.reset(make_board_memory(size));
    }
    if (board_memory.number() < 0) {
        boards_open.fetch_sub(1, std::memory_order_relaxed);
    }
    return board_memory.number() >= 0;
}

void EarlySteps::close_board() noexcept {
    if (board_memory.number() >= 0) {
        board_memory.reset(-1);
        boards_open.fetch_sub(1, std::memory_order_relaxed);
    }
}

EarlySteps::~EarlySteps() {
    end();
}

void EarlySteps::end() noexcept {
    stage = Stage::over;
    if (arriving != nullptr) {
        give_back(CORYMB_HANDLE_PROCESS_TEAM, arriving);
    }
    end_team(made);
    if (offer.id != 0) {
        give_up(std::exchange(offer, RankTeam{}));
    }
    memory.reset(-1);
    board.reset();
    close_board();
}

void wait_for_question(EarlySteps& steps) noexcept {
    if (std::exchange(steps.question.is_under_way, false)) {
        host().Wait(&steps.question.request, MPI_STATUS_IGNORE);
    }
}

} // namespace corymb::mpi
