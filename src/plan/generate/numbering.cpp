// SPDX-License-Identifier: Apache-2.0
#include "plan/generate/numbering.hpp"

#include "base/random.hpp"
#include "plan/search/levels.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace corymb {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// coordinates[level][rank]: place of the rank's group within the group above it; the last level is
/// the rank within its finest group.
std::vector<std::vector<std::int32_t>> level_coordinates(const GenerateInput& input) {
    constexpr std::size_t levels_max = 3; // 4! orders of coordinates are tried
    std::vector<Partition> levels = group_levels(input);
    levels.resize(std::min(levels.size(), levels_max));
    Partition ranks(at(input.costs.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    levels.push_back(ranks);
    std::vector<std::vector<std::int32_t>> coordinates;
    Partition above(ranks.size(), 0);
    for (const Partition& level : levels) {
        std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> place;
        std::map<std::int32_t, std::int32_t> next;
        std::vector<std::int32_t> coordinate;
        for (std::size_t rank = 0; rank < level.size(); ++rank) {
            const auto [entry, is_new] = place.try_emplace({above[rank], level[rank]}, 0);
            if (is_new) {
                entry->second = next[above[rank]]++;
            }
            coordinate.push_back(entry->second);
        }
        coordinates.push_back(std::move(coordinate));
        above = level;
    }
    return coordinates;
}

} // namespace

std::vector<Numbering> level_numberings(const GenerateInput& input) {
    const std::vector<std::vector<std::int32_t>> coordinates = level_coordinates(input);
    Numbering identity(at(input.costs.size()));
    std::iota(identity.begin(), identity.end(), 0);
    std::vector<Numbering> result{identity};
    std::vector<std::size_t> order(coordinates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
        Numbering numbering = identity;
        std::ranges::stable_sort(numbering, [&](Rank a, Rank b) {
            for (const std::size_t level : order) {
                const std::int32_t left = coordinates[level][at(a)];
                const std::int32_t right = coordinates[level][at(b)];
                if (left != right) {
                    return left < right;
                }
            }
            return false;
        });
        result.push_back(std::move(numbering));
    } while (std::ranges::next_permutation(order).found);
    return result;
}

Numbering best_numbering(const GenerateInput& input, std::uint64_t trials,
                         const std::function<double(const Numbering&)>& cost) {
    Numbering best;
    double best_cost = std::numeric_limits<double>::infinity();
    for (Numbering& candidate : level_numberings(input)) {
        const double candidate_cost = cost(candidate);
        if (candidate_cost < best_cost) {
            best = std::move(candidate);
            best_cost = candidate_cost;
        }
    }
    Random random(input.seed);
    const auto size = static_cast<std::uint32_t>(best.size());
    for (std::uint64_t trial = 0; size > 2 && trial < trials; ++trial) {
        const std::uint32_t a = random.below(size);
        const std::uint32_t b = random.below(size);
        std::swap(best[a], best[b]);
        const double changed_cost = cost(best);
        if (changed_cost > best_cost) {
            std::swap(best[a], best[b]);
        } else {
            best_cost = changed_cost;
        }
    }
    return best;
}

} // namespace corymb
