// SPDX-License-Identifier: Apache-2.0
// Teams of threads and of processes. Part of <corymb.h>.
#pragma once

#include <corymb/c/handles.h>
#include <corymb/c/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A rank's handle on its team, and on an operation under way. A rank's team and its requests are
/// used by one thread at a time.
typedef struct corymb_team corymb_team;
typedef struct corymb_request corymb_request;

/// The life of one rank. Anything but CORYMB_OK means that it cannot go on: the team breaks.
typedef corymb_status (*corymb_rank_main)(corymb_team* team, void* arg);

/// Runs `rank_main(team, arg)` on `count` threads, rank 0 on the calling one, and returns when all
/// are done: the first status of a rank that is not CORYMB_OK, with that rank's text. The handle
/// `team` is given back by this function.
CORYMB_EXPORT corymb_status corymb_threads(int count, corymb_rank_main rank_main, void* arg,
                                           const corymb_options* options) CORYMB_NOEXCEPT;

/// A team for threads of your own: made once, then each thread joins with its rank.
typedef struct corymb_thread_team corymb_thread_team;
CORYMB_EXPORT corymb_status corymb_thread_team_create(int size, const corymb_options* options,
                                                      corymb_thread_team** team) CORYMB_NOEXCEPT;
/// Makes this thread `rank`. Thread-safe.
CORYMB_EXPORT corymb_status corymb_thread_team_join(corymb_thread_team* team, int rank,
                                                    corymb_team** joined) CORYMB_NOEXCEPT;
/// Breaks the team on behalf of a rank that cannot go on, also one that has not joined.
/// Thread-safe; the first call counts.
CORYMB_EXPORT corymb_status corymb_thread_team_abandon(corymb_thread_team* team, int rank,
                                                       const char* why) CORYMB_NOEXCEPT;
/// Ranks that have joined go on. Sets *team to NULL; so do all functions of this kind.
CORYMB_FREE(thread_team, CORYMB_HANDLE_THREAD_TEAM)

/// Makes this process one rank of a team of processes; returns when all ranks are there. `options`
/// NULL: the team that `corymb run` has prepared.
CORYMB_EXPORT corymb_status corymb_attach(const corymb_attach_options* options,
                                          corymb_team** team) CORYMB_NOEXCEPT;

/// The ranks of a process that brings several to a team of processes, one a thread.
typedef struct corymb_process_team corymb_process_team;
CORYMB_EXPORT corymb_status corymb_process_team_create(const corymb_attach_options* options,
                                                       corymb_process_team** team) CORYMB_NOEXCEPT;
/// Goes on with an attachment (`at_once`) as far as the others have come, without waiting for any.
/// `*met`: all ranks are there, and may join. After an error the team is of no use. One thread at a
/// time.
CORYMB_EXPORT corymb_status corymb_process_team_try_meet(corymb_process_team* team,
                                                         int* met) CORYMB_NOEXCEPT;
/// The ranks of this process: `*count` from `*first` on.
CORYMB_EXPORT corymb_status corymb_process_team_ranks(const corymb_process_team* team, int* first,
                                                      int* count) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_process_team_join(corymb_process_team* team, int rank,
                                                     corymb_team** joined) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_process_team_abandon(corymb_process_team* team, int rank,
                                                        const char* why) CORYMB_NOEXCEPT;
CORYMB_FREE(process_team, CORYMB_HANDLE_PROCESS_TEAM)

/// Makes the memory of a team of `size` ranks; child processes inherit the descriptor, which the
/// caller closes.
CORYMB_EXPORT corymb_status corymb_make_team_descriptor(int size, int* descriptor) CORYMB_NOEXCEPT;
/// Ranks of such a team that have not attached: how many in `*count`, up to `room` in `ranks`.
CORYMB_EXPORT corymb_status corymb_absent_ranks(int descriptor, int* ranks, size_t room,
                                                size_t* count) CORYMB_NOEXCEPT;

