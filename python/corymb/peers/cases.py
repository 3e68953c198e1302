# SPDX-License-Identifier: Apache-2.0
"""What is measured: operations, modes, sizes, and what each operation must move."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

COLLECTIVES = (
    "barrier", "broadcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall",
    "reduce_scatter", "scan", "exscan",
)  # fmt: skip
OPERATIONS = (*COLLECTIVES, "pingpong")
MODES = ("blocking", "nonblocking", "persistent")
KINDS = ("latency", "rate")
STYLES = {"poll": 16, "wait": 0}  # Of the overlap benchmark: tests during the computation.
LARGE = 2**20  # From here on the bandwidth of memory is measured, too.


@dataclass(frozen=True)
class Case:
    """One line of the results; `bytes` are those of one contribution."""

    op: str
    mode: str
    ranks: int
    bytes: int

    @property
    def weight(self) -> float:
        """Its share of the time, against 1 for the smallest."""
        return 1 + min(4.0, self.bytes / 2**20)

    @property
    def memory(self) -> int:
        """Bytes of all ranks' buffers."""
        into, out = parts(self.op, self.ranks)
        return (into + out) * self.bytes

    @property
    def has_overlap(self) -> bool:
        """Shorter operations end before a computation is worth starting."""
        return self.mode == "nonblocking" and self.op in COLLECTIVES and self.bytes >= 1024


@dataclass
class Request:
    """What to measure. `cpus` is how many ranks run at once; more are oversubscribed."""

    ops: Sequence[str]
    ranks: Sequence[int] = (2,)
    sizes: Sequence[int] = (8, 1024, 65536, 1048576)
    modes: Sequence[str] = ("blocking",)
    seconds: float = 60.0
    cpus: int = 2
    seed: int = 1
    overlap: bool = False

    def cases(self) -> list[Case]:
        return [
            Case(op, mode, ranks, size)
            for ranks in self.ranks
            for op in self.ops
            for mode in self.modes
            for size in ([0] if op == "barrier" else self.sizes)
        ]

    def is_pinned(self, ranks: int) -> bool:
        return ranks <= self.cpus


def parts(op: str, ranks: int) -> tuple[int, int]:
    """Contributions that all ranks together read and write, as `bench/mpi/payload.h` lays out."""
    n = ranks
    paired = n - n % 2
    return {
        "barrier": (0, 0),
        "broadcast": (1, n - 1),
        "reduce": (n, 1),
        "allreduce": (n, n),
        "gather": (n, n),
        "scatter": (n, n),
        "allgather": (n, n * n),
        "alltoall": (n * n, n * n),
        "reduce_scatter": (n * n, n),
        "scan": (n, n),
        "exscan": (n - 1, n - 1),
        "pingpong": (paired, paired),
    }[op]


def least_copies(op: str, ranks: int) -> float:
    """Contributions that must be copied at least, if every input byte is read once and every output
    byte written once; a copy reads a byte and writes one. Of a ping-pong one way counts."""
    into, out = parts(op, ranks)
    return (into + out) / (4 if op == "pingpong" else 2)


def most_memory() -> int:
    """Bytes that the buffers of one case may take: a quarter of the machine's."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4
