// SPDX-License-Identifier: Apache-2.0
// Teams whose ranks are on several nodes: within a node they share memory, between nodes a carrier
// transports their messages. docs/explain/nodes.md, "Running plans".
#pragma once

#include <corymb/cluster.hpp>
#include <corymb/export.hpp>
#include <corymb/team.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace corymb {

/// Brings messages to ranks on other nodes, such as the point-to-point part of an MPI. Messages
/// between two ranks on one channel arrive in the order in which they were sent. Used by one rank,
/// by one thread at a time. Functions may throw Error, which breaks the team.
class CORYMB_EXPORT Carrier {
public:
    /// Messages with data and notifications do not overtake each other within their channel only.
    /// Other operations than blocking ones have further pairs of channels: 2 k + data and
    /// 2 k + notifications, nonblocking ones with k from 1 to lanes(), persistent ones with k from
    /// 10 to 9 + own_lanes(). Notices have a channel for themselves: see has_notices().
    enum class Channel : std::uint32_t { data, notifications, notices = 18 };
    /// The longest message on the channel `notices`.
    static constexpr std::size_t notice_bytes_most = 3072;
    using Ticket = std::uint64_t;
    /// The message of a receive.
    struct Arrival {
        std::size_t bytes = 0;
        int mark = 0;
    };

    Carrier() = default;
    Carrier(const Carrier&) = delete;
    Carrier& operator=(const Carrier&) = delete;
    virtual ~Carrier();

    /// Pairs of channels for nonblocking operations, which need one each; so many operations can
    /// overlap, at most 8. Equal on all ranks, always. 0 if not overridden.
    [[nodiscard]] virtual int lanes() const noexcept;
    /// Pairs of channels for persistent operations. Each operation that is made takes a pair for as
    /// long as the team lives, even if it goes: channels are cheap where they are numbers. Equal on
    /// all ranks, always. 0 if not overridden.
    [[nodiscard]] virtual int own_lanes() const noexcept;
    /// Whether there is the channel `notices`. On it ranks tell each other, in long waits and after
    /// failures only, where they wait and why the team is broken. Its messages have at most
    /// `notice_bytes_most` bytes and go to any rank, also on the same node; a receive from
    /// `any_rank` takes the next one of any rank, and after `abandon` it no longer writes to its
    /// memory. When the team goes, some may be left that nobody takes; drop them. Equal on all
    /// ranks, always.
    /// False if not overridden: other nodes then learn of a failure when they miss messages, and of
    /// calls that differ when a message comes that does not fit.
    [[nodiscard]] virtual bool has_notices() const noexcept;
    /// The `from` of a receive on the channel `notices`.
    static constexpr Rank any_rank = -1;
    /// Begins to send, at most 1 GiB; never waits for the receiver. `data` must stay until `test`
    /// says so. `mark`, from 0 to 32,767, comes along.
    virtual Ticket send(const void* data, std::size_t bytes, Rank to, Channel channel,
                        int mark) = 0;
    /// Begins to receive the next message of `from`. If it is longer than `room`, at most `room`
    /// bytes are written and `Arrival::bytes` is more than `room`, which is a call that differs.
    virtual Ticket receive(void* data, std::size_t room, Rank from, Channel channel) = 0;
    /// Looks once, and lets the carrier go on. True: it is done, the ticket is used up, and
    /// `arrival` of a receive is filled in.
    virtual bool test(Ticket ticket, Arrival& arrival) = 0;
    /// After a failure: gives the ticket up before its memory goes. Does nothing for a ticket that
    /// is used up; a ticket whose `test` has thrown is used up.
    virtual void abandon(Ticket ticket) noexcept = 0;

    /// A descriptor that is readable while `test` may find something new. A rank that has nothing
    /// to do sleeps on it. -1 if not overridden: the carrier wakes nobody.
    [[nodiscard]] virtual int wait_descriptor() const noexcept;
    /// Why this rank can exchange no more messages with `rank`, such as the end of its process; the
    /// text stays as long as the carrier. From then on notices to it are dropped, and its other
    /// messages throw Errc::team_broken. Null: it can. Null if not overridden: such a carrier fails
    /// as a whole or not at all.
    [[nodiscard]] virtual const std::string* loss_of(Rank rank) noexcept;
};

/// Measures the cost of messages between nodes. All nodes meet some others for a short while, to
/// find classes that differ by half or more; then each class is measured between two nodes. Takes
/// about 1.5 `budget` if the network is not slow, whatever the number of nodes. Collective over all
/// ranks, which get equal results. Throws Errc::invalid_argument for a single node or places that
/// are no ClusterOptions, Errc::timeout when a message takes longer than `deadline`; the
/// carrier then has none of the measurement's memory any more.
CORYMB_EXPORT Networks
measure_networks(Carrier& carrier, const std::vector<int>& node_of_rank, Rank rank,
                 std::chrono::nanoseconds budget = std::chrono::seconds(1),
                 std::chrono::nanoseconds deadline = std::chrono::seconds(60));
