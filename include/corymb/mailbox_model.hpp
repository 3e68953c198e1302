// SPDX-License-Identifier: Apache-2.0
// Costs of messages between mailboxes on a machine model, and the best protocol there.
// docs/reference/messages.md has the rules and the accuracy of the predictions.
#pragma once

#include <corymb/export.hpp>
#include <corymb/machine.hpp>
#include <corymb/mailbox.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace corymb {

/// How the senders of one synchronised ring take their tickets on a machine without coherent
/// caches. Not known of the machine for which the protocol was made.
enum class TicketCounter : std::uint8_t {
    own,    ///< A counter at each receiver that takes one access.
    locked, ///< A lock and a counter at each receiver: two reads, two writes.
    common, ///< The counters of all receivers are in one place, which serves one access at a time.
};

/// The scenario of a simulation.
struct MailboxScenario {
    MailboxProtocol protocol = MailboxProtocol::ring; ///< Invariant: not `automatic`.
    std::size_t message_bytes = 8;
    /// Members beside the simulated ones that are looked at, too, and send nothing.
    int silent_members = 0;
    /// A look of the receiver's loop, code included, in the model's unit; NaN: the model's value;
    /// 0: the access alone.
    double look = std::numeric_limits<double>::quiet_NaN();
    TicketCounter tickets = TicketCounter::own;
    /// Round trips to be simulated, spread over the members; the collectives are repeated less.
    int rounds = 2048;
    std::uint64_t seed = 1; ///< Seed of the instants at which senders begin.
};

/// Times in the model's unit.
struct MailboxTimes {
    double round_trip = 0; ///< Rank 0 to another and back: mean over the others and instants.
    double nearest = 0;    ///< The round trip to the members of the cheapest class alone.
    double farthest = 0;   ///< The round trip to the members of the dearest class alone.
    /// Share of the round trip that is not writing and reading the message itself: telling the
    /// receiver, and the receiver's looking.
    double notification = 0;
    double idle_probe = 0; ///< A look at all members while nothing comes.
    double gather = 0;     ///< All others send to rank 0 at once: until it has read all.
    /// Up a binary tree of the ranks and down again: until all have been told.
    double collective = 0;
    std::string simulated_on; ///< Name of the model; print it beside the times.
};

/// Replays mailboxes of ranks that are on the PU indexes of `placement`, access by access. All of
/// them look for messages all the time; there is room for every message. Deterministic.
///
/// If the model has `Machine::access`, it gives the costs, and the protocols are those of Rotta,
/// Prescher, Traue and Nolte (2012), with `ring` a line for each peer. Otherwise caches are
/// coherent, and the protocols are those of `Mailbox`. A write to a line that another core reads
/// then costs the model's send cost. A read of a changed line, or a read-modify-write of one that
/// another core has changed, costs the receive cost. A look at an unchanged line costs next to
/// nothing.
///
/// O(looks log(ranks)) time. Throws Errc::invalid_argument: fewer than 2 ranks, one twice or out of
/// range, a scenario out of its ranges.
CORYMB_EXPORT MailboxTimes simulate_mailbox(const Machine& machine, std::span<const int> placement,
                                            const MailboxScenario& scenario);

/// The round trip of `simulate_mailbox` alone.
CORYMB_EXPORT double simulate_round_trip(const Machine& machine, std::span<const int> placement,
                                         const MailboxScenario& scenario);

/// The model's choice of a protocol.
struct MailboxChoice {
    MailboxProtocol protocol = MailboxProtocol::ring; ///< `ring`, `nvp` or `srbp`.
    std::string reason; ///< The predicted times and the model's name, for people.
};

/// Simulates round trips in a group of `size` whose members have all sent before, and takes the
/// fastest protocol; among protocols within 5 % the first of ring, nvp, srbp. `srbp` is not taken
/// where a sender may be held up between its ticket and its message, which holds up all:
/// `with_srbp` is false, or there are more members than PUs. Deterministic; some milliseconds.
/// Throws as `simulate_mailbox`.
CORYMB_EXPORT MailboxChoice choose_mailbox(const Machine& machine, int size, bool with_srbp = true);

} // namespace corymb
