// SPDX-License-Identifier: Apache-2.0
// Element types and operators, standard ones and your own. Part of <corymb.h>.
#pragma once

#include <corymb/c/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Element types; docs/reference/operators.md says which operators each has.
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
    CORYMB_BOOL = 14,       ///< A byte; results are 0 or 1.
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
/// Bytes of an element; 0 for a number that is no type.
CORYMB_EXPORT size_t corymb_type_size(corymb_type type) CORYMB_NOEXCEPT;

/// Operators; your own come from corymb_op_create.
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

/// Sets out[i] = left[i] (+) right[i] for `count` elements of `type`; associative. One that is not
/// commutative gets all that a rank contributes at once, and may see it as one thing. `out` may be
/// `left` or `right`. All three are aligned as the type's size permits, up to 16 bytes. It runs
/// within calls of the library and must not call it. A throw breaks the team: docs/reference/c.md.
typedef void (*corymb_combine)(const void* left, const void* right, void* out, size_t count,
                               corymb_type type, void* context);

/// Makes an operator of your own, for any type. If `commutative` is 0, ranks are combined in their
/// order: `left` holds lower ranks than `right`. Otherwise ranks come in any order and payloads in
/// pieces. Ranks that are threads may share an operator; then `combine` runs in several at once.
CORYMB_EXPORT corymb_status corymb_op_create(corymb_combine combine, void* context, int commutative,
                                             corymb_op* op) CORYMB_NOEXCEPT;
/// Gives the operator back and sets it to CORYMB_NO_OP. Operations under way keep the memory that
/// they need, except the context.
CORYMB_EXPORT corymb_status corymb_op_free(corymb_op* op) CORYMB_NOEXCEPT;
/// Whether the operator combines this type.
CORYMB_EXPORT int corymb_is_defined(corymb_type type, corymb_op op) CORYMB_NOEXCEPT;

#ifdef __cplusplus
}
#endif