/// The network for a team, found by rank 0: the one of $CORYMB_NETWORK (`networks_from`), or the
/// one in this user's cache (beside the machine's model) under `key`, a line that names nodes and
/// transport. If there is none, it is measured, once in a process, and kept there. With
/// CORYMB_NETWORK=measure the cache is not asked. Collective. Throws as `measure_networks`, and
/// Errc::invalid_argument for a variable with another value.
CORYMB_EXPORT Networks known_networks(Carrier& carrier, const std::vector<int>& node_of_rank,
                                      Rank rank, const std::string& key,
                                      std::chrono::nanoseconds budget = std::chrono::seconds(1),
                                      std::chrono::nanoseconds deadline = std::chrono::seconds(60));
/// Whether `known_networks` for so many nodes would do without a measurement, or refuse
/// $CORYMB_NETWORK; for the process that is to be rank 0. Reads a file.
[[nodiscard]] CORYMB_EXPORT bool knows_network(const std::string& key, int nodes);

/// The insides of the nodes, for the default choice of plans.
struct Insides {
    std::vector<NodeKind> kinds; ///< Each machine has a PU for each rank of the node, in order.
    std::vector<int> of_node;    ///< Index in `kinds`; -1: nothing is known of the node.
};

/// Each node's part of the model by which teams on its machine plan, measured where one is cached,
/// with the CPUs of its ranks. `local` is the team of the ranks on this node. The result is on rank
/// 0 of all nodes; elsewhere it is empty. If nodes are alike (one processor, ranks in equal places
/// on it), the first one's costs stand for all. A node is left unknown if it has one rank, if its
/// ranks share CPUs, or if its topology cannot be found out. Collective. Throws Errc::timeout.
CORYMB_EXPORT Insides known_insides(const Team& local, Carrier& carrier,
                                    const std::vector<int>& node_of_rank, Rank rank,
                                    std::chrono::nanoseconds deadline = std::chrono::seconds(60));

/// "2 nodes as measured, 1 by topology, not measured, 3 of which nothing is known"; or
/// "".
[[nodiscard]] CORYMB_EXPORT std::string to_text(const Insides& insides);

struct ClusterOptions {
    /// The node of each rank, counted from 0; every node has a rank.
    std::vector<int> node_of_rank;
    Rank rank = 0; ///< This rank's number in the whole team.
    /// For the default choice of plans; equal on all ranks.
    Networks networks{{{20'000, 2'000, 1, 1}}, {}};
    /// Asked on rank 0 only: `known_insides`. Empty, or where nothing is known: ranks are thought
    /// to be 100 ns from each other, with copies of 10 GB/s.
    Insides insides{};
    /// Asked on rank 0 only, which hands its plans to the others. Empty: make_plan on
    /// `networks`.
    PlanSource plans;
    /// The best few plans of a blocking operation that is called again and again are timed beside
    /// each other, on data of the team's own; the fastest is kept (docs/explain/nodes.md,
    /// "Rehearsals"). Equal on all ranks.
    bool rehearse = true;
};

/// This rank's exchange with other nodes, in all operations so far. Plans that ranks hand to each
/// other and rehearsals are not counted.
struct Carried {
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t messages_in = 0; ///< Notifications, too.
    std::uint64_t messages_out = 0;
    std::uint64_t rounds = 0; ///< How often it has waited for messages after sending or working.

    bool operator==(const Carried&) const = default;
};

/// Makes the team of the ranks on this node, in increasing order, this rank's handle on a team over
/// several nodes: the local team goes into it. `carrier` outlives the team. As in every team, all
/// ranks call the same operations in the same order. A failed operation breaks the team on all
/// nodes, if the carrier has notices; otherwise other nodes notice when they miss messages. With
/// notices `Team::leave` waits for the other ranks to leave, for at most a second, and compares the
/// calls of all; a destructor compares none between nodes.
///
/// All operations are there but these, which are refused with Errc::unsupported: messages between
/// two ranks, `split`, `shrink` and `plan` (`chosen_plan` names the plan). An operation is also
/// refused where there is no plan for several nodes: a source of the caller's own has none, or no
/// scheme serves so many ranks. A request then reports it. Nonblocking operations need a carrier
/// with `lanes`, persistent ones with `own_lanes`; of these there are up to 512 at a time.
///
/// Throws Errc::invalid_argument where local team, carrier and options do not fit, and
/// Errc::unsupported for a reproducible team; `local` is unchanged then.
[[nodiscard]] CORYMB_EXPORT Team over_nodes(Team&& local, Carrier& carrier,
                                            const ClusterOptions& options);

/// What the rank has had from other nodes; nothing in a team on one node. Throws
/// Errc::invalid_argument for an empty handle.
[[nodiscard]] CORYMB_EXPORT Carried carried(const Team& team);

} // namespace corymb
