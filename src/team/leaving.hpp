// SPDX-License-Identifier: Apache-2.0
// A rank gives up its handle: the others are told, and the calls of all ranks are compared.
#pragma once

#include "team/team_shared.hpp"

#include <cstdint>
#include <optional>

namespace corymb::team {

/// All collectives that a rank has called on a team, on all lanes.
struct CallsInAll {
    std::uint64_t count = 0;
    CallDigest digest;

    /// A lane other than the first, on which there have been calls.
    void add(LaneId lane, std::uint64_t calls, const CallDigest& of_lane) noexcept {
        count += calls;
        digest.add({lane, of_lane.value()});
    }
};

} // namespace corymb::team

namespace corymb::detail {

/// Records that the rank has given up its handle and had all these calls; none: it leaves with an
/// exception. Breaks the team if another rank waits for this one. Breaks it also if a rank that has
/// left before had other calls, unless one of the two left with an exception. Messages between two
/// ranks are not compared. Messages that the rank has sent, such as why it leaves, still arrive. A
/// team that is broken already stays as it is.
void leave(TeamShared& shared, Rank rank, const std::optional<team::CallsInAll>& calls);

} // namespace corymb::detail
