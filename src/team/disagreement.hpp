// SPDX-License-Identifier: Apache-2.0
// Whether ranks have called different operations where all must call the same, and how they differ.
#pragma once

#include "team/team_shared.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace corymb::detail {

/// A call as messages name it: "allreduce of 400 bytes of float64 with sum".
[[nodiscard]] std::string describe(const team::CallTerms& terms);

/// Compares what the ranks say about the last operations of a lane, up to number `last`; names the
/// first in which they differ. None: those that have said something agree. O(ranks).
[[nodiscard]] std::optional<team::Failure> disagreement(TeamShared& shared, team::LaneId lane,
                                                        std::uint64_t last);

/// A message came that belongs to another call than this rank's, and no log says which: it was a
/// message between two ranks, or the sender is far ahead.
[[nodiscard]] team::Failure foreign_message(TeamShared& shared, Rank rank);

} // namespace corymb::detail