/// The number of this rank; -1 when there is no such team.
CORYMB_NUMBER(team_rank, int, corymb_team, CORYMB_HANDLE_TEAM, CORYMB_NUMBER_RANK, -1)
/// Ranks of the team; 0 when there is no such team.
CORYMB_NUMBER(team_size, int, corymb_team, CORYMB_HANDLE_TEAM, CORYMB_NUMBER_SIZE, 0)
/// Bytes of shared memory of the team's channels, for all its ranks together.
CORYMB_MEMORY(team, CORYMB_HANDLE_TEAM)
/// The paths that a team of processes took, for people; "" for threads. To be freed by corymb_free.
CORYMB_EXPORT corymb_status corymb_team_notes(const corymb_team* team, char** text) CORYMB_NOEXCEPT;
/// Collective: ranks of equal `color` form a new team, ordered by (key, old rank). A negative color
/// gives NULL.
CORYMB_EXPORT corymb_status corymb_team_split(corymb_team* team, int color, int key,
                                              corymb_team** part) CORYMB_NOEXCEPT;
/// After a failure, collective among the survivors: a new team of the ranks that call it.
CORYMB_EXPORT corymb_status corymb_team_shrink(corymb_team* team,
                                               corymb_team** survivors) CORYMB_NOEXCEPT;
/// Breaks the team because this rank cannot go on: everybody's operations fail at once with
/// CORYMB_TEAM_BROKEN naming this rank and `why`.
CORYMB_EXPORT corymb_status corymb_team_abandon(corymb_team* team, const char* why) CORYMB_NOEXCEPT;
/// From now on this rank's operations wait at most `deadline_ns` for their peers, also operations
/// under way; 0: as long as the team's options say. An operation that ends so breaks the team, as
/// by the deadline of the team. Another thread ends a call with corymb_team_abandon.
CORYMB_EXPORT corymb_status corymb_team_set_deadline(corymb_team* team,
                                                     int64_t deadline_ns) CORYMB_NOEXCEPT;
/// Gives the handle back. Waits for operations under way, unless the team is broken; requests that
/// are left keep their outcome and are still to be freed. Others that wait for this rank, now or
/// later, get CORYMB_TEAM_BROKEN at once. CORYMB_MISMATCH: a rank that had left before had called
/// other collective operations; the handle is given back all the same.
CORYMB_FREE(team, CORYMB_HANDLE_TEAM)
/// Collective: from the next one on, blocking calls of this kind run with the best plan that a
/// search finds; returns when it is found. Without it they begin with a plan that is made at once,
/// and go over to that plan when they have taken as long as the search. `bytes` are those of a
/// part; `ordered` says that operands are combined in rank order.
CORYMB_EXPORT corymb_status corymb_team_warm_up(corymb_team* team, corymb_collective op,
                                                uint64_t bytes, int root,
                                                int ordered) CORYMB_NOEXCEPT;
/// Counts of this rank since its handle was made; times in nanoseconds. Begin with
/// corymb_statistics_init.
typedef struct corymb_statistics {
    size_t struct_size;
    uint64_t operations; ///< Collectives and messages that have begun, in all forms.
    uint64_t bytes;      ///< Their bytes: those of the longest buffer of each on this rank.
    uint64_t waits;      ///< Waits for others of more than a few looks, about a microsecond.
    uint64_t sleeps;     ///< Waits in which the rank went to sleep.
    int64_t waited_ns;   ///< Time of all waits.
} corymb_statistics;

static inline void corymb_statistics_init(corymb_statistics* statistics) CORYMB_NOEXCEPT {
    if (!statistics) {
        return;
    }
    memset(statistics, 0, sizeof *statistics);
    statistics->struct_size = sizeof *statistics;
}

/// Fills `statistics` in, and up to `room` entries of `waited_for_ns`, which may be NULL: the time
/// that this rank has waited for each rank, who is late. Waits for any of several ranks count for
/// none. corymb_team_plans tells the plans in use.
CORYMB_EXPORT corymb_status corymb_team_statistics(corymb_team* team, corymb_statistics* statistics,
                                                   int64_t* waited_for_ns,
                                                   size_t room) CORYMB_NOEXCEPT;
/// The plan that an operation of this team runs with, as JSON; to be freed by corymb_free.
CORYMB_EXPORT corymb_status corymb_plan_json(corymb_team* team, corymb_collective op,
                                             uint64_t bytes, int root, char** text) CORYMB_NOEXCEPT;
/// Calls `visit` for each plan that the team has needed so far in this process.
CORYMB_EXPORT corymb_status corymb_team_plans(const corymb_team* team, corymb_plan_visitor visit,
                                              void* context) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif
