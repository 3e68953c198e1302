// SPDX-License-Identifier: Apache-2.0
// An operation as a value, and the three things to do with it. The functions that are named after
// operations (collectives.h, parts.h, messages.h) make such values. Part of <corymb.h>.
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

/// The way of `count` elements that do not lie in one piece out of their places and back. The
/// library packs them into memory of its own before an operation and unpacks them afterwards. So it
/// needs memory for all of them once more, and input and output may share their places.
typedef struct corymb_packed {
    size_t count; ///< Elements of the whole buffer.
    /// Copies all elements out, in their order. Needed for a buffer that is read.
    void (*pack)(void* context, void* to);
    /// Copies all elements back, in their order. Needed for a buffer that is written.
    void (*unpack)(void* context, const void* from);
    void* context; ///< Handed to both; outlives the operation.
} corymb_packed;

/// Fields as the parameters of the operation's own function; those that it does not have are
/// ignored (a broadcast has `output` only). Begin with corymb_operation_init.
typedef struct corymb_operation {
    size_t struct_size;
    corymb_collective op;
    int root; ///< In a message the other rank.
    corymb_type type;
    corymb_op with;
    const void* input;
    void* output;
    /// Elements of one part; with `parts`, of the buffer that has but one part.
    size_t count;
    const corymb_part_lists* parts; ///< NULL: all parts have one length.
    /// Unless both are NULL, they describe the whole buffers and their counts, instead of `input`,
    /// `output` and `count`. The layout of a buffer that the operation or this rank does not have
    /// may be NULL. Copied. CORYMB_INVALID_ARGUMENT for a barrier, with `parts`, for counts that do
    /// not fit and for a missing function.
    const corymb_packed* packed_input;
    const corymb_packed* packed_output;
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
/// Starts the operation and returns at once; requests.h has what completes it. Layouts are packed
/// now, and unpacked in the corymb_wait or corymb_test that completes the request. A request that
/// is freed or cancelled unpacks nothing.
CORYMB_EXPORT corymb_status corymb_begin(const corymb_operation* operation, corymb_team* team,
                                         corymb_request** request) CORYMB_NOEXCEPT;
/// Makes a request that corymb_start starts, any number of times, on these buffers. Layouts are
/// packed at each start.
CORYMB_EXPORT corymb_status corymb_prepare(const corymb_operation* operation, corymb_team* team,
                                           corymb_request** request) CORYMB_NOEXCEPT;

/// Defines the three functions of an operation: corymb_NAME runs it, corymb_iNAME begins it and
/// corymb_NAME_init prepares it. `value` has the fields of a corymb_operation from `op` to `parts`.
/// The parameters of the functions follow, before the team.
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
#define CORYMB_OPERATION(...) {sizeof(corymb_operation), __VA_ARGS__, NULL, NULL}
#define CORYMB_PART_LISTS(...) {__VA_ARGS__}

#ifdef __cplusplus
}
#endif
