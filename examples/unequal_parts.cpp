// SPDX-License-Identifier: Apache-2.0
// Every rank finds the primes of its own range, and rank 0 gets them all in order: first how many
// each rank has, then the primes themselves.
#include <corymb/team.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

namespace {

constexpr int range = 1000;

std::vector<int> primes_between(int first, int end) {
    std::vector<int> found;
    for (int candidate = std::max(first, 2); candidate < end; ++candidate) {
        bool is_prime = true;
        for (int divisor = 2; divisor * divisor <= candidate && is_prime; ++divisor) {
            is_prime = candidate % divisor != 0;
        }
        if (is_prime) {
            found.push_back(candidate);
        }
    }
    return found;
}

} // namespace

int main() {
    corymb::threads(4, [](corymb::Team& team) {
        const std::vector<int> mine =
            primes_between(team.rank() * range, (team.rank() + 1) * range);
        const std::size_t count = mine.size();
        std::vector<std::size_t> counts(static_cast<std::size_t>(team.size()));
        team.gather(std::span(&count, 1), std::span(counts));

        std::vector<int> all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
        team.gatherv(std::span<const int>(mine), std::span(all), {counts});
        if (team.rank() == 0) {
            std::printf("%zu primes, the last is %d; rank 3 found %zu of them\n", all.size(),
                        all.back(), counts[3]);
        }
    });
}
