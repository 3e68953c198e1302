// SPDX-License-Identifier: Apache-2.0
// How the ranks agree on the lane of a persistent collective without waiting for each other.
#include "team/team_shared.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

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

/// With the lock held: the lane of this number (0: a free lane), looking from `first` on. None: no
/// known block has one.
std::optional<team::LaneId> TeamShared::find_own_lane(std::uint64_t number,
                                                      std::size_t first) noexcept {
    const std::size_t all = own_blocks_.size() * block_lanes;
    for (std::size_t looks = 0; looks < all; ++looks) {
        const std::size_t place = (first + looks) % all;
        if (own_blocks_[place / block_lanes]->entry[place % block_lanes].number == number) {
            return static_cast<team::LaneId>(place);
        }
    }
    return std::nullopt;
}

/// Takes a free lane of a low number. A caller that makes and lets go again and again gets the same
/// few lanes, whose memory is still in its caches.
std::optional<team::LaneId> TeamShared::take_own_lane(std::uint64_t number) {
    const Arena& arena = fabric.arena();
    auto& greatest = record.own_numbers[number >> 63U];
    for (;;) {
        std::size_t blocks = 0;
        {
            const std::lock_guard lock(*memory);
            while (auto* const block =
                       block_if_made(arena, static_cast<team::LaneId>(own_blocks_.size()))) {
                own_blocks_.push_back(block);
            }
            blocks = own_blocks_.size();
            // Another rank may have taken the lane for this collective already.
            if (number <= greatest) {
                if (const auto own = find_own_lane(number, last_own_)) {
                    last_own_ = *own;
                    return team::first_own_lane + *own;
                }
            }
            if (const auto own = find_own_lane(0, record.own_free)) {
                own_blocks_[*own / block_lanes]->entry[*own % block_lanes].number = number;
                greatest = std::max(greatest, number);
                last_own_ = *own;
                record.own_free = *own + 1;
                return team::first_own_lane + *own;
            }
            record.own_wanted = blocks * block_lanes >= team::own_lanes_max;
            if (record.own_wanted) {
                return std::nullopt;
            }
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
    bool is_awaited = false;
    change_if_possible(*memory, [&] {
        Entry& entry = block_if_made(fabric.arena(), own / block_lanes)->entry[own % block_lanes];
        if (++entry.returned == static_cast<std::uint32_t>(fabric.size())) {
            entry = {};
            record.own_free = std::min<std::size_t>(record.own_free, own);
            is_awaited = std::exchange(record.own_wanted, false);
        }
    });
    for (Rank rank = 0; is_awaited && rank < fabric.size(); ++rank) {
        fabric.state(rank).spot.wake_if_parked();
    }
}

team::LaneId TeamShared::own_lanes_known() noexcept {
    team::LaneId blocks = 0;
    while (block_if_made(fabric.arena(), blocks) != nullptr) {
        ++blocks;
    }
    return blocks * block_lanes;
}

} // namespace corymb::detail
