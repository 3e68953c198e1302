// SPDX-License-Identifier: Apache-2.0
#include "plan/generate/rounds.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace corymb {

Rounds doubling_rounds(std::size_t size) {
    Rounds rounds;
    for (std::size_t distance = 1; distance < size; distance *= 2) {
        std::vector<Hop>& round = rounds.emplace_back();
        for (std::size_t to = 0; to < size; ++to) {
            const std::size_t from = to ^ distance;
            round.push_back({from, to, from & ~(distance - 1), distance});
        }
    }
    return rounds;
}

Rounds ring_rounds(std::size_t size, int shift) {
    Rounds rounds;
    for (std::size_t step = 0; step + 1 < size; ++step) {
        std::vector<Hop>& round = rounds.emplace_back();
        for (std::size_t to = 0; to < size; ++to) {
            const std::size_t ahead = to + static_cast<std::size_t>(shift + 1);
            round.push_back({(to + size - 1) % size, to, (ahead + 2 * size - 2 - step) % size, 1});
        }
    }
    return rounds;
}

Rounds bruck_rounds(std::size_t size) {
    Rounds rounds;
    for (std::size_t distance = 1; distance < size; distance *= 2) {
        std::vector<Hop>& round = rounds.emplace_back();
        for (std::size_t to = 0; to < size; ++to) {
            const std::size_t from = (to + distance) % size;
            round.push_back({from, to, from, std::min(distance, size - distance)});
        }
    }
    return rounds;
}

Rounds binomial_rounds(std::size_t size) {
    Rounds rounds;
    for (std::size_t distance = std::bit_ceil(size) / 2; distance > 0; distance /= 2) {
        std::vector<Hop>& round = rounds.emplace_back();
        for (std::size_t from = 0; from + distance < size; from += 2 * distance) {
            const std::size_t to = from + distance;
            round.push_back({from, to, to, std::min(distance, size - to)});
        }
    }
    return rounds;
}

Rounds reversed(Rounds rounds) {
    std::ranges::reverse(rounds);
    for (std::vector<Hop>& round : rounds) {
        for (Hop& hop : round) {
            std::swap(hop.from, hop.to);
        }
        std::ranges::sort(round, std::ranges::less{}, &Hop::to);
    }
    return rounds;
}

} // namespace corymb
