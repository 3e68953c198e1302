// SPDX-License-Identifier: Apache-2.0
#include "plan/alike_ranks.hpp"

#include "plan/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace corymb::plan {

namespace {

constexpr Rank nobody = -1;

std::size_t at(Rank rank) noexcept {
    return static_cast<std::size_t>(rank);
}

/// Given levels whose groups hold both PUs: as levels are partitions, each within the one before,
/// this says which.
int levels_of_both(const Machine& machine, int from, int to) {
    return static_cast<int>(
        std::ranges::count_if(machine.levels, [from, to](const GivenLevel& level) {
            return level.group[at(from)] == level.group[at(to)];
        }));
}

} // namespace

AlikeRanks::AlikeRanks(const Machine& machine, std::span<const int> placement)
    : size_(placement.size()) {
    if (machine.group.empty() ||
        tuning::alike_ranks_most.decides(size_ > tuning::alike_ranks_most)) {
        return;
    }
    const int levels = static_cast<int>(machine.levels.size()) + 1;
    classes_.reserve(size_ * size_);
    for (const int from : placement) {
        for (const int to : placement) {
            classes_.push_back(from == to ? -1
                                          : machine.class_of(from, to) * levels +
                                                levels_of_both(machine, from, to));
        }
    }
    std::map<std::vector<std::int32_t>, int> numbers;
    for (auto begin = classes_.begin(); begin != classes_.end();) {
        const auto end = begin + static_cast<std::ptrdiff_t>(size_);
        std::vector<std::int32_t> row(begin, end);
        std::ranges::sort(row);
        looks_.push_back(
            numbers.try_emplace(std::move(row), static_cast<int>(numbers.size())).first->second);
        begin = end;
    }
}

/// Whether `candidate` has the classes to all placed ranks that `rank` has.
bool AlikeRanks::fits(const std::vector<Rank>& rank_of, Rank rank, Rank candidate) const {
    if (looks_[at(rank)] != looks_[at(candidate)]) {
        return false;
    }
    for (Rank other = 0; at(other) < size_; ++other) {
        const Rank placed = rank_of[at(other)];
        if (placed != nobody && (class_of(rank, other) != class_of(candidate, placed) ||
                                 class_of(other, rank) != class_of(placed, candidate))) {
            return false;
        }
    }
    return true;
}

/// Each rank in turn takes the first place that fits; nothing is taken back.
std::optional<std::vector<Rank>> AlikeRanks::renumbering(Rank from, Rank to) const {
    std::vector<Rank> rank_of(size_, nobody);
    std::vector<bool> taken(size_, false);
    rank_of[at(from)] = to;
    taken[at(to)] = true;
    for (Rank rank = 0; at(rank) < size_; ++rank) {
        if (rank == from) {
            continue;
        }
        Rank candidate = 0;
        while (at(candidate) < size_ && (taken[at(candidate)] || !fits(rank_of, rank, candidate))) {
            ++candidate;
        }
        if (at(candidate) == size_) {
            return std::nullopt;
        }
        rank_of[at(rank)] = candidate;
        taken[at(candidate)] = true;
    }
    return rank_of;
}

std::optional<Likeness> AlikeRanks::of(Rank rank) const {
    if (classes_.empty() || rank < 0 || at(rank) >= size_) {
        return std::nullopt;
    }
    for (Rank like = 0; like < rank; ++like) {
        if (looks_[at(like)] != looks_[at(rank)]) {
            continue;
        }
        if (auto rank_of = renumbering(like, rank)) {
            return Likeness{like, *std::move(rank_of)};
        }
    }
    return std::nullopt;
}

} // namespace corymb::plan
