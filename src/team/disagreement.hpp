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
/// first in which they differ. None: those that have said something agree. O(ranks), and for each
/// operation that the logs have.
[[nodiscard]] std::optional<team::Failure> disagreement(TeamShared& shared, team::LaneId lane,
                                                        std::uint64_t last);

/// Where a rank has waited for long.
struct LongWait {
    std::uint64_t number = 0; ///< Of the operation on its lane, or of the message.
    Rank peer = -1;           ///< For which it waits; -1: for any.
    std::size_t step = 0;     ///< Of the operation, where the rank may have gone on meanwhile.
    std::size_t offset = 0;   ///< The same within the step.

    bool operator==(const LongWait&) const = default;
};

/// Says what one rank has found in its long waits of one lane or of its messages with one peer, and
/// why they cannot end, if so. Used by that rank's thread.
///
/// A wait cannot end when another rank has called something else as the same operation, or anything
/// else before, or when the awaited rank is done with the operation: it has sent all it ever will.
/// That last proof needs two looks: what was sent just before is seen in between.
class WaitDoubts {
public:
    /// `digest` is that of all calls of the lane up to this one. `looks` grows with each look at
    /// what the wait is for; 0: nobody looks at it.
    [[nodiscard]] std::optional<team::Failure> contradiction(TeamShared& shared, team::LaneId lane,
                                                             Rank own, const LongWait& wait,
                                                             const team::CallDigest& digest,
                                                             std::uint64_t looks);
    /// The same of a message.
    [[nodiscard]] std::optional<team::Failure> contradiction(TeamShared& shared, Rank own,
                                                             bool sends, const LongWait& wait,
                                                             std::uint64_t looks);

private:
    /// Whether it was so before the last look, too.
    [[nodiscard]] bool is_certain(const LongWait& wait, std::uint64_t looks) {
        if (wait != doubted_) {
            doubted_ = wait;
            looks_before_ = looks;
        }
        return looks != looks_before_;
    }
    LongWait doubted_;
    std::uint64_t looks_before_ = 0;
    std::optional<team::Failure> known_; ///< Calls that differ do so for good; a log goes on.
};

/// How the two ends differ in message `number` from or to `peer`, if the logs say so.
[[nodiscard]] std::optional<team::Failure> message_mismatch(TeamShared& shared, Rank own, Rank peer,
                                                            bool sends, std::uint64_t number);

/// A message came that belongs to another call than this rank's, and no log says which: it was a
/// message between two ranks, or the sender is far ahead.
[[nodiscard]] team::Failure foreign_message(TeamShared& shared, Rank rank);
/// The same in operation `number` of a lane, by a message of `peer`; -1: of any rank.
[[nodiscard]] team::Failure foreign_message(TeamShared& shared, team::LaneId lane, Rank own,
                                            Rank peer, std::uint64_t number);

} // namespace corymb::detail
