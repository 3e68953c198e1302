// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include "../threads/case.hpp"
#include "../threads/peers/waiting.hpp"
#include "../threads/worker/time.hpp"
#include "payload.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace corymb::bench {
namespace {

/// What one rank does until the driver ends its process.
[[noreturn]] void live(const Cell& cell, CellGroup& group, const Board& board, int rank) {
    const std::unique_ptr<CellMember> member = group.join(rank);
    CellPayload payload(cell, rank);
    std::uint64_t number = 0;
    board.say_done();
    for (std::uint32_t turn = 1;; ++turn) {
        const std::uint32_t calls = board.wait_for_turn(turn);
        board.set_begin(rank, wall_ns());
        for (std::uint32_t call = 0; call < calls; ++call, ++number) {
            const int root = cell.root_of(number);
            payload.write(number, root);
            member->call(root, payload.input(root), payload.output(root));
            board.set_end(rank, call, wall_ns());
            if (!payload.is_right(number, root)) {
                throw std::runtime_error("wrong data in call " + std::to_string(number));
            }
        }
        board.say_done();
    }
}

/// A rank that has failed ends its process, for the others wait for it.
[[noreturn]] void live_or_say(const Cell& cell, CellGroup& group, const Board& board, int rank) {
    try {
        live(cell, group, board, rank);
    } catch (const std::exception& error) {
        board.say_failed("rank " + std::to_string(rank) + ": " + error.what());
    }
    _exit(1);
}

void run_threads(const Cell& cell, CellGroup& group, const Board& board) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < cell.ranks; ++rank) {
        threads.emplace_back(
            [&cell, &group, &board, rank] { live_or_say(cell, group, board, rank); });
    }
}

void run_processes(const Cell& cell, CellGroup& group, const Board& board) {
    std::vector<Forked> ranks;
    for (int rank = 0; rank < cell.ranks; ++rank) {
        ranks.emplace_back(
            [&cell, &group, &board, rank] { live_or_say(cell, group, board, rank); });
    }
    wait(nullptr); // No rank ends unless it has failed.
    throw std::runtime_error("a rank's process has ended");
}

/// The first of this process's CPUs, as many as the cell has.
std::vector<int> cpus_of(const Cell& cell) {
    std::vector<int> cpus = allowed_cpus();
    cpus.resize(std::min(cpus.size(), static_cast<std::size_t>(cell.cpus)));
    return cpus;
}

} // namespace

Forked::Forked(const std::function<void()>& work) : process_(fork()) {
    if (process_ < 0) {
        throw std::system_error(errno, std::generic_category(), "cannot start a process");
    }
    if (process_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        work();
        _exit(0);
    }
}

Forked::Forked(Forked&& other) noexcept : process_(std::exchange(other.process_, -1)) {}

Forked::~Forked() {
    if (process_ >= 0) {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
}

Forked start_contestant(const Cell& cell, MakeGroup make, const Board& board) {
    return Forked([&cell, make, &board] {
        try {
            if (!bind_this_thread(cpus_of(cell))) {
                throw std::runtime_error("the system does not let threads bind themselves");
            }
            const std::unique_ptr<CellGroup> group = make(cell);
            (cell.between_processes ? run_processes : run_threads)(cell, *group, board);
        } catch (const std::exception& error) {
            board.say_failed(error.what());
            _exit(1);
        }
    });
}

std::vector<Forked> start_neighbours(const Cell& cell) {
    std::vector<int> cpus = cpus_of(cell);
    if (cell.neighbours == Neighbours::none) {
        cpus.clear();
    } else if (cell.neighbours == Neighbours::one) {
        cpus.erase(cpus.begin(), cpus.end() - 1);
    }
    std::vector<Forked> neighbours;
    for (const int cpu : cpus) {
        neighbours.emplace_back([cpu] {
            bind_this_thread(cpu);
            while (true) {
                relax();
            }
        });
    }
    return neighbours;
}

} // namespace corymb::bench
