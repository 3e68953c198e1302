// SPDX-License-Identifier: Apache-2.0
// Teams over several nodes: within a node ranks share memory, between nodes the caller carries
// their messages. docs/explain/nodes.md, "Running plans". Part of <corymb.h>.
#pragma once

#include <corymb/c/team.h>
#include <corymb/c/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Brings messages to ranks on other nodes, in order between two ranks on one channel. Channels are
/// 0 for data and 1 for notifications, and 2 k and 2 k + 1 likewise for nonblocking operations, k
/// from 1 to `lanes`, and for persistent ones, k from 10 to 9 + `own_lanes`. Channel 18 is that of
/// notices. Functions return 0, or anything else, which fails the operation and breaks the team.
/// Used by one thread at a time. Begin with corymb_carrier_init.
typedef struct corymb_carrier {
    size_t struct_size;
    void* context;
    /// Begins to send, at most 1 GiB, without waiting for the receiver; `mark`, 0 to 32,767, comes
    /// along.
    int (*send)(void* context, const void* data, size_t bytes, int to, int channel, int mark,
                uint64_t* ticket);
    /// Begins to receive the next message of `from`. If it is longer than `room`, at most `room`
    /// bytes are written, and `test` says more bytes than `room`: the ranks' calls differ.
    int (*receive)(void* context, void* data, size_t room, int from, int channel, uint64_t* ticket);
    /// Looks once, and lets the carrier go on. `*done` 1: the ticket is used up, and for a receive
    /// `*bytes` and `*mark` describe the message.
    int (*test)(void* context, uint64_t ticket, int* done, size_t* bytes, int* mark);
    /// After a failure: the memory of the ticket will be given up. Nothing for one used up.
    void (*abandon)(void* context, uint64_t ticket);
    /// Pairs of channels for nonblocking operations, equal on all ranks; so many can overlap, at
    /// most 8. 0: there can be none.
    int lanes;
    /// Pairs of channels for persistent operations, equal on all ranks: a team can make so many,
    /// and each has one for good. 0: there can be none.
    int own_lanes;
    /// Not 0: there is the channel of notices, equal on all ranks. On it ranks tell each other, in
    /// long waits and after failures only, where they wait and why the team is broken. Its messages
    /// are of at most 3 KiB and go to any rank, also on the same node. A receive from rank -1 takes
    /// the next one of any rank; after `abandon` it no longer writes to its memory. When the team
    /// goes, some may be left that nobody takes; drop them. 0: other nodes learn of a failure when
    /// they miss messages, and of calls that differ when a message comes that does not fit.
    int notices;
} corymb_carrier;

static inline void corymb_carrier_init(corymb_carrier* carrier) CORYMB_NOEXCEPT {
    if (!carrier) {
        return;
    }
    memset(carrier, 0, sizeof *carrier);
    carrier->struct_size = sizeof *carrier;
}

/// Begin with corymb_cluster_options_init.
typedef struct corymb_cluster_options {
    size_t struct_size;
    const int* node_of_rank; ///< The node of each rank, from 0; every node has one.
    int size;                ///< Ranks.
    int rank;                ///< This rank's number in the whole team.
    /// For the choice of plans, equal on all ranks: "2000,400,3,12", the numbers of
    /// corymb-cluster/1. If nodes differ, further classes follow with their nodes:
    /// "2000,400,3,12/20000,2000,1,1@2,5-7". NULL: as `network_key` says.
    const char* network;
    /// Names nodes and transport in one line. The network is that of $CORYMB_NETWORK, or as it was
    /// measured under this key, or measured now, in about half a second. The nodes also tell rank 0
    /// their insides (docs/explain/nodes.md, "The choice"). NULL: a network of no name, and nodes
    /// whose insides are unknown.
    const char* network_key;
    /// Not 0: plans are not timed beside each other (docs/explain/nodes.md, "Rehearsals"). Equal on
    /// all ranks.
    int without_rehearsals;
} corymb_cluster_options;

static inline void corymb_cluster_options_init(corymb_cluster_options* options) CORYMB_NOEXCEPT {
    if (!options) {
        return;
    }
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/// Makes the team of this node's ranks, in increasing order, one over several nodes; the handle and
/// its functions stay. The carrier is copied; its context outlives the team. Messages between two
/// ranks, corymb_team_split, corymb_team_shrink and corymb_plan_json are CORYMB_UNSUPPORTED from
/// then on, and so is an operation for which there is no plan. Nonblocking and persistent ones need
/// a carrier with `lanes` and `own_lanes`; 512 persistent requests can be held at a time. After a
/// failure the team is as it was.
CORYMB_EXPORT corymb_status corymb_team_over_nodes(corymb_team* team, const corymb_carrier* carrier,
                                                   const corymb_cluster_options* options)
    CORYMB_NOEXCEPT;
/// Bytes and messages that this rank has had from other nodes, and how often it waited for some; 0
/// in a team on one node.
CORYMB_EXPORT corymb_status corymb_team_carried(const corymb_team* team, uint64_t* bytes_in,
                                                uint64_t* messages_in,
                                                uint64_t* rounds) CORYMB_NOEXCEPT;
/// The network that plans are chosen for, as in corymb_cluster_options, and rank 0's knowledge of
/// the inside of nodes, for people: "2 nodes as measured, 1 by topology, not measured"; "" on other
/// ranks and in a team on one node. Valid as long as the team.
CORYMB_EXPORT corymb_status corymb_team_network(const corymb_team* team, const char** network,
                                                const char** insides) CORYMB_NOEXCEPT;
/// Whether a team of so many nodes would do without measuring its network: 1 or 0. For the process
/// that is to be its rank 0; reads a file. 1 also where $CORYMB_NETWORK is wrong, which the team
/// would refuse. CORYMB_INVALID_ARGUMENT for NULL.
CORYMB_EXPORT corymb_status corymb_knows_network(const char* network_key, int nodes,
                                                 int* is_known) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif
