// SPDX-License-Identifier: Apache-2.0
// Options of a team and of a process that joins one. Part of <corymb.h>.
#pragma once

#include <corymb/c/types.h>

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How a rank waits for a peer; docs/explain/waiting.md.
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
    // Messages between two ranks: only in a corymb_operation.
    CORYMB_SEND = 64,
    CORYMB_RECV = 65,
    CORYMB_COLLECTIVE_MAX = 0x7FFFFFFF
} corymb_collective;

/// Told of a plan that a team runs an operation with: for payloads of up to `bytes`; `root` is 0
/// where the operation has none. `algorithm` is good during the call.
typedef void (*corymb_plan_visitor)(corymb_collective op, int root, uint64_t bytes,
                                    const char* algorithm, void* context);

/// A team's need for a plan. Later versions may add fields at the end.
typedef struct corymb_plan_need {
    size_t struct_size;
    corymb_collective op;
    int size;
    int root;
    int ordered; ///< Combine in rank order.
    /// The plan's bytes_max must cover it: the largest payload of a size class, or 2^48 where the
    /// ranks do not know each other's lengths.
    uint64_t bytes;
    int keeps_parts; ///< Parts differ in length: the plan must keep them (docs/reference/plan.md).
    /// The operation combines and corymb_options.reproducible is set: the order depends on nothing
    /// but the ranks' numbers and how many there are.
    int reproducible;
    /// For a barrier: the ranks have waited for data of this root before it, and probably do again
    /// behind it, so the root should be the first to leave it.
    int root_first;
    /// The plan must not cut the payload into blocks: the operator needs a whole vector.
    int one_block;
    /// Slots that the channels of cells have; the plan may count on so many.
    uint32_t cell_slots;
} corymb_plan_need;

/// Gives the plan as JSON (docs/reference/plan.md), in memory of malloc that the library frees;
/// NULL when it has none, which fails the operation. Deterministic and thread-safe.
typedef char* (*corymb_plan_source)(const corymb_plan_need* need, void* context);

/// Options of a team. A field that is 0 has its default. Begin with corymb_options_init.
typedef struct corymb_options {
    size_t struct_size; ///< Size of the struct that your program knows; set by corymb_options_init.
    /// Longest time an operation waits for its peers, in nanoseconds; 0: 5 minutes, or the seconds
    /// in $CORYMB_DEADLINE.
    int64_t deadline_ns;
    corymb_wait_policy wait;
    int pin; ///< corymb_threads only: bind rank i to cpus[i], or to the allowed CPUs in turn.
    const int* cpus; ///< CPU of each rank; NULL: unknown, or chosen when `pin` is set.
    size_t cpu_count;
    corymb_plan_source plans; ///< NULL: the default plans, made for this machine.
    void* plans_context;
    /// Asked in a long wait by the thread that waits: among threads first after 50 ms and then at
    /// most a second apart, among processes after 1 ms and then at most 20 ms apart. Not 0 ends the
    /// operation with CORYMB_INTERRUPTED and breaks the team. NULL: never asked.
    int (*interrupted)(void* context);
    void* interrupted_context;
    /// A wait asks first after so many nanoseconds and then at such intervals, which grow to a
    /// millisecond: for a hook that keeps another library going. A rank that sleeps because others
    /// want its CPU asks every millisecond. 0: as above.
    int64_t interrupted_every_ns;
    /// Not 0: reductions and scans combine in an order that depends on nothing but the ranks'
    /// numbers and how many there are. Results of floating point are then bitwise equal on every
    /// machine, for any root, count and placement. Must be equal on all ranks; if not,
    /// CORYMB_MISMATCH. Teams made from this one have it too.
    int reproducible;
    /// Ranks and programs that take turns on each CPU of the team, if others than its ranks do:
    /// other teams of the job, or other programs. Ranks that wait then give their CPU away. Must be
    /// equal on all ranks; teams made from this one count its ranks by themselves. 0: its ranks
    /// alone.
    int ranks_per_cpu;
    /// The machine's levels that default plans by levels follow, from coarse to fine: "numa,l3", or
    /// "none", or a file; docs/explain/model.md. NULL or "": $CORYMB_LEVELS, or the model's.
    const char* levels;
    /// What default plans are searched for: "median", or "p99" under the noise that `corymb doctor
    /// --noise` has recorded; docs/explain/noise.md. NULL or "": $CORYMB_OBJECTIVE, or "median".
    const char* objective;
} corymb_options;

static inline void corymb_options_init(corymb_options* options) CORYMB_NOEXCEPT {
    if (!options) {
        return;
    }
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/// The way in which a process finds its team; docs/reference/processes.md. Without `name` and
/// `descriptor`: the team that `corymb run` has prepared. Begin with corymb_attach_options_init.
typedef struct corymb_attach_options {
    size_t struct_size;
    const char* name;    ///< Processes of one user that give the same name and size meet.
    int descriptor;      ///< Descriptor of corymb_make_team_descriptor, inherited; -1: none.
    int size;            ///< Ranks of the whole team; needed with `name`.
    int rank;            ///< First of the ranks that this process brings; -1: the next free ones.
    int ranks_here;      ///< Ranks that this process brings; 0: as `corymb run` says, else one.
    int64_t patience_ns; ///< Longest time to wait for the others; 0: 60 seconds.
    int huge_pages;      ///< Ask for huge pages; corymb_team_notes tells the outcome.
    const corymb_options* team; ///< For the team itself; NULL: defaults. `pin` is not used.
    /// Not 0: corymb_process_team_create returns at once, and corymb_process_team_try_meet waits
    /// for the others in its place. Not with `name`, and not in corymb_attach.
    int at_once;
} corymb_attach_options;

static inline void corymb_attach_options_init(corymb_attach_options* options) CORYMB_NOEXCEPT {
    if (!options) {
        return;
    }
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
    options->descriptor = -1;
    options->rank = -1;
}

/// Not 0: others wait for work that the hooks of this process's teams keep going (`interrupted`
/// with an `interrupted_every_ns`). While it is set, each wait in such a team stays awake and asks
/// its hook between all looks, once the wait has lasted 2 us. The setting is the whole process's,
/// takes effect in waits that begin later, and starts as 0. Any thread may call it at any time.
CORYMB_EXPORT void corymb_set_hooks_urgent(int urgent) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif
