# SPDX-License-Identifier: Apache-2.0
"""A rank's buffers and what must be in them; `bench/mpi/payload.h` says the same in C."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
MANY_IN = {"alltoall", "reduce_scatter"}
MANY_OUT = {"allgather", "alltoall"}
NO_INPUT = {"barrier", "broadcast", "compute"}
NO_OUTPUT = {"barrier", "compute"}
OPERATIONS = (
    "barrier", "broadcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall",
    "reduce_scatter", "scan", "exscan", "pingpong", "copy", "compute",
)  # fmt: skip


@lru_cache(maxsize=4)
def value(rank: int, part: int, count: int) -> Array:
    """What part `part` of a rank's contribution holds; not to be written to."""
    return rank + 1 + 1000.0 * part + np.arange(count, dtype=np.float64) % 8


@lru_cache(maxsize=4)
def total(ranks: int, part: int, count: int) -> Array:
    """The sum of that over the first ranks."""
    return sum((value(rank, part, count) for rank in range(ranks)), np.zeros(count))


@dataclass
class Payload:
    operation: str
    rank: int
    ranks: int
    root: int
    count: int

    def __post_init__(self) -> None:
        is_root = self.rank == self.root
        many_in = self.operation in MANY_IN or (self.operation == "scatter" and is_root)
        many_out = self.operation in MANY_OUT or (self.operation == "gather" and is_root)
        no_in = self.operation in NO_INPUT or (self.operation == "scatter" and not is_root)
        no_out = self.operation in NO_OUTPUT or (
            self.operation in {"reduce", "gather"} and not is_root
        )
        parts_in = 0 if no_in else self.ranks if many_in else 1
        self.parts_out = 0 if no_out else self.ranks if many_out else 1
        parts = [value(self.rank, part, self.count) for part in range(parts_in)]
        self.input: Array = np.concatenate(parts) if parts else np.empty(0)
        self.output: Array = np.full(self.parts_out * self.count, -1.0)
        if self.operation == "broadcast" and is_root:
            self.output[:] = value(self.rank, 0, self.count)

    @property
    def partner(self) -> int | None:
        """Of a ping-pong."""
        other = self.rank ^ 1
        return other if other < self.ranks else None

    def _expected(self, part: int) -> Array | None:
        """None where anything may stand."""
        n, count = self.ranks, self.count
        match self.operation:
            case "broadcast":
                return value(self.root, 0, count)
            case "reduce" | "allreduce":
                return total(n, 0, count)
            case "gather" | "allgather":
                return value(part, 0, count)
            case "scatter":
                return value(self.root, self.rank, count)
            case "alltoall":
                return value(part, self.rank, count)
            case "reduce_scatter":
                return total(n, self.rank, count)
            case "scan":
                return total(self.rank + 1, 0, count)
            case "exscan":
                return total(self.rank, 0, count) if self.rank else None
            case "copy":
                return value(self.rank, 0, count)
            case "pingpong":
                return None if self.partner is None else value(self.partner, 0, count)
        return None

    def is_right(self) -> bool:
        """Whether every element of the result is what it must be."""
        for part in range(self.parts_out):
            expected = self._expected(part)
            got = self.output[part * self.count : (part + 1) * self.count]
            if expected is not None and not np.array_equal(got, expected):
                return False
        return True
