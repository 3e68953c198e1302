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

inline constexpr char all_call_the_same[] =
    "all ranks call the same operations in the same order, with the same root, size and type";

/// Compares the ranks' records of the last operations of a lane, up to number `last`; names the
/// first in which they differ. None: all present records agree. O(ranks), and for each operation
/// that the logs have.
[[nodiscard]] std::optional<team::Failure> disagreement(TeamShared& shared, team::LaneId lane,
                                                        std::uint64_t last);

/// The place where a rank has waited for long.
struct LongWait {
    std::uint64_t number = 0; ///< Number of the operation on its lane, or of the message.
    Rank peer = -1;           ///< The rank that is awaited; -1: any.
    std::size_t step = 0;     ///< The step of the operation. The rank may go on with it meanwhile.
    std::size_t offset = 0;   ///< Bytes of that step that are done.

    bool operator==(const LongWait&) const = default;
};

/// Checks the long waits of one rank on one lane, or for its messages with one peer, and says why a
/// wait cannot end. Used by that rank's thread.
///
/// A wait cannot end in two cases:
/// - Another rank has called something else as the same operation, or something else before.
/// - The awaited rank is done with the operation: it sends nothing more.
/// The second proof needs two looks, because a message sent just before is seen between them.
class WaitDoubts {
public:
    /// `digest` covers all calls of the lane up to this one. `looks` grows with each look at the
    /// awaited word; 0: no look is made.
    [[nodiscard]] std::optional<team::Failure> contradiction(TeamShared& shared, team::LaneId lane,
                                                             Rank own, const LongWait& wait,
                                                             const team::CallDigest& digest,
                                                             std::uint64_t looks);
    /// As the other overload, for a message to (`sends`) or from `wait.peer`.
    [[nodiscard]] std::optional<team::Failure> contradiction(TeamShared& shared, Rank own,
                                                             bool sends, const LongWait& wait,
                                                             std::uint64_t looks);

private:
    /// Whether the same wait was doubted before, and the awaited word was looked at since.
    [[nodiscard]] bool is_certain(const LongWait& wait, std::uint64_t looks) {
        if (wait != doubted_) {
            doubted_ = wait;
            looks_before_ = looks;
        }
        return looks != looks_before_;
    }
    LongWait doubted_;
    std::uint64_t looks_before_ = 0;
    /// Invariant: calls that differ do so for good. It is kept because a log goes on.
    std::optional<team::Failure> known_;
};

/// How the two ends differ in message `number` from or to `peer`, if the logs say so.
[[nodiscard]] std::optional<team::Failure> message_mismatch(TeamShared& shared, Rank own, Rank peer,
                                                            bool sends, std::uint64_t number);

/// A message came that belongs to another call than this rank's, and no log says which: it was a
/// message between two ranks, or the sender is far ahead.
[[nodiscard]] team::Failure foreign_message(TeamShared& shared, Rank rank);
/// The failure of operation `number` of a lane, by a message of `peer`; -1: of any rank.
[[nodiscard]] team::Failure foreign_message(TeamShared& shared, team::LaneId lane, Rank own,
                                            Rank peer, std::uint64_t number);

} // namespace corymb::detail
