// SPDX-License-Identifier: Apache-2.0
// Costs of an acknowledged multicast on a machine model, and the best topology there.
#pragma once

#include <corymb/export.hpp>
#include <corymb/machine.hpp>
#include <corymb/multicast.hpp>
#include <corymb/plan.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace corymb {

/// A call to be simulated. Times are in the model's unit.
struct MulticastCall {
    std::vector<Rank> members; ///< In any order, without the initiator; they all wait for calls.
    Rank initiator = 0;
    double run = 0; ///< Time in which a member runs the call.
    /// Time to test a rank on the way that is no member; only without skipping.
    double test = 0;
};

struct MulticastTimes {
    double latency = 0;       ///< From the call until the initiator knows that all have run it.
    double last_run = 0;      ///< Until the last member has run it.
    std::uint64_t told = 0;   ///< Messages that tell a member; nobody else gets one.
    std::uint64_t tested = 0; ///< Ranks on the way that were no members.
    std::string simulated_on; ///< Name of the model; print it beside the times.
};

/// Replays one call in a group whose rank r is on PU index placement[r]: whom each member tells is
/// decided by the code that decides it in a group.
///
/// Rules: telling a member keeps the teller busy for the model's send cost, as the k-th of a row
/// (docs/explain/model.md); it reaches the member then, which is busy for its receive cost, tells
/// its part, runs, and answers. A subtraction from a counter takes the line from who had it last,
/// for its receive cost, one after the other; an answer as a message costs a send and a receive. At
/// last the initiator takes the line, or the message. Members that have nothing to do poll.
/// A counter of a gather tree was last in the hands of another that answers there.
/// MulticastTopology::best is simulated as `split`, MulticastAcknowledgement::best as `counters`,
/// `gather` without a plan up the tree of `plan_gather`.
/// O(members log(members)) time. Throws Errc::invalid_argument: options, ranks or placement that do
/// not fit.
CORYMB_EXPORT MulticastTimes simulate_multicast(const Machine& machine,
                                                std::span<const int> placement,
                                                const MulticastOptions& options,
                                                const MulticastCall& call);

/// The model's choice of topology and acknowledgement.
struct MulticastChoice {
    int flat_up_to = 0; ///< The initiator tells that many members itself.
    int fan_out = 2;    ///< More are cut into so many parts.
    MulticastAcknowledgement acknowledgement =
        MulticastAcknowledgement::counters; ///< Invariant: not `best`.
    std::optional<Plan> gather; ///< For MulticastAcknowledgement::gather, the planned reduce.
    std::string reason;         ///< All that and the model's name, for people.
};

/// The reduce up whose tree acknowledgements go with MulticastAcknowledgement::gather where no plan
/// is given: searched on the model, towards rank 0. Deterministic. Throws as `simulate_multicast`.
CORYMB_EXPORT Plan plan_gather(const Machine& machine, std::span<const int> placement);

/// Simulates groups of several sizes, with members spread over the ranks, and takes the fan-out
/// that is best over the sizes that are too large for the initiator alone; for
/// MulticastAcknowledgement::best the best of all ways over all sizes. Deterministic. Throws as
/// `simulate_multicast`. Some 100 simulations for each way.
CORYMB_EXPORT MulticastChoice
choose_multicast(const Machine& machine, std::span<const int> placement,
                 MulticastAcknowledgement acknowledgement = MulticastAcknowledgement::counters);

} // namespace corymb
