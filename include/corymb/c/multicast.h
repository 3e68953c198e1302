// SPDX-License-Identifier: Apache-2.0
// Acknowledged multicast: a function runs on every member of a group, and its initiator knows when
// all have run it. Part of <corymb.h>; docs/reference/multicast.md states the guarantees.
#pragma once

#include <corymb/c/handles.h>
#include <corymb/c/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The shared part of a group's ranks, of one process or of several; thread-safe.
typedef struct corymb_multicast_group corymb_multicast_group;
/// A rank's place in a group, and a call that is under way; each used by one thread at a time.
typedef struct corymb_multicast corymb_multicast;
typedef struct corymb_multicast_token corymb_multicast_token;

/// Over which members a call travels; docs/reference/multicast.md.
typedef enum corymb_multicast_topology {
    /// As `machine_json` says; without a model `split`, or `flat` with more ranks than CPUs.
    CORYMB_MULTICAST_BEST = 0,
    CORYMB_MULTICAST_FLAT = 1,
    CORYMB_MULTICAST_BINARY = 2,
    CORYMB_MULTICAST_TREE = 3, ///< The tree of `plan_json`.
    CORYMB_MULTICAST_SPLIT = 4,
    CORYMB_MULTICAST_TOPOLOGY_MAX = 0x7FFFFFFF
} corymb_multicast_topology;

/// How members say that they have run a call; docs/reference/multicast.md.
typedef enum corymb_multicast_acknowledgement {
    CORYMB_MULTICAST_BY_COUNTERS = 0,
    CORYMB_MULTICAST_BY_MESSAGES = 1,
    CORYMB_MULTICAST_BY_BEST = 2,   ///< The model's choice; without a model `counters`.
    CORYMB_MULTICAST_BY_GATHER = 3, ///< Counters on the tree of `gather_json`.
    CORYMB_MULTICAST_ACKNOWLEDGEMENT_MAX = 0x7FFFFFFF
} corymb_multicast_acknowledgement;

/// Begin with corymb_multicast_options_init, which sets the defaults.
typedef struct corymb_multicast_options {
    size_t struct_size;
    corymb_multicast_topology topology;
    corymb_wait_policy wait;
    const char* plan_json; ///< For `tree`: a broadcast among as many ranks; NULL: none.
    int fan_out;           ///< For `split`; 4 by default.
    int flat_up_to;        ///< For `split`: so many members are told by one as well.
    int without_skipping;  ///< For the trees: not 0 tests each rank on the way.
    int calls;             ///< Under way at once in the whole group, 1 to 64; 8 by default.
    int between_processes; ///< Not 0: the memory can be shared with other processes.
    int64_t deadline_ns;   ///< Longest wait that is not given a limit; 0: 5 minutes.
    corymb_multicast_acknowledgement acknowledgement;
    const char* machine_json; ///< For `best`: a model (docs/explain/model.md); NULL: none.
    /// For `machine_json`: each rank's PU there; NULL: one after the other.
    const int* placement;
    size_t placement_count; ///< Number of ranks.
    /// Processes of one user that give this name meet in one group; the first one makes it with its
    /// options. Implies `between_processes`. NULL: no name.
    const char* name;
    /// For `gather`: a reduce among as many ranks; NULL: one is planned on `machine_json`.
    const char* gather_json;
} corymb_multicast_options;

static inline void
corymb_multicast_options_init(corymb_multicast_options* options) CORYMB_NOEXCEPT {
    if (!options) {
        return;
    }
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
    options->fan_out = 4;
    options->calls = 8;
}

/// The state of a member that has not acknowledged.
typedef enum corymb_multicast_state {
    CORYMB_MULTICAST_TOLD = 0,    ///< The member has not polled since it was told.
    CORYMB_MULTICAST_RUNNING = 1, ///< The member has polled and is not through.
    CORYMB_MULTICAST_UNTOLD = 2,  ///< The member waits for another late member to forward the call.
    CORYMB_MULTICAST_ENDED = 3,   ///< The member's process has ended; nobody waits for it any more.
    CORYMB_MULTICAST_STATE_MAX = 0x7FFFFFFF
} corymb_multicast_state;

