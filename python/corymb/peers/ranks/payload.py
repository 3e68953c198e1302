# SPDX-License-Identifier: Apache-2.0
"""A rank's buffers and what must be in them; `bench/mpi/payload.h` says the same in C."""

from __future__ import annotations

from dataclasses import dataclass

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


LINE = np.arange(8, dtype=np.float64)  # Every line of eight elements is the same.


def common(part: int, iteration: int) -> Array:
    """The line of part `part` of all contributions, but for the rank."""
    return 1000.0 * part + 1e7 * (iteration % 512) + LINE


def value(rank: int, part: int, iteration: int) -> Array:
    """The line of part `part` of a rank's contribution."""
    return rank + 1 + common(part, iteration)


def total(ranks: int, part: int, iteration: int) -> Array:
    """The sum of that over the first ranks."""
    return ranks * (ranks + 1) / 2 + ranks * common(part, iteration)


def write(to: Array, line: Array) -> None:
    """Fills an array with lines."""
    whole = len(to) // 8 * 8
    to[:whole].reshape(-1, 8)[:] = line
    to[whole:] = line[: len(to) - whole]


def holds(found: Array, line: Array) -> bool:
    """Whether an array is filled with lines."""
    whole = len(found) // 8 * 8
    return bool(
        (found[:whole].reshape(-1, 8) == line).all()
        and (found[whole:] == line[: len(found) - whole]).all()
    )


@dataclass
class Payload:
    """`root` is that of iteration 0; it moves on with every iteration unless it stays."""

    operation: str
    rank: int
    ranks: int
    root: int
    count: int
    root_stays: bool = False

    def __post_init__(self) -> None:
        self._first_root = self.root
        # Any rank may become the root.
        most_in = self.ranks if self.operation in MANY_IN | {"scatter"} else 1
        most_out = self.ranks if self.operation in MANY_OUT | {"gather"} else 1
        self._input: Array = np.empty(most_in * self.count)
        self._output: Array = np.full(most_out * self.count, -1.0)
        self.renew(0)

    def renew(self, iteration: int) -> None:
        """Before an iteration: moves the root on and writes what this rank contributes."""
        self.iteration = iteration
        if not self.root_stays:
            self.root = (self._first_root + iteration) % self.ranks
        self.is_root = is_root = self.rank == self.root
        many_in = self.operation in MANY_IN or (self.operation == "scatter" and is_root)
        many_out = self.operation in MANY_OUT or (self.operation == "gather" and is_root)
        no_in = self.operation in NO_INPUT or (self.operation == "scatter" and not is_root)
        no_out = self.operation in NO_OUTPUT or (
            self.operation in {"reduce", "gather"} and not is_root
        )
        parts_in = 0 if no_in else self.ranks if many_in else 1
        self.parts_out = 0 if no_out else self.ranks if many_out else 1
        self.input = self._input[: parts_in * self.count]
        self.output = self._output[: self.parts_out * self.count]
        if self.operation == "broadcast" and is_root:
            write(self.output, value(self.rank, 0, iteration))
        for part in range(parts_in):
            line = value(self.rank, part, iteration)
            write(self.input[part * self.count : (part + 1) * self.count], line)

    @property
    def partner(self) -> int | None:
        """Of a ping-pong."""
        other = self.rank ^ 1
        return other if other < self.ranks else None

    def _expected(self, part: int) -> Array | None:
        """The line that the result holds; None where anything may stand."""
        n, now = self.ranks, self.iteration
        match self.operation:
            case "broadcast":
                return value(self.root, 0, now)
            case "reduce" | "allreduce":
                return total(n, 0, now)
            case "gather" | "allgather":
                return value(part, 0, now)
            case "scatter":
                return value(self.root, self.rank, now)
            case "alltoall":
                return value(part, self.rank, now)
            case "reduce_scatter":
                return total(n, self.rank, now)
            case "scan":
                return total(self.rank + 1, 0, now)
            case "exscan":
                return total(self.rank, 0, now) if self.rank else None
            case "copy":
                return value(self.rank, 0, now)
            case "pingpong":
                return None if self.partner is None else value(self.partner, 0, now)
        return None

    def is_right(self) -> bool:
        """Reads the whole result: whether every element is what it must be."""
        for part in range(self.parts_out):
            expected = self._expected(part)
            found = self.output[part * self.count : (part + 1) * self.count]
            if expected is not None and not holds(found, expected):
                return False
        return True
