// SPDX-License-Identifier: Apache-2.0
// How the ranks agree on the lane of a persistent collective without waiting for each other.
#include "team/team_shared.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>

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

struct Found {
    Entry* entry = nullptr; ///< Null: there is none among all blocks.
    team::LaneId lane = 0;
    team::LaneId blocks = 0; ///< That have been looked at.
};

/// With the lock held. `number` 0: a free one.
Found find_entry(const Arena& arena, std::uint64_t number) noexcept {
    Found found;
    while (team::OwnLanes* const block = block_if_made(arena, found.blocks)) {
        auto* const entry = std::ranges::find(block->entry, number, &Entry::number);
        if (entry != std::end(block->entry)) {
            found.lane = team::first_own_lane + found.blocks * block_lanes +
                         static_cast<team::LaneId>(entry - std::begin(block->entry));
            found.entry = entry;
            return found;
        }
        ++found.blocks;
    }
    return found;
}

} // namespace

team::LaneId TeamShared::take_own_lane(std::uint64_t number) {
    const Arena& arena = fabric.arena();
    for (;;) {
        team::LaneId blocks = 0;
        {
            const std::lock_guard lock(*memory);
            Found found = find_entry(arena, number); // Another rank may have been here first.
            if (found.entry == nullptr) {
                found = find_entry(arena, 0);
            }
            if (found.entry != nullptr) {
                found.entry->number = number;
                return found.lane;
            }
            blocks = found.blocks;
        }
        if (blocks * block_lanes == team::own_lanes_max) {
            throw Error(Errc::unsupported, "a team can have " +
                                               std::to_string(team::own_lanes_max) +
                                               " persistent collectives at a time; let go of some");
        }
        fabric.arena().find_or_make<team::OwnLanes>(key_of(blocks));
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