typedef struct corymb_multicast_late {
    int rank;
    corymb_multicast_state state;
    int64_t by_ns; ///< Since the call began.
    int pid;       ///< The member's process; 0 among threads.
} corymb_multicast_late;

/// A call that is not complete.
typedef struct corymb_multicast_under_way {
    int initiator;
    int members;     ///< Members that the call is for, without the initiator.
    int late;        ///< How many of them have not run it.
    uint64_t number; ///< Counts the calls of one slot of the group.
} corymb_multicast_under_way;

/// Runs on a member, in the middle of its corymb_multicast_poll or a similar function; must not use
/// the group. A status other than CORYMB_OK is returned by the initiator's wait; the call counts as
/// run.
typedef corymb_status (*corymb_multicast_function)(void* context);
/// Handles the messages of one number, at most 56 bytes; as corymb_multicast_function.
typedef corymb_status (*corymb_multicast_handler)(const void* message, size_t bytes, void* context);

/// `options` NULL: defaults.
CORYMB_EXPORT corymb_status
corymb_multicast_group_create(int size, const corymb_multicast_options* options,
                              corymb_multicast_group** group) CORYMB_NOEXCEPT;
/// The group behind a descriptor, inherited or sent, which stays the caller's.
CORYMB_EXPORT corymb_status
corymb_multicast_group_open(int descriptor, corymb_multicast_group** group) CORYMB_NOEXCEPT;
/// A descriptor that child processes inherit and the caller closes.
CORYMB_MAKE_DESCRIPTOR(multicast_group, CORYMB_HANDLE_MULTICAST_GROUP)
/// Makes this thread `rank`, a member, which must poll. A rank whose holder has let go, or whose
/// process has ended, can be taken again.
CORYMB_EXPORT corymb_status corymb_multicast_group_join(
    corymb_multicast_group* group, int rank, corymb_multicast** multicast) CORYMB_NOEXCEPT;
/// As corymb_multicast_group_join, but the rank is no member: it may call, and join later.
CORYMB_EXPORT corymb_status corymb_multicast_group_initiator(
    corymb_multicast_group* group, int rank, corymb_multicast** multicast) CORYMB_NOEXCEPT;
/// The topology of calls and the reason for it; to be freed by corymb_free.
CORYMB_EXPORT corymb_status corymb_multicast_group_topology(const corymb_multicast_group* group,
                                                            char** text) CORYMB_NOEXCEPT;
/// Ranks, and members at this moment; 0 when there is no such group.
CORYMB_NUMBER(multicast_group_size, int, corymb_multicast_group, CORYMB_HANDLE_MULTICAST_GROUP,
              CORYMB_NUMBER_SIZE, 0)
CORYMB_NUMBER(multicast_group_members, int, corymb_multicast_group, CORYMB_HANDLE_MULTICAST_GROUP,
              CORYMB_NUMBER_MEMBERS, 0)
/// The calls that are not complete at this moment, for a monitor: how many in `*count`, up to
/// `room` of them in `calls`.
CORYMB_EXPORT corymb_status corymb_multicast_group_under_way(const corymb_multicast_group* group,
                                                             corymb_multicast_under_way* calls,
                                                             size_t room,
                                                             size_t* count) CORYMB_NOEXCEPT;
/// Places and tokens go on. Sets *group to NULL; so do all functions of this kind.
CORYMB_FREE(multicast_group, CORYMB_HANDLE_MULTICAST_GROUP)

/// -1 and 0 when there is no such place.
CORYMB_NUMBER(multicast_rank, int, corymb_multicast, CORYMB_HANDLE_MULTICAST, CORYMB_NUMBER_RANK,
              -1)
CORYMB_NUMBER(multicast_is_member, int, corymb_multicast, CORYMB_HANDLE_MULTICAST,
              CORYMB_NUMBER_IS_MEMBER, 0)
/// Messages that are sent to handlers of this number run `handler` here, in place of the one
/// before.
CORYMB_EXPORT corymb_status corymb_multicast_on(corymb_multicast* multicast, uint32_t number,
                                                corymb_multicast_handler handler,
                                                void* context) CORYMB_NOEXCEPT;
