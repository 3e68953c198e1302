// SPDX-License-Identifier: Apache-2.0
// The order in which contestants are measured, the same for every program here that times them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace corymb::bench {

enum class Turn : std::uint8_t {
    taken,
    passed, ///< This contestant wants no turn in this round.
    over,   ///< Nobody has a turn any more.
};

/// Goes round: each round gives every contestant one turn, in an order drawn anew, so that drift of
/// the machine and the habits of who was before hit all alike. `take` has the contestant's index
/// and returns a Turn. Ends with Turn::over, or after a round in which all have passed.
template <class Take>
void take_turns(std::size_t contestants, std::mt19937_64& random, const Take& take) {
    std::vector<std::size_t> order(contestants);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (bool is_taken = true; is_taken;) {
        is_taken = false;
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t contestant : order) {
            const Turn turn = take(contestant);
            if (turn == Turn::over) {
                return;
            }
            is_taken = is_taken || turn == Turn::taken;
        }
    }
}

/// So many rounds of turns; `time` returns the figure of one turn. The figures by contestant.
template <class Time>
[[nodiscard]] std::vector<std::vector<double>>
times_in_turns(std::size_t contestants, std::size_t rounds, const Time& time) {
    std::vector<std::vector<double>> times(contestants);
    std::mt19937_64 random(1);
    take_turns(contestants, random, [&](std::size_t who) {
        if (times[who].size() == rounds) {
            return Turn::passed;
        }
        times[who].push_back(time(who));
        return Turn::taken;
    });
    return times;
}

} // namespace corymb::bench
