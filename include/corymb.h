// SPDX-License-Identifier: Apache-2.0
// The C interface of corymb; docs/c.md is its manual. For C11, and for C++ callers.
//
// Every function that can fail returns a corymb_status; corymb_last_error() says what happened and
// what to do. No exception leaves a function of this file, and none may leave a callback: one that
// does is caught and becomes a status. Pointers to handles that a call makes are set to NULL when
// it fails.
#pragma once

#include <corymb/export.hpp>
#include <corymb/version.hpp>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
#define CORYMB_NOEXCEPT noexcept
extern "C" {
#else
#define CORYMB_NOEXCEPT
#endif

// Status
// -------------------------------------------------------------------------------------------------

/// What came of a call. Values never change; later versions may add some.
typedef enum corymb_status {
    CORYMB_OK = 0,
    CORYMB_INVALID_ARGUMENT = 1, ///< A parameter breaks the contract of the call.
    CORYMB_UNKNOWN_NAME = 2,     ///< No operation, machine or algorithm has this name.
    CORYMB_INVALID_MODEL = 3,    ///< A machine model is malformed.
    CORYMB_STALE_MODEL = 4,      ///< The model was measured on another machine.
    CORYMB_INVALID_PLAN = 5,     ///< The checker refuses a plan.
    CORYMB_IO = 6,               ///< A file or descriptor could not be read or made.
    CORYMB_UNSUPPORTED = 7,      ///< This machine, container or version does not do it.
    CORYMB_TIMEOUT = 8,          ///< A deadline passed; the ranks blamed did not arrive.
    CORYMB_TEAM_BROKEN = 9,      ///< An operation on this team failed; shrink it or make a new one.
    CORYMB_INTERRUPTED = 10,     ///< The caller asked to stop.
    CORYMB_MISMATCH = 11,        ///< Ranks called different operations, roots, sizes or types.
    CORYMB_OUT_OF_MEMORY = 12,
    CORYMB_INTERNAL = 13, ///< An exception that the library does not know; its text is kept.
    CORYMB_STATUS_MAX = 0x7FFFFFFF
} corymb_status;

/// The lower-case name of a status, such as "invalid_argument"; never NULL.
CORYMB_EXPORT const char* corymb_status_name(corymb_status status) CORYMB_NOEXCEPT;
/// The text of the last call of this thread that failed; "" before the first. Valid until the next
/// call of this thread that fails.
CORYMB_EXPORT const char* corymb_last_error(void) CORYMB_NOEXCEPT;
/// The ranks that the last failure of this thread blames: how many; up to `room` of them are
/// written to `ranks`, which may be NULL when `room` is 0.
CORYMB_EXPORT size_t corymb_last_error_ranks(int* ranks, size_t room) CORYMB_NOEXCEPT;
/// Version of the library that is running, "major.minor.patch"; the macros are of the headers.
CORYMB_EXPORT const char* corymb_version(void) CORYMB_NOEXCEPT;
/// Gives back a string that this interface has made. NULL is nothing.
CORYMB_EXPORT void corymb_free(void* text) CORYMB_NOEXCEPT;
/// CPUs that this process may use, of its affinity mask and its cgroup; at least 1.
CORYMB_EXPORT int corymb_usable_cpus(void) CORYMB_NOEXCEPT;

// Types and operators
// -------------------------------------------------------------------------------------------------

/// Element types; docs/operators.md says which operators each has.
typedef enum corymb_type {
    CORYMB_NO_TYPE = -1,
    CORYMB_INT8 = 0,
    CORYMB_UINT8 = 1,
    CORYMB_INT16 = 2,
    CORYMB_UINT16 = 3,
    CORYMB_INT32 = 4,
    CORYMB_UINT32 = 5,
    CORYMB_INT64 = 6,
    CORYMB_UINT64 = 7,
    CORYMB_FLOAT16 = 8,
    CORYMB_BFLOAT16 = 9,
    CORYMB_FLOAT32 = 10,
    CORYMB_FLOAT64 = 11,
    CORYMB_COMPLEX64 = 12,  ///< Two floats.
    CORYMB_COMPLEX128 = 13, ///< Two doubles.
    CORYMB_BOOL = 14,       ///< One byte; results are 0 or 1.
    // struct { value; index; }: for CORYMB_MIN_LOC and CORYMB_MAX_LOC.
    CORYMB_INT16_INDEX32 = 15,
    CORYMB_INT32_INDEX32 = 16,
    CORYMB_INT64_INDEX32 = 17,
    CORYMB_FLOAT32_INDEX32 = 18,
    CORYMB_FLOAT64_INDEX32 = 19,
    CORYMB_INT32_INDEX64 = 20,
    CORYMB_INT64_INDEX64 = 21,
    CORYMB_FLOAT32_INDEX64 = 22,
    CORYMB_FLOAT64_INDEX64 = 23,
    // C's own names.
    CORYMB_BYTE = CORYMB_UINT8,
    CORYMB_INT = CORYMB_INT32,
    CORYMB_LONG = sizeof(long) == 8 ? CORYMB_INT64 : CORYMB_INT32,
    CORYMB_LONG_LONG = CORYMB_INT64,
    CORYMB_SIZE = sizeof(size_t) == 8 ? CORYMB_UINT64 : CORYMB_UINT32,
    CORYMB_FLOAT = CORYMB_FLOAT32,
    CORYMB_DOUBLE = CORYMB_FLOAT64,
    CORYMB_TYPE_MAX = 0x7FFFFFFF
} corymb_type;

/// A type of your own, of `bytes` bytes an element (1 to 2^30 - 1; in a reduction at most 8192, and
/// with an operator of your own). CORYMB_NO_TYPE for other sizes. There is nothing to free.
CORYMB_EXPORT corymb_type corymb_type_of_bytes(size_t bytes) CORYMB_NOEXCEPT;
/// Bytes of an element; 0 for what is no type.
CORYMB_EXPORT size_t corymb_type_size(corymb_type type) CORYMB_NOEXCEPT;

/// Operators; those of your own come from corymb_op_create.
typedef enum corymb_op {
    CORYMB_NO_OP = -1,
    CORYMB_SUM = 0,
    CORYMB_PROD = 1,
    CORYMB_MIN = 2,
    CORYMB_MAX = 3,
    CORYMB_LOGICAL_AND = 4,
    CORYMB_LOGICAL_OR = 5,
    CORYMB_LOGICAL_XOR = 6,
    CORYMB_BITWISE_AND = 7,
    CORYMB_BITWISE_OR = 8,
    CORYMB_BITWISE_XOR = 9,
    CORYMB_MIN_LOC = 10,
    CORYMB_MAX_LOC = 11,
    CORYMB_OP_MAX = 0x7FFFFFFF
} corymb_op;

/// Sets out[i] = left[i] (+) right[i] for `count` elements of `type`; associative. `out` may be
/// `left` or `right`. All three are aligned as the type's size permits, up to 16 bytes. It runs
/// within calls of the library and must not call it. If it throws, the team breaks: docs/c.md.
typedef void (*corymb_combine)(const void* left, const void* right, void* out, size_t count,
                               corymb_type type, void* context);

/// Makes an operator of your own, for any type. Where it is not commutative, ranks are combined in
/// their order. Ranks that are threads may share one; then `combine` runs in several at once.
CORYMB_EXPORT corymb_status corymb_op_create(corymb_combine combine, void* context, int commutative,
                                             corymb_op* op) CORYMB_NOEXCEPT;
/// Gives it back and sets it to CORYMB_NO_OP. Operations under way keep what they need, except the
/// context.
CORYMB_EXPORT corymb_status corymb_op_free(corymb_op* op) CORYMB_NOEXCEPT;
/// Whether the operator combines this type.
CORYMB_EXPORT int corymb_is_defined(corymb_type type, corymb_op op) CORYMB_NOEXCEPT;

// Options
// -------------------------------------------------------------------------------------------------

/// How a rank waits for a peer; docs/waiting.md.
typedef enum corymb_wait_policy {
    CORYMB_WAIT_LADDER = 0, ///< Spins, then yields, then sleeps; learns how long waits are.
    CORYMB_WAIT_SPIN = 1,
    CORYMB_WAIT_YIELD = 2,
    CORYMB_WAIT_PARK = 3,
    CORYMB_WAIT_MAX = 0x7FFFFFFF
} corymb_wait_policy;

/// The operations, for corymb_plan_json and corymb_plan_source.
typedef enum corymb_collective {
    CORYMB_BARRIER = 0,
    CORYMB_BROADCAST = 1,
    CORYMB_REDUCE = 2,
    CORYMB_ALLREDUCE = 3,
    CORYMB_GATHER = 4,
    CORYMB_SCATTER = 5,
    CORYMB_ALLGATHER = 6,
    CORYMB_ALLTOALL = 7,
    CORYMB_REDUCE_SCATTER = 8,
    CORYMB_SCAN = 9,
    CORYMB_EXSCAN = 10,
    CORYMB_COLLECTIVE_MAX = 0x7FFFFFFF
} corymb_collective;

/// What a team wants a plan for. Later versions may add fields at the end.
typedef struct corymb_plan_need {
    size_t struct_size;
    corymb_collective op;
    int size;
    int root;
    int ordered; ///< Combine in rank order.
    /// The plan's bytes_max must cover it: the largest payload of a size class, or 2^48 where the
    /// ranks do not know each other's lengths.
    uint64_t bytes;
    int keeps_parts; ///< Parts differ in length: the plan must keep them (docs/plan.md).
} corymb_plan_need;

/// Gives the plan as JSON (docs/plan.md), in memory of malloc that the library frees; NULL when it
/// has none, which fails the operation. Deterministic and thread-safe.
typedef char* (*corymb_plan_source)(const corymb_plan_need* need, void* context);

/// Options of a team. A field that is 0 has its default. Begin with corymb_options_init.
typedef struct corymb_options {
    size_t struct_size; ///< As your program knows the struct; set by corymb_options_init.
    /// Longest time an operation waits for its peers, in nanoseconds; 0: 5 minutes, or the seconds
    /// in $CORYMB_DEADLINE.
    int64_t deadline_ns;
    corymb_wait_policy wait;
    int pin; ///< corymb_threads only: bind rank i to cpus[i], or to the allowed CPUs in turn.
    const int* cpus; ///< CPU of each rank; NULL: unknown, or chosen when `pin` is set.
    size_t cpu_count;
    corymb_plan_source plans; ///< NULL: the default plans, made for this machine.
    void* plans_context;
    /// Asked about every 20 ms of a long wait, by the thread that waits: not 0 ends the operation
    /// with CORYMB_INTERRUPTED and breaks the team. NULL: never asked.
    int (*interrupted)(void* context);
    void* interrupted_context;
} corymb_options;

static inline void corymb_options_init(corymb_options* options) CORYMB_NOEXCEPT {
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/// How a process finds its team; docs/processes.md. Without `name` and `descriptor`: what `corymb
/// run` has prepared. Begin with corymb_attach_options_init.
typedef struct corymb_attach_options {
    size_t struct_size;
    const char* name;    ///< Processes of one user that give the same name and size meet.
    int descriptor;      ///< Of corymb_make_team_descriptor, inherited; -1: none.
    int size;            ///< Ranks of the whole team; needed with `name`.
    int rank;            ///< First of the ranks that this process brings; -1: the next free ones.
    int ranks_here;      ///< Ranks that this process brings; 0: as `corymb run` says, else one.
    int64_t patience_ns; ///< Longest time to wait for the others; 0: 60 seconds.
    int huge_pages;      ///< Ask for huge pages; corymb_team_notes says what came of it.
    const corymb_options* team; ///< For the team itself; NULL: defaults. `pin` is not used.
} corymb_attach_options;

static inline void corymb_attach_options_init(corymb_attach_options* options) CORYMB_NOEXCEPT {
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
    options->descriptor = -1;
    options->rank = -1;
}

// Teams
// -------------------------------------------------------------------------------------------------

/// One rank's handle on its team, and on an operation under way. A rank's team and its requests are
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
/// This thread becomes `rank`. Thread-safe.
CORYMB_EXPORT corymb_status corymb_thread_team_join(corymb_thread_team* team, int rank,
                                                    corymb_team** joined) CORYMB_NOEXCEPT;
/// Breaks the team on behalf of a rank that cannot go on, also one that has not joined.
/// Thread-safe; the first call counts.
CORYMB_EXPORT corymb_status corymb_thread_team_abandon(corymb_thread_team* team, int rank,
                                                       const char* why) CORYMB_NOEXCEPT;
/// Ranks that have joined go on. Sets *team to NULL; so do all functions of this kind.
CORYMB_EXPORT corymb_status corymb_thread_team_free(corymb_thread_team** team) CORYMB_NOEXCEPT;

/// This process becomes one rank of a team of processes, which returns when all ranks are there.
/// `options` NULL: what `corymb run` has prepared.
CORYMB_EXPORT corymb_status corymb_attach(const corymb_attach_options* options,
                                          corymb_team** team) CORYMB_NOEXCEPT;

/// The same for a process that brings several ranks, one a thread.
typedef struct corymb_process_team corymb_process_team;
CORYMB_EXPORT corymb_status corymb_process_team_create(const corymb_attach_options* options,
                                                       corymb_process_team** team) CORYMB_NOEXCEPT;
/// The ranks of this process: `*count` from `*first` on.
CORYMB_EXPORT corymb_status corymb_process_team_ranks(const corymb_process_team* team, int* first,
                                                      int* count) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_process_team_join(corymb_process_team* team, int rank,
                                                     corymb_team** joined) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_process_team_abandon(corymb_process_team* team, int rank,
                                                        const char* why) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_process_team_free(corymb_process_team** team) CORYMB_NOEXCEPT;

/// Makes the memory of a team of `size` ranks; child processes inherit the descriptor, which the
/// caller closes.
CORYMB_EXPORT corymb_status corymb_make_team_descriptor(int size, int* descriptor) CORYMB_NOEXCEPT;
/// Ranks of such a team that have not attached: how many in `*count`, up to `room` in `ranks`.
CORYMB_EXPORT corymb_status corymb_absent_ranks(int descriptor, int* ranks, size_t room,
                                                size_t* count) CORYMB_NOEXCEPT;

/// This rank; -1 when there is no such team.
CORYMB_EXPORT int corymb_team_rank(const corymb_team* team) CORYMB_NOEXCEPT;
/// Ranks of the team; 0 when there is no such team.
CORYMB_EXPORT int corymb_team_size(const corymb_team* team) CORYMB_NOEXCEPT;
/// Bytes of shared memory of the team's channels, for all its ranks together.
CORYMB_EXPORT corymb_status corymb_team_memory(const corymb_team* team,
                                               size_t* bytes) CORYMB_NOEXCEPT;
/// Which paths a team of processes took, for people; "" for threads. To be freed by corymb_free.
CORYMB_EXPORT corymb_status corymb_team_notes(const corymb_team* team, char** text) CORYMB_NOEXCEPT;
/// Collective: ranks of equal `color` form a new team, ordered by (key, old rank). A negative color
/// gives NULL.
CORYMB_EXPORT corymb_status corymb_team_split(corymb_team* team, int color, int key,
                                              corymb_team** part) CORYMB_NOEXCEPT;
/// After a failure, collective among the survivors: a new team of those who call it.
CORYMB_EXPORT corymb_status corymb_team_shrink(corymb_team* team,
                                               corymb_team** survivors) CORYMB_NOEXCEPT;
/// Breaks the team because this rank cannot go on: everybody's operations fail at once with
/// CORYMB_TEAM_BROKEN naming this rank and `why`.
CORYMB_EXPORT corymb_status corymb_team_abandon(corymb_team* team, const char* why) CORYMB_NOEXCEPT;
/// Gives the handle back. Waits for operations under way, unless the team is broken; requests that
/// are left keep their outcome and are still to be freed.
CORYMB_EXPORT corymb_status corymb_team_free(corymb_team** team) CORYMB_NOEXCEPT;
/// The plan that an operation of this team runs with, as JSON; to be freed by corymb_free.
CORYMB_EXPORT corymb_status corymb_plan_json(corymb_team* team, corymb_collective op,
                                             uint64_t bytes, int root, char** text) CORYMB_NOEXCEPT;

// Collectives
// -------------------------------------------------------------------------------------------------
// All ranks call the same operations in the same order with the same root, count, type and
// operator. `count` is in elements, of one rank's part where every rank has a part. Each operation
// has three forms: blocking; nonblocking (i...), which returns at once with a request; persistent
// (..._init), a request that can be started many times. docs/requests.md has their rules.

/// In place of `input` (reduce at the root, allreduce, scan, exscan; gather at the root, allgather:
/// this rank's part of the output) or of `output` (scatter at the root, reduce_scatter: this rank's
/// part of the input, which is then written).
#ifdef __cplusplus
#define CORYMB_IN_PLACE (reinterpret_cast<void*>(static_cast<intptr_t>(-1)))
#else
#define CORYMB_IN_PLACE ((void*)(intptr_t)-1)
#endif

/// Returns when every rank has called it.
CORYMB_EXPORT corymb_status corymb_barrier(corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_ibarrier(corymb_team* team,
                                            corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_barrier_init(corymb_team* team,
                                                corymb_request** request) CORYMB_NOEXCEPT;

/// Copies the root's `data` to every rank's.
CORYMB_EXPORT corymb_status corymb_broadcast(void* data, size_t count, corymb_type type, int root,
                                             corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_ibroadcast(void* data, size_t count, corymb_type type, int root,
                                              corymb_team* team,
                                              corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_broadcast_init(void* data, size_t count, corymb_type type,
                                                  int root, corymb_team* team,
                                                  corymb_request** request) CORYMB_NOEXCEPT;

/// Combines `input` of all ranks element by element into the root's `output`; elsewhere it may be
/// NULL.
CORYMB_EXPORT corymb_status corymb_reduce(const void* input, void* output, size_t count,
                                          corymb_type type, corymb_op op, int root,
                                          corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_ireduce(const void* input, void* output, size_t count,
                                           corymb_type type, corymb_op op, int root,
                                           corymb_team* team,
                                           corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_reduce_init(const void* input, void* output, size_t count,
                                               corymb_type type, corymb_op op, int root,
                                               corymb_team* team,
                                               corymb_request** request) CORYMB_NOEXCEPT;

/// As reduce, with the result on every rank.
CORYMB_EXPORT corymb_status corymb_allreduce(const void* input, void* output, size_t count,
                                             corymb_type type, corymb_op op,
                                             corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_iallreduce(const void* input, void* output, size_t count,
                                              corymb_type type, corymb_op op, corymb_team* team,
                                              corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_allreduce_init(const void* input, void* output, size_t count,
                                                  corymb_type type, corymb_op op, corymb_team* team,
                                                  corymb_request** request) CORYMB_NOEXCEPT;

/// Rank r's `input` becomes part r of the root's `output`; elsewhere it may be NULL.
CORYMB_EXPORT corymb_status corymb_gather(const void* input, void* output, size_t count,
                                          corymb_type type, int root,
                                          corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_igather(const void* input, void* output, size_t count,
                                           corymb_type type, int root, corymb_team* team,
                                           corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_gather_init(const void* input, void* output, size_t count,
                                               corymb_type type, int root, corymb_team* team,
                                               corymb_request** request) CORYMB_NOEXCEPT;

/// Part r of the root's `input` becomes rank r's `output`; elsewhere `input` may be NULL.
CORYMB_EXPORT corymb_status corymb_scatter(const void* input, void* output, size_t count,
                                           corymb_type type, int root,
                                           corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_iscatter(const void* input, void* output, size_t count,
                                            corymb_type type, int root, corymb_team* team,
                                            corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_scatter_init(const void* input, void* output, size_t count,
                                                corymb_type type, int root, corymb_team* team,
                                                corymb_request** request) CORYMB_NOEXCEPT;

/// As gather, with the result on every rank.
CORYMB_EXPORT corymb_status corymb_allgather(const void* input, void* output, size_t count,
                                             corymb_type type, corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_iallgather(const void* input, void* output, size_t count,
                                              corymb_type type, corymb_team* team,
                                              corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_allgather_init(const void* input, void* output, size_t count,
                                                  corymb_type type, corymb_team* team,
                                                  corymb_request** request) CORYMB_NOEXCEPT;

/// Part q of rank p's `input` becomes part p of rank q's `output`; the two are apart.
CORYMB_EXPORT corymb_status corymb_alltoall(const void* input, void* output, size_t count,
                                            corymb_type type, corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_ialltoall(const void* input, void* output, size_t count,
                                             corymb_type type, corymb_team* team,
                                             corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_alltoall_init(const void* input, void* output, size_t count,
                                                 corymb_type type, corymb_team* team,
                                                 corymb_request** request) CORYMB_NOEXCEPT;

/// Part r of all ranks' `input`, combined element by element, becomes rank r's `output`.
CORYMB_EXPORT corymb_status corymb_reduce_scatter(const void* input, void* output, size_t count,
                                                  corymb_type type, corymb_op op,
                                                  corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_ireduce_scatter(const void* input, void* output, size_t count,
                                                   corymb_type type, corymb_op op,
                                                   corymb_team* team,
                                                   corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_reduce_scatter_init(const void* input, void* output,
                                                       size_t count, corymb_type type, corymb_op op,
                                                       corymb_team* team,
                                                       corymb_request** request) CORYMB_NOEXCEPT;

/// Rank r's `output` has the inputs of the ranks 0 to r combined.
CORYMB_EXPORT corymb_status corymb_scan(const void* input, void* output, size_t count,
                                        corymb_type type, corymb_op op,
                                        corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_iscan(const void* input, void* output, size_t count,
                                         corymb_type type, corymb_op op, corymb_team* team,
                                         corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_scan_init(const void* input, void* output, size_t count,
                                             corymb_type type, corymb_op op, corymb_team* team,
                                             corymb_request** request) CORYMB_NOEXCEPT;

/// As scan, of the ranks 0 to r - 1; that of rank 0 is left as it is.
CORYMB_EXPORT corymb_status corymb_exscan(const void* input, void* output, size_t count,
                                          corymb_type type, corymb_op op,
                                          corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_iexscan(const void* input, void* output, size_t count,
                                           corymb_type type, corymb_op op, corymb_team* team,
                                           corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_exscan_init(const void* input, void* output, size_t count,
                                               corymb_type type, corymb_op op, corymb_team* team,
                                               corymb_request** request) CORYMB_NOEXCEPT;

// Parts of different lengths
// -------------------------------------------------------------------------------------------------
// Part r has counts[r] elements, which may be 0, and begins at element displacements[r]; without
// displacements (NULL), where the part before it ends. Parts that are written do not overlap. The
// arrays have an entry for each rank and are read during the call only.

/// As gather. Only the root needs `counts`.
CORYMB_EXPORT corymb_status corymb_gatherv(const void* input, size_t count, void* output,
                                           const size_t* counts, const size_t* displacements,
                                           corymb_type type, int root,
                                           corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_igatherv(const void* input, size_t count, void* output,
                                            const size_t* counts, const size_t* displacements,
                                            corymb_type type, int root, corymb_team* team,
                                            corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_gatherv_init(const void* input, size_t count, void* output,
                                                const size_t* counts, const size_t* displacements,
                                                corymb_type type, int root, corymb_team* team,
                                                corymb_request** request) CORYMB_NOEXCEPT;

/// As scatter. Only the root needs `counts`; parts of its input may overlap.
CORYMB_EXPORT corymb_status corymb_scatterv(const void* input, const size_t* counts,
                                            const size_t* displacements, void* output, size_t count,
                                            corymb_type type, int root,
                                            corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_iscatterv(const void* input, const size_t* counts,
                                             const size_t* displacements, void* output,
                                             size_t count, corymb_type type, int root,
                                             corymb_team* team,
                                             corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_scatterv_init(const void* input, const size_t* counts,
                                                 const size_t* displacements, void* output,
                                                 size_t count, corymb_type type, int root,
                                                 corymb_team* team,
                                                 corymb_request** request) CORYMB_NOEXCEPT;

/// As allgather. The counts are the same on all ranks; displacements may differ.
CORYMB_EXPORT corymb_status corymb_allgatherv(const void* input, size_t count, void* output,
                                              const size_t* counts, const size_t* displacements,
                                              corymb_type type, corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_iallgatherv(const void* input, size_t count, void* output,
                                               const size_t* counts, const size_t* displacements,
                                               corymb_type type, corymb_team* team,
                                               corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_allgatherv_init(const void* input, size_t count, void* output,
                                                   const size_t* counts,
                                                   const size_t* displacements, corymb_type type,
                                                   corymb_team* team,
                                                   corymb_request** request) CORYMB_NOEXCEPT;

/// As alltoall: count q of rank p's input is count p of rank q's output. With CORYMB_BYTE it is
/// what MPI calls alltoallw.
CORYMB_EXPORT corymb_status corymb_alltoallv(const void* input, const size_t* in_counts,
                                             const size_t* in_displacements, void* output,
                                             const size_t* out_counts,
                                             const size_t* out_displacements, corymb_type type,
                                             corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_ialltoallv(const void* input, const size_t* in_counts,
                                              const size_t* in_displacements, void* output,
                                              const size_t* out_counts,
                                              const size_t* out_displacements, corymb_type type,
                                              corymb_team* team,
                                              corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_alltoallv_init(const void* input, const size_t* in_counts,
                                                  const size_t* in_displacements, void* output,
                                                  const size_t* out_counts,
                                                  const size_t* out_displacements, corymb_type type,
                                                  corymb_team* team,
                                                  corymb_request** request) CORYMB_NOEXCEPT;

/// As reduce_scatter, with counts[r] elements for rank r; the same counts on all ranks.
CORYMB_EXPORT corymb_status corymb_reduce_scatterv(const void* input, void* output,
                                                   const size_t* counts, corymb_type type,
                                                   corymb_op op, corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_ireduce_scatterv(const void* input, void* output,
                                                    const size_t* counts, corymb_type type,
                                                    corymb_op op, corymb_team* team,
                                                    corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_reduce_scatterv_init(const void* input, void* output,
                                                        const size_t* counts, corymb_type type,
                                                        corymb_op op, corymb_team* team,
                                                        corymb_request** request) CORYMB_NOEXCEPT;

// Messages between two ranks
// -------------------------------------------------------------------------------------------------
// The k-th message from p to q goes to the k-th receive of q from p, and both name the same number
// of bytes. There are no tags. A send may wait for its receive.

CORYMB_EXPORT corymb_status corymb_send(const void* data, size_t count, corymb_type type, int to,
                                        corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_isend(const void* data, size_t count, corymb_type type, int to,
                                         corymb_team* team,
                                         corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_send_init(const void* data, size_t count, corymb_type type,
                                             int to, corymb_team* team,
                                             corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_recv(void* data, size_t count, corymb_type type, int from,
                                        corymb_team* team) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_irecv(void* data, size_t count, corymb_type type, int from,
                                         corymb_team* team,
                                         corymb_request** request) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_recv_init(void* data, size_t count, corymb_type type, int from,
                                             corymb_team* team,
                                             corymb_request** request) CORYMB_NOEXCEPT;
/// Both at once, with any two ranks.
CORYMB_EXPORT corymb_status corymb_sendrecv(const void* out, size_t out_count, corymb_type out_type,
                                            int to, void* in, size_t in_count, corymb_type in_type,
                                            int from, corymb_team* team) CORYMB_NOEXCEPT;

// Requests
// -------------------------------------------------------------------------------------------------
// An operation is completed once: by corymb_wait and its like, or by a corymb_test that says so,
// with the status that the blocking call would have had. Then a nonblocking request is freed and
// the caller's pointer set to NULL, whatever the status; a persistent one can be started again.

/// Looks whether the operation is done; bounded whatever other ranks do.
CORYMB_EXPORT corymb_status corymb_test(corymb_request** request, int* done) CORYMB_NOEXCEPT;
CORYMB_EXPORT corymb_status corymb_wait(corymb_request** request) CORYMB_NOEXCEPT;
/// Completes all that are active; NULL and inactive ones are passed over. Returns at the first
/// error; the requests after it are still to be completed or freed.
CORYMB_EXPORT corymb_status corymb_wait_all(corymb_request** requests,
                                            size_t count) CORYMB_NOEXCEPT;
/// What corymb_wait_any says when no request is active.
#define CORYMB_NO_REQUEST SIZE_MAX
/// Waits until one of the active requests, which are of one team, is done, and completes it.
CORYMB_EXPORT corymb_status corymb_wait_any(corymb_request** requests, size_t count,
                                            size_t* index) CORYMB_NOEXCEPT;
/// Starts a persistent request once more; bounded.
CORYMB_EXPORT corymb_status corymb_start(corymb_request* request) CORYMB_NOEXCEPT;
/// Starts persistent requests in their order; returns at the first error.
CORYMB_EXPORT corymb_status corymb_start_all(corymb_request** requests,
                                             size_t count) CORYMB_NOEXCEPT;
/// Waits for an operation under way, without its outcome, and gives the request back. NULL is
/// nothing.
CORYMB_EXPORT corymb_status corymb_request_free(corymb_request** request) CORYMB_NOEXCEPT;
/// Goes on with all operations under way as far as it can at once; bounded. How many are still
/// under way comes in `*under_way`, which may be NULL.
CORYMB_EXPORT corymb_status corymb_progress(corymb_team* team, size_t* under_way) CORYMB_NOEXCEPT;
/// The same until none is under way.
CORYMB_EXPORT corymb_status corymb_complete_all(corymb_team* team) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif
