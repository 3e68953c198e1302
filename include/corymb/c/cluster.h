// SPDX-License-Identifier: Apache-2.0
// Teams over several nodes: within a node ranks share memory, between nodes the caller carries
// their messages. docs/cluster.md, "Running plans". Part of <corymb.h>.
#pragma once

#include <corymb/c/team.h>
#include <corymb/c/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Brings messages to ranks on other nodes, in order between two ranks on one channel. Channels are
/// 0 for data and 1 for notifications, and 2 k and 2 k + 1 likewise for nonblocking operations, k
/// from 1 to `lanes`, and for persistent ones, k from 9 to 8 + `own_lanes`. Functions return 0, or
/// anything else, which fails the operation and breaks the team. Used by one thread at a time.
/// Begin with corymb_carrier_init.
typedef struct corymb_carrier {
    size_t struct_size;
    void* context;
    /// Begins to send, at most 1 GiB, without waiting for the receiver; `mark`, 0 to 32,767, comes
    /// along.
    int (*send)(void* context, const void* data, size_t bytes, int to, int channel, int mark,
                uint64_t* ticket);
    /// Begins to receive the next message of `from`; a longer one than `room` fails `test`.
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
    /// their insides (docs/cluster.md, "The choice"). NULL: a network of no name, and nodes whose
    /// insides are unknown.
    const char* network_key;
    /// Not 0: plans are not timed beside each other (docs/cluster.md, "Rehearsals"). Equal on all
    /// ranks.
    int without_rehearsals;
} corymb_cluster_options;

static inline void corymb_cluster_options_init(corymb_cluster_options* options) CORYMB_NOEXCEPT {
    if (!options) {
        return;
    }
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/// The handle of one rank.
typedef struct corymb_cluster_team corymb_cluster_team;

/// `*local` is the team of this node's ranks, in increasing order; it is taken over and set to
/// NULL, also by a failure. The carrier is copied; its context outlives the team.
CORYMB_EXPORT corymb_status corymb_cluster_team_create(corymb_team** local,
                                                       const corymb_carrier* carrier,
                                                       const corymb_cluster_options* options,
                                                       corymb_cluster_team** team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_cluster_team_free(corymb_cluster_team** team) CORYMB_NOEXCEPT;
/// Runs an operation with parts of equal lengths, arguments as in its own function; arguments that
/// it does not have are ignored (a broadcast has `output` only). CORYMB_UNSUPPORTED where no scheme
/// serves.
CORYMB_EXPORT corymb_status corymb_cluster_run(corymb_collective op, const void* input,
                                               void* output, size_t count, corymb_type type,
                                               corymb_op with, int root,
                                               corymb_cluster_team* team) CORYMB_NOEXCEPT;
/// As corymb_cluster_run, without waiting: the request is completed by corymb_wait, corymb_test and
/// similar functions. All ranks start their nonblocking operations in one order; blocking ones may
/// come in between anywhere. If there is no plan, the request reports it. CORYMB_UNSUPPORTED also
/// for a carrier without `lanes`.
CORYMB_EXPORT corymb_status corymb_cluster_start(corymb_collective op, const void* input,
                                                 void* output, size_t count, corymb_type type,
                                                 corymb_op with, int root,
                                                 corymb_cluster_team* team,
                                                 corymb_request** request) CORYMB_NOEXCEPT;
/// Prepares a persistent operation: the request is started by corymb_start any number of times, and
/// completed each time as above. All ranks make theirs in one order, and start them in any.
/// CORYMB_UNSUPPORTED also when 512 are held or all `own_lanes` of the carrier are used up.
CORYMB_EXPORT corymb_status corymb_cluster_prepare(corymb_collective op, const void* input,
                                                   void* output, size_t count, corymb_type type,
                                                   corymb_op with, int root,
                                                   corymb_cluster_team* team,
                                                   corymb_request** request) CORYMB_NOEXCEPT;
/// Counts and displacements of parts of different lengths, in elements, as in the operation's own
/// function (corymb_gatherv and others). Lists of a buffer that the operation, or this rank, does
/// not have are NULL, as are displacements of parts that lie side by side. Read during the call
/// only.
typedef struct corymb_part_lists {
    const size_t* input_counts;
    const size_t* input_displacements;
    const size_t* output_counts;
    const size_t* output_displacements;
} corymb_part_lists;

/// As corymb_cluster_run, for a gather, scatter, allgather, alltoall or reduce_scatter whose parts
/// differ in length. `count` is the length of the buffer that has but one part.
CORYMB_EXPORT corymb_status corymb_cluster_run_parts(corymb_collective op, const void* input,
                                                     void* output, size_t count,
                                                     corymb_part_lists parts, corymb_type type,
                                                     corymb_op with, int root,
                                                     corymb_cluster_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_cluster_start_parts(corymb_collective op, const void* input,
                                                       void* output, size_t count,
                                                       corymb_part_lists parts, corymb_type type,
                                                       corymb_op with, int root,
                                                       corymb_cluster_team* team,
                                                       corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_cluster_prepare_parts(corymb_collective op, const void* input,
                                                         void* output, size_t count,
                                                         corymb_part_lists parts, corymb_type type,
                                                         corymb_op with, int root,
                                                         corymb_cluster_team* team,
                                                         corymb_request** request) CORYMB_NOEXCEPT;
/// See corymb_progress. On rank 0 it may have to plan.
CORYMB_EXPORT corymb_status corymb_cluster_progress(corymb_cluster_team* team,
                                                    size_t* under_way) CORYMB_NOEXCEPT;
/// Bytes and messages that this rank has had from other nodes, and how often it waited for some.
CORYMB_EXPORT corymb_status corymb_cluster_carried(const corymb_cluster_team* team,
                                                   uint64_t* bytes_in, uint64_t* messages_in,
                                                   uint64_t* rounds) CORYMB_NOEXCEPT;
/// The network that plans are chosen for, as in corymb_cluster_options; valid as long as the team.
CORYMB_EXPORT corymb_status corymb_cluster_network(const corymb_cluster_team* team,
                                                   const char** network) CORYMB_NOEXCEPT;
/// Rank 0's knowledge of the inside of nodes, for people: "2 nodes as measured, 1 by topology, not
/// measured"; "" on other ranks. Valid as long as the team.
CORYMB_EXPORT corymb_status corymb_cluster_insides(const corymb_cluster_team* team,
                                                   const char** insides) CORYMB_NOEXCEPT;
/// Calls `visit` for each plan that this rank has needed so far.
CORYMB_EXPORT corymb_status corymb_cluster_plans(const corymb_cluster_team* team,
                                                 corymb_plan_visitor visit,
                                                 void* context) CORYMB_NOEXCEPT;
/// Whether a team of so many nodes would do without measuring its network: 1 or 0. For the process
/// that is to be its rank 0; reads a file. 1 also where $CORYMB_NETWORK is wrong, which the team
/// would refuse. CORYMB_INVALID_ARGUMENT for NULL.
CORYMB_EXPORT corymb_status corymb_cluster_knows_network(const char* network_key, int nodes,
                                                         int* is_known) CORYMB_NOEXCEPT;
/// Breaks the team on this rank's node because it cannot go on.
CORYMB_EXPORT corymb_status corymb_cluster_team_abandon(corymb_cluster_team* team,
                                                        const char* why) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif
