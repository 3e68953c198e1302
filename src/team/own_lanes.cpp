// SPDX-License-Identifier: Apache-2.0
// How the ranks agree on the lane of a persistent collective without waiting for each other.
#include "team/team_shared.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>

namespace corymb::detail {

namespace {

team::OwnLanes& own_lanes(team::Fabric<team::Env>& fabric) {
    return fabric.arena().find_or_make<team::OwnLanes>(
        {static_cast<std::uint32_t>(team::Kind::own_lanes)});
}

} // namespace

team::LaneId TeamShared::take_own_lane(std::uint64_t number) {
    auto& entries = own_lanes(fabric).entry;
    const std::lock_guard lock(*memory);
    const auto of = [&](std::uint64_t wanted) {
        return std::find_if(std::begin(entries), std::end(entries),
                            [wanted](const auto& entry) { return entry.number == wanted; });
    };
    auto found = of(number); // Another rank may have been here first.
    if (found == std::end(entries)) {
        found = of(0);
    }
    if (found == std::end(entries)) {
        throw Error(Errc::unsupported, "a team can have " + std::to_string(team::own_lanes_max) +
                                           " persistent collectives at a time; let go of some");
    }
    found->number = number;
    return team::first_own_lane + static_cast<team::LaneId>(found - std::begin(entries));
}

void TeamShared::give_back_own_lane(team::LaneId id) noexcept {
    auto& entry = own_lanes(fabric).entry[id - team::first_own_lane];
    change_if_possible(*memory, [&] {
        if (++entry.returned == static_cast<std::uint32_t>(fabric.size())) {
            entry = {};
        }
    });
}

} // namespace corymb::detail
