// SPDX-License-Identifier: Apache-2.0
#include "board.hpp"

#include "../threads/worker/time.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <ctime>
#include <new>

namespace corymb::bench {
namespace {

constexpr std::size_t times_of_a_rank = turn_calls_max + 1;
/// The driver looks after a rank that has failed as often as this.
constexpr std::int64_t look_ns = 20'000'000;

void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
    const timespec limit{0, look_ns};
    syscall(SYS_futex, &word, FUTEX_WAIT, value, &limit, nullptr, 0);
}

void wake_all(const std::atomic<std::uint32_t>& word) {
    syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace

Board::Board(int ranks)
    : ranks_(ranks),
      memory_(sizeof(State) + static_cast<std::size_t>(ranks) * times_of_a_rank * 8) {
    new (memory_.data()) State();
}

Board::State& Board::state() const noexcept {
    return *reinterpret_cast<State*>(memory_.data());
}

std::span<std::int64_t> Board::times(int rank) const noexcept {
    auto* all = reinterpret_cast<std::int64_t*>(memory_.data() + sizeof(State));
    return {all + static_cast<std::size_t>(rank) * times_of_a_rank, times_of_a_rank};
}

void Board::begin_turn(std::uint32_t calls) const {
    state().done.value.store(0, std::memory_order_relaxed);
    state().calls.store(calls, std::memory_order_relaxed);
    state().turn.value.fetch_add(1, std::memory_order_release);
    wake_all(state().turn.value);
}

std::uint32_t Board::wait_for_turn(std::uint32_t turn) const {
    for (auto now = state().turn.value.load(std::memory_order_acquire); now < turn;
         now = state().turn.value.load(std::memory_order_acquire)) {
        sleep_while(state().turn.value, now);
    }
    return state().calls.load(std::memory_order_relaxed);
}

void Board::say_done() const {
    if (state().done.value.fetch_add(1, std::memory_order_acq_rel) + 1 ==
        static_cast<std::uint32_t>(ranks_)) {
        wake_all(state().done.value);
    }
}

bool Board::wait_for_ranks(double seconds) const {
    const std::int64_t end = wall_ns() + static_cast<std::int64_t>(seconds * 1e9);
    while (true) {
        const auto done = state().done.value.load(std::memory_order_acquire);
        if (done == static_cast<std::uint32_t>(ranks_)) {
            return true;
        }
        if (state().failed.load(std::memory_order_acquire) != 0 || wall_ns() > end) {
            return false;
        }
        sleep_while(state().done.value, done);
    }
}

void Board::say_failed(const std::string& why) const {
    std::uint32_t nobody = 0;
    if (state().failed.compare_exchange_strong(nobody, 1, std::memory_order_relaxed)) {
        why.copy(state().why, sizeof state().why - 1);
        state().failed.store(2, std::memory_order_release);
    }
}

std::string Board::failure() const {
    return state().failed.load(std::memory_order_acquire) == 2 ? state().why : "";
}

template <class Time>
std::int64_t Board::latest(const Time& time) const {
    std::int64_t last = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
        last = std::max(last, time(rank));
    }
    return last;
}

std::int64_t Board::last_begin() const {
    return latest([this](int rank) { return times(rank)[0]; });
}

std::int64_t Board::last_end(std::size_t call) const {
    return latest([this, call](int rank) { return times(rank)[call + 1]; });
}

} // namespace corymb::bench
