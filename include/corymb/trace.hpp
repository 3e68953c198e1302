// SPDX-License-Identifier: Apache-2.0
// The state of the groups of running processes, seen from another process: `corymb trace`.
#pragma once

#include <corymb/error.hpp>
#include <corymb/export.hpp>
#include <corymb/multicast.hpp>
#include <corymb/rank.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace corymb {

/// A rank of a multicast group or of mailboxes, or a reader or the publisher of a broadcast ring.
struct TracedMember {
    Rank rank = -1; ///< For a reader its number; -1: the publisher.
    int pid = 0;    ///< 0: nobody has the rank.
    /// multicast: "polling" (or at work), "sleeping", "quiescent" (no member, or not for now);
    /// mailboxes: "open", "sleeping", "closed", "ended" (its process has, with the mailbox open);
    /// broadcast: "block", "drop", "overrun", the reader's policy, or "dropped"; its publisher:
    /// "publishing", "sleeping", "closed".
    std::string state;
    std::string process; ///< "running", "stopped", "ended" or "gone"; empty without a process.
    /// Messages: the last one that a reader has told to have read, the number that a mailbox has
    /// told to have taken, or the number published. Multicast: 0.
    std::uint64_t sequence = 0;
    /// Messages that are there and not told to be taken; calls under way that it has not run.
    std::uint64_t behind = 0;
};

/// A group whose memory several processes share.
struct TracedGroup {
    std::string kind;     ///< "multicast", "broadcast", "mailboxes", "team" or "unknown".
    std::uint64_t id = 0; ///< Number of its memory, equal in all processes.
    std::string about;    ///< Topology, policy, protocol; for people.
    int size = 0;         ///< Ranks, or readers at most.
    /// Multicast: calls that have begun; broadcast: messages published; mailboxes: taken.
    std::uint64_t sequence = 0;
    std::vector<TracedMember> members; ///< Present members, in the order of ranks.
    std::vector<MulticastUnderWay> calls;
};

/// The groups that a process takes part in, or has made. They are read as they stand, through
/// memory that is mapped without the right to write: nobody waits, nothing is locked, nobody can
/// notice. So numbers are of slightly different moments. Throws Error: invalid_argument (no such
/// process), unsupported (another user's, or one that may not be looked at), io.
CORYMB_EXPORT std::vector<TracedGroup> trace_process(int pid);

} // namespace corymb