/// Is told of every call that begins from now on, and must poll.
CORYMB_EXPORT corymb_status corymb_multicast_join(corymb_multicast* multicast) CORYMB_NOEXCEPT;
/// Leaves: later calls do not reach this rank; runs the calls that count on it. CORYMB_TIMEOUT
/// after the group's deadline, when an initiator has stopped in the middle of a call.
CORYMB_EXPORT corymb_status corymb_multicast_leave(corymb_multicast* multicast) CORYMB_NOEXCEPT;
/// Between begin and end the rank is no member, and promises not to use the data that calls are
/// about. They may be nested; the last end joins again if the first beginning left.
CORYMB_EXPORT corymb_status corymb_multicast_begin_quiescent(corymb_multicast* multicast)
    CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_multicast_end_quiescent(corymb_multicast* multicast)
    CORYMB_NOEXCEPT;
/// Runs the calls that this member was told; their number in `*ran`, which may be NULL.
CORYMB_EXPORT corymb_status corymb_multicast_poll(corymb_multicast* multicast,
                                                  int* ran) CORYMB_NOEXCEPT;
/// As corymb_multicast_poll; when there is no call, waits at most `limit_ns`, at last asleep.
CORYMB_EXPORT corymb_status corymb_multicast_sleep(corymb_multicast* multicast, int64_t limit_ns,
                                                   int* ran) CORYMB_NOEXCEPT;
/// Runs `function` on every member, at the same time on several threads; here before it returns if
/// this rank is one. `context` must stay until the call is complete. CORYMB_INVALID_ARGUMENT in a
/// group between processes; CORYMB_TIMEOUT when as many calls as the group can have stay under way
/// for its deadline. `token` NULL: the call is not waited for.
CORYMB_EXPORT corymb_status corymb_multicast_call(corymb_multicast* multicast,
                                                  corymb_multicast_function function, void* context,
                                                  corymb_multicast_token** token) CORYMB_NOEXCEPT;
/// Gives a message of at most 56 bytes to each member's handler of this number. A member without it
/// is an error of the wait.
CORYMB_EXPORT corymb_status corymb_multicast_send(corymb_multicast* multicast, const void* message,
                                                  size_t bytes, uint32_t handler,
                                                  corymb_multicast_token** token) CORYMB_NOEXCEPT;
/// Leaves, as well as it can. CORYMB_INVALID_ARGUMENT inside of a call that runs on this rank.
CORYMB_FREE(multicast, CORYMB_HANDLE_MULTICAST)

/// Waits until all members have run the call, at most `limit_ns` (0: the group's deadline), and
/// serves the calls of others meanwhile. Then gives *token back and sets it to NULL. While *token
/// stays, the call goes on and may be waited for again: CORYMB_TIMEOUT, whose text and ranks name
/// the late members. CORYMB_TEAM_BROKEN names the members whose processes have ended without having
/// acknowledged; all others have run it. Other statuses are those of a member's function.
CORYMB_EXPORT corymb_status corymb_multicast_token_wait(corymb_multicast_token** token,
                                                        int64_t limit_ns) CORYMB_NOEXCEPT;
/// As corymb_multicast_token_wait, without waiting: `*done` is 0 when the call is not complete.
CORYMB_EXPORT corymb_status corymb_multicast_token_test(corymb_multicast_token** token,
                                                        int* done) CORYMB_NOEXCEPT;
/// Members that the call is for, the initiator included if it is one; 0 when there is no such
/// token.
CORYMB_NUMBER(multicast_token_members, int, corymb_multicast_token, CORYMB_HANDLE_MULTICAST_TOKEN,
              CORYMB_NUMBER_MEMBERS, 0)
/// Members that have not run it yet: how many in `*count`, up to `room` of them in `late`.
CORYMB_EXPORT corymb_status corymb_multicast_token_late(const corymb_multicast_token* token,
                                                        corymb_multicast_late* late, size_t room,
                                                        size_t* count) CORYMB_NOEXCEPT;
/// Nobody waits for the call any more; it goes on.
CORYMB_FREE(multicast_token, CORYMB_HANDLE_MULTICAST_TOKEN)

#ifdef __cplusplus
}
#endif
