# SPDX-License-Identifier: Apache-2.0
"""Loops of blocking collectives by mpi4py, with the results checked; loops.py runs it.

Arguments, printed lines and way of timing are those of loops.c; the mode is always blocking.
mpi4py asks for MPI_THREAD_MULTIPLE, and its calls go by the forms with large counts.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
from mpi4py import MPI

FIRST_CALLS, JUDGED_CALLS, WARM_UP_MOST, ITERATIONS_MOST = 20, 5, 200, 5000
COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.Get_rank(), COMM.Get_size()
ALL = np.arange(SIZE)


class Loop:
    """An operation on parts of `count` numbers. Before each call the root moves on and the inputs
    are written anew; after it the whole result is read."""

    def __init__(self, operation: str, count: int) -> None:
        self.operation = operation
        self.own, self.one = np.empty(count), np.empty(count)
        self.parts, self.every = np.empty(SIZE * count), np.empty(SIZE * count)
        self.iteration = self.wrong = self.root = 0
        self.call = self._calls()[operation]

    def once(self) -> int:
        """Nanoseconds of one call."""
        self._renew()
        begin = time.perf_counter_ns()
        self.call()
        end = time.perf_counter_ns()
        expected = self._expected()
        if expected is not None:
            found, parts = expected
            self.wrong += not (found.reshape(len(parts), -1) == parts[:, None]).all()
        return end - begin

    def _renew(self) -> None:
        self.iteration += 1
        self.root = self.iteration % SIZE
        shift = self._shift()
        self.own[:] = RANK + shift
        self.parts.reshape(SIZE, -1)[:] = (100.0 * RANK + ALL + shift)[:, None]  # Part r is for r.

    def _shift(self) -> float:
        """So that what an earlier call has left is noticed."""
        return 1e6 * (self.iteration % 512)

    def _calls(self) -> dict[str, Callable[[], None]]:
        own, one, parts, every = self.own, self.one, self.parts, self.every
        return {
            "barrier": COMM.Barrier,
            "broadcast": lambda: COMM.Bcast(own, self.root),
            "reduce": lambda: COMM.Reduce(own, one, root=self.root),
            "allreduce": lambda: COMM.Allreduce(own, one),
            "gather": lambda: COMM.Gather(own, every, self.root),
            "scatter": lambda: COMM.Scatter(parts, one, self.root),
            "allgather": lambda: COMM.Allgather(own, every),
            "alltoall": lambda: COMM.Alltoall(parts, every),
            "reduce_scatter": lambda: COMM.Reduce_scatter_block(parts, one),
            "scan": lambda: COMM.Scan(own, one),
            "exscan": lambda: COMM.Exscan(own, one),
        }

    def _expected(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Where the result is, and the number in each of its parts; None where there is none."""
        shift, own, one, every = self._shift(), self.own, self.one, self.every
        if self.operation == "barrier" or (self.operation == "exscan" and RANK == 0):
            return None
        if self.operation in {"reduce", "gather"} and self.root != RANK:
            return None
        match self.operation:
            case "broadcast":
                return own, np.array([self.root + shift])
            case "gather" | "allgather":
                return every, ALL + shift
            case "scatter":
                return one, np.array([100.0 * self.root + RANK + shift])
            case "alltoall":
                return every, 100.0 * ALL + RANK + shift
            case "reduce_scatter":
                return one, np.array([(100.0 * ALL + RANK + shift).sum()])
            case "scan":
                return one, np.array([(ALL[: RANK + 1] + shift).sum()])
            case "exscan":
                return one, np.array([(ALL[:RANK] + shift).sum()])
        return one, np.array([(ALL + shift).sum()])


def timed(loop: Loop) -> int:
    """Nanoseconds of one call, without the barrier behind it."""
    taken = loop.once()
    COMM.Barrier()
    return taken


def measured_us(loop: Loop, budget_ns: float) -> list[float]:
    """Of a call alone, with its barrier, and in a row of calls, means over ranks and iterations, of
    which rank 0 says how many there are."""
    for _ in range(FIRST_CALLS):
        timed(loop)
    begin = time.perf_counter_ns()
    for _ in range(JUDGED_CALLS):
        timed(loop)
    one_ns = (time.perf_counter_ns() - begin) / JUDGED_CALLS
    counts = (
        int(min(budget_ns / 4 / one_ns, WARM_UP_MOST)),
        int(min(max(budget_ns / one_ns, JUDGED_CALLS), ITERATIONS_MOST)),
    )
    warm_up, iterations = COMM.bcast(counts)
    for _ in range(warm_up):
        timed(loop)
    begin = time.perf_counter_ns()
    own = sum(timed(loop) for _ in range(iterations))
    whole = time.perf_counter_ns() - begin
    begin = time.perf_counter_ns()
    for _ in range(iterations):
        loop.once()
    COMM.Barrier()
    row = time.perf_counter_ns() - begin
    return [COMM.allreduce(ns) / (1e3 * iterations * SIZE) for ns in (own, whole, row)]


def main() -> int:
    milliseconds, modes, operations, sizes = sys.argv[1:]
    if modes != "blocking":
        print(f"loops: no mode {modes} here", file=sys.stderr)
        return 2
    for operation in operations.split(","):
        for size in map(int, sizes.split(",")):
            loop = Loop(operation, max(size // 8, 1))
            times_us = measured_us(loop, 1e6 * float(milliseconds))
            right = loop.wrong == 0
            if not right:
                print(f"loops: rank {RANK}: wrong result of {operation}, {size} bytes",
                      file=sys.stderr)  # fmt: skip
            if not COMM.allreduce(right, MPI.LAND):
                return 1
            if RANK == 0:
                print("blocking", operation, size, *(f"{us:.3f}" for us in times_us), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
