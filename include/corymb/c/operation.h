// SPDX-License-Identifier: Apache-2.0
// A collective as a value, and the three things to do with it. The functions that are named after
// operations (collectives.h, parts.h) make such values. Part of <corymb.h>.
#pragma once

#include <corymb/c/team.h>
#include <corymb/c/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Counts and displacements of parts of different lengths, in elements: an entry for each rank.
/// Lists of a buffer that the operation, or this rank, does not have are NULL, as are displacements
/// of parts that lie side by side. Read during the call only.
typedef struct corymb_part_lists {
    const size_t* input_counts;
    const size_t* input_displacements;
    const size_t* output_counts;
    const size_t* output_displacements;
} corymb_part_lists;

/// Fields as the parameters of the operation's own function; those that it does not have are
/// ignored (a broadcast has `output` only). Begin with corymb_operation_init.
typedef struct corymb_operation {
    size_t struct_size;
    corymb_collective op;
    int root;
    corymb_type type;
    corymb_op with;
    const void* input;
    void* output;
    /// Elements of one part; with `parts`, of the buffer that has but one part.
    size_t count;
    const corymb_part_lists* parts; ///< NULL: all parts have one length.
} corymb_operation;

static inline void corymb_operation_init(corymb_operation* operation) CORYMB_NOEXCEPT {
    if (!operation) {
        return;
    }
    memset(operation, 0, sizeof *operation);
    operation->struct_size = sizeof *operation;
    operation->type = CORYMB_NO_TYPE;
    operation->with = CORYMB_NO_OP;
}

/// Runs the operation, and returns when this rank's part of it is done.
CORYMB_EXPORT corymb_status corymb_run(const corymb_operation* operation,
                                       corymb_team* team) CORYMB_NOEXCEPT;
/// Starts the operation and returns at once; requests.h has what completes it.
CORYMB_EXPORT corymb_status corymb_begin(const corymb_operation* operation, corymb_team* team,
                                         corymb_request** request) CORYMB_NOEXCEPT;
/// Makes a request that corymb_start starts, any number of times, on these buffers.
CORYMB_EXPORT corymb_status corymb_prepare(const corymb_operation* operation, corymb_team* team,
                                           corymb_request** request) CORYMB_NOEXCEPT;

/// Defines the three functions of an operation: corymb_NAME runs it, corymb_iNAME begins it and
/// corymb_NAME_init prepares it. `value` has the fields of a corymb_operation after its size; the
/// parameters of the functions follow, before the team.
#define CORYMB_COLLECTIVE(name, value, ...) CORYMB_THREE_FORMS(name, , value, __VA_ARGS__)
/// As CORYMB_COLLECTIVE, for an operation whose parts differ in length; `lists` has the fields of a
/// corymb_part_lists, to which the value's last field points as `&parts`.
#define CORYMB_COLLECTIVE_OF_PARTS(name, value, lists, ...)                                        \
    CORYMB_THREE_FORMS(name, const corymb_part_lists parts = CORYMB_PART_LISTS lists;              \
                       , value, __VA_ARGS__)

/// `needed` declares what the value refers to.
#define CORYMB_THREE_FORMS(name, needed, value, ...)                                               \
    static inline corymb_status corymb_##name(__VA_ARGS__, corymb_team* team) CORYMB_NOEXCEPT {    \
        needed const corymb_operation operation = CORYMB_OPERATION value;                          \
        return corymb_run(&operation, team);                                                       \
    }                                                                                              \
    static inline corymb_status corymb_i##name(__VA_ARGS__, corymb_team* team,                     \
                                               corymb_request** request) CORYMB_NOEXCEPT {         \
        needed const corymb_operation operation = CORYMB_OPERATION value;                          \
        return corymb_begin(&operation, team, request);                                            \
    }                                                                                              \
    static inline corymb_status corymb_##name##_init(__VA_ARGS__, corymb_team* team,               \
                                                     corymb_request** request) CORYMB_NOEXCEPT {   \
        needed const corymb_operation operation = CORYMB_OPERATION value;                          \
        return corymb_prepare(&operation, team, request);                                          \
    }
#define CORYMB_OPERATION(...) {sizeof(corymb_operation), __VA_ARGS__}
#define CORYMB_PART_LISTS(...) {__VA_ARGS__}

#ifdef __cplusplus
}
#endif
