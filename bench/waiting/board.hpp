// SPDX-License-Identifier: Apache-2.0
// What the driver and the ranks of one contestant share: turns, and the times of their calls.
#pragma once

#include "../threads/peers/padded.hpp"
#include "cell.hpp"
#include "shared.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>

namespace corymb::bench {

/// Most calls of a turn.
inline constexpr std::size_t turn_calls_max = 4096;

/// The driver makes it before it forks. Between turns the ranks sleep.
class Board {
public:
    explicit Board(int ranks);

    // Of the driver.
    /// Every rank is to make so many calls, at most `turn_calls_max`.
    void begin_turn(std::uint32_t calls) const;
    /// Returns when all ranks are done, false when `seconds` have passed or a rank has failed.
    [[nodiscard]] bool wait_for_ranks(double seconds) const;
    /// Why a rank has failed; empty if none has.
    [[nodiscard]] std::string failure() const;
    /// When the last rank had begun its turn, and when the last was through with each call.
    [[nodiscard]] std::int64_t last_begin() const;
    [[nodiscard]] std::int64_t last_end(std::size_t call) const;

    // Of a rank.
    /// Tells the driver that this rank is ready, or done with its turn.
    void say_done() const;
    /// The calls of turn `turn`, from 1, when it has begun.
    [[nodiscard]] std::uint32_t wait_for_turn(std::uint32_t turn) const;
    void set_begin(int rank, std::int64_t ns) const { times(rank)[0] = ns; }
    void set_end(int rank, std::size_t call, std::int64_t ns) const { times(rank)[call + 1] = ns; }
    /// The first to say it is heard.
    void say_failed(const std::string& why) const;

private:
    struct State {
        Padded<std::atomic<std::uint32_t>> turn;
        Padded<std::atomic<std::uint32_t>> done;
        std::atomic<std::uint32_t> calls{0};
        std::atomic<std::uint32_t> failed{0}; ///< 1: being written, 2: `why` is there.
        char why[400] = {};
    };
    [[nodiscard]] State& state() const noexcept;
    [[nodiscard]] std::span<std::int64_t> times(int rank) const noexcept;
    template <class Time>
    [[nodiscard]] std::int64_t latest(const Time& time) const;

    int ranks_;
    SharedMapping memory_;
};

} // namespace corymb::bench
