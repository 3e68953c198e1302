// SPDX-License-Identifier: Apache-2.0
// How the ranks agree on the lane of a persistent collective without waiting for each other.
#include "team/team_shared.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>

namespace corymb::detail {

namespace {

using Entry = team::OwnLanes::Entry;
constexpr team::LaneId block_lanes = std::size(team::OwnLanes{}.entry);

constexpr ArenaKey key_of(team::LaneId block) noexcept {
    return {static_cast<std::uint32_t>(team::Kind::own_lanes), block};
}

/// Null: not made. With the lock held.
team::OwnLanes* block_if_made(const Arena& arena, team::LaneId block) noexcept {
    std::byte* const place = arena.find(key_of(block));
    return place == nullptr ? nullptr : std::launder(reinterpret_cast<team::OwnLanes*>(place));
}

} // namespace

/// With the lock held. `number` 0: a free one; null: there is none among the blocks that are known.
/// Numbers come one after the other, and mostly lie so.
std::optional<team::LaneId> TeamShared::find_own_lane(std::uint64_t number) noexcept {
    const std::size_t all = own_blocks_.size() * block_lanes;
    for (std::size_t looks = 0; looks < all; ++looks) {
        next_own_ = next_own_ < all ? next_own_ : 0;
        const std::size_t place = next_own_++;
        if (own_blocks_[place / block_lanes]->entry[place % block_lanes].number == number) {
            return static_cast<team::LaneId>(place);
        }
    }
    return std::nullopt;
}

std::optional<team::LaneId> TeamShared::take_own_lane(std::uint64_t number) {
    const Arena& arena = fabric.arena();
    for (;;) {
        std::size_t blocks = 0;
        {
            const std::lock_guard lock(*memory);
            while (auto* const block =
                       block_if_made(arena, static_cast<team::LaneId>(own_blocks_.size()))) {
                own_blocks_.push_back(block);
            }
            std::optional<team::LaneId> own;
            if (number <= record.own_numbers) { // Another rank has been here first.
                own = find_own_lane(number);
            }
            if (!own) {
                own = find_own_lane(0);
            }
            if (own) {
                own_blocks_[*own / block_lanes]->entry[*own % block_lanes].number = number;
                record.own_numbers = std::max(record.own_numbers, number);
                return team::first_own_lane + *own;
            }
            blocks = own_blocks_.size();
        }
        if (blocks * block_lanes >= team::own_lanes_max) {
            return std::nullopt;
        }
        fabric.arena().find_or_make<team::OwnLanes>(key_of(static_cast<team::LaneId>(blocks)));
    }
}

void require_own_lanes(std::ptrdiff_t held) {
    if (held >= static_cast<std::ptrdiff_t>(team::own_lanes_max)) {
        throw Error(Errc::unsupported, "a team can have " + std::to_string(team::own_lanes_max) +
                                           " persistent collectives at a time; let go of some");
    }
}

void TeamShared::give_back_own_lane(team::LaneId id) noexcept {
    const team::LaneId own = id - team::first_own_lane;
    change_if_possible(*memory, [&] {
        Entry& entry = block_if_made(fabric.arena(), own / block_lanes)->entry[own % block_lanes];
        if (++entry.returned == static_cast<std::uint32_t>(fabric.size())) {
            entry = {};
        }
    });
}

team::LaneId TeamShared::own_lanes_known() noexcept {
    team::LaneId blocks = 0;
    while (block_if_made(fabric.arena(), blocks) != nullptr) {
        ++blocks;
    }
    return blocks * block_lanes;
}

} // namespace corymb::detail
