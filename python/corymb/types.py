# SPDX-License-Identifier: Apache-2.0
"""mpi4py's names for element types and operators, and the constants of `corymb.Team`.

>>> import corymb
>>> corymb.DOUBLE
Datatype.float64
>>> corymb.SUM
Operator.sum
"""

from __future__ import annotations

from corymb._core import IN_PLACE, Datatype, Op, Operator

SUM = Operator.sum
PROD = Operator.prod
MIN = Operator.min
MAX = Operator.max
LAND = Operator.logical_and
LOR = Operator.logical_or
LXOR = Operator.logical_xor
BAND = Operator.bitwise_and
BOR = Operator.bitwise_or
BXOR = Operator.bitwise_xor
MINLOC = Operator.min_loc
MAXLOC = Operator.max_loc

BYTE = Datatype.uint8
INT8_T = Datatype.int8
UINT8_T = Datatype.uint8
INT16_T = SHORT = Datatype.int16
UINT16_T = Datatype.uint16
INT32_T = INT = Datatype.int32
UINT32_T = Datatype.uint32
INT64_T = LONG = Datatype.int64
UINT64_T = Datatype.uint64
FLOAT16 = Datatype.float16
BFLOAT16 = Datatype.bfloat16
FLOAT = Datatype.float32
DOUBLE = Datatype.float64
COMPLEX = Datatype.complex64
DOUBLE_COMPLEX = Datatype.complex128
BOOL = Datatype.boolean
FLOAT_INT = Datatype.float32_index32
DOUBLE_INT = Datatype.float64_index32
SHORT_INT = Datatype.int16_index32
INT_INT = Datatype.int32_index32
LONG_INT = Datatype.int64_index32

UNDEFINED = -32766
"""The color of a rank that wants no team, and the index that `Waitany` gives for nothing; the value
that mpi4py has."""

__all__ = ["IN_PLACE", "Datatype", "Op", "Operator"]
