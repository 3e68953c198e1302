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


def case_of(operation: str, count: int) -> tuple[Callable[[], None], Callable[[], bool]]:
    """What is timed, and whether its result is right; parts of `count` numbers."""
    own = np.full(count, float(RANK))
    parts = np.repeat(100.0 * RANK + ALL, count)  # Part r is for rank r.
    one, every = np.empty(count), np.empty(SIZE * count)
    sums = {"scan": ALL[: RANK + 1].sum(), "exscan": ALL[:RANK].sum()}
    at_root = RANK == 0

    def holds(array: np.ndarray, value: object) -> Callable[[], bool]:
        return lambda: bool(np.all(array == value))

    def if_root(check: Callable[[], bool]) -> Callable[[], bool]:
        return check if at_root else lambda: True

    if operation == "broadcast":
        data = np.full(count, 7.0 if at_root else 0.0)
        return lambda: COMM.Bcast(data), holds(data, 7.0)
    cases: dict[str, tuple[Callable[[], None], Callable[[], bool]]] = {
        "barrier": (COMM.Barrier, lambda: True),
        "reduce": (lambda: COMM.Reduce(own, one), if_root(holds(one, ALL.sum()))),
        "allreduce": (lambda: COMM.Allreduce(own, one), holds(one, ALL.sum())),
        "gather": (lambda: COMM.Gather(own, every), if_root(holds(every, np.repeat(ALL, count)))),
        "scatter": (lambda: COMM.Scatter(parts, one), holds(one, RANK)),
        "allgather": (lambda: COMM.Allgather(own, every), holds(every, np.repeat(ALL, count))),
        "alltoall": (
            lambda: COMM.Alltoall(parts, every),
            holds(every, np.repeat(100.0 * ALL + RANK, count)),
        ),
        "reduce_scatter": (
            lambda: COMM.Reduce_scatter_block(parts, one),
            holds(one, (100.0 * ALL + RANK).sum()),
        ),
        "scan": (lambda: COMM.Scan(own, one), holds(one, sums["scan"])),
        "exscan": (
            lambda: COMM.Exscan(own, one),
            (lambda: True) if RANK == 0 else holds(one, sums["exscan"]),
        ),
    }
    return cases[operation]


def timed(once: Callable[[], None]) -> int:
    """Nanoseconds of one call, without the barrier behind it."""
    begin = time.perf_counter_ns()
    once()
    end = time.perf_counter_ns()
    COMM.Barrier()
    return end - begin


def measured_us(once: Callable[[], None], budget_ns: float) -> list[float]:
    """Of a call alone, with its barrier, and in a row of calls, means over ranks and iterations, of
    which rank 0 says how many there are."""
    for _ in range(FIRST_CALLS):
        timed(once)
    begin = time.perf_counter_ns()
    for _ in range(JUDGED_CALLS):
        timed(once)
    one_ns = (time.perf_counter_ns() - begin) / JUDGED_CALLS
    counts = (
        int(min(budget_ns / 4 / one_ns, WARM_UP_MOST)),
        int(min(max(budget_ns / one_ns, JUDGED_CALLS), ITERATIONS_MOST)),
    )
    warm_up, iterations = COMM.bcast(counts)
    for _ in range(warm_up):
        timed(once)
    begin = time.perf_counter_ns()
    own = sum(timed(once) for _ in range(iterations))
    whole = time.perf_counter_ns() - begin
    begin = time.perf_counter_ns()
    for _ in range(iterations):
        once()
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
            once, is_right = case_of(operation, max(size // 8, 1))
            times_us = measured_us(once, 1e6 * float(milliseconds))
            right = is_right()
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
