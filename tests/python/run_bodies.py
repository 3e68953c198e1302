# SPDX-License-Identifier: Apache-2.0
"""What the ranks of tests with processes do; spawned processes import it."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import sys
import time
from array import array
from pathlib import Path
from typing import Any

import numpy as np
from thread_ranks import in_form

import corymb
from corymb import Op, Team


def total(team: Team, factor: int, *, plus: int = 0) -> tuple[int, int, int]:
    """Sums over messages of all paths: a line, cells, and copies out of the other's memory."""
    for count in (1, 1000, 300_000):
        data, out = array("q", [team.rank + 1] * count), array("q", [0] * count)
        team.Allreduce(data, out)
        assert out == array("q", [team.size * (team.size + 1) // 2] * count)
        team.Iallreduce(data, out).Wait()
        after = (team.rank + 1) % team.size
        team.Sendrecv(data, after, recvbuf=out, source=(team.rank - 1) % team.size)
        assert out[0] == (team.rank - 1) % team.size + 1
    return os.getpid(), team.rank, team.allreduce(team.rank) * factor + plus


def sum_of_unlike(team: Team) -> float:
    out = array("d", [0.0])
    team.Allreduce(array("d", [(1e16, 1.5, -1e16, 1.25, 3.5)[team.rank]]), out)
    return out[0]


def gcds(inbuf: memoryview, inoutbuf: memoryview, datatype: object) -> None:
    for i, value in enumerate(inbuf):
        inoutbuf[i] = math.gcd(value, inoutbuf[i])


def reduce_by_own_operator(team: Team) -> int:
    out = array("q", [0])
    team.Allreduce(array("q", [6 * (team.rank + 2)]), out, Op.Create(gcds, commute=True))
    return out[0]


def affine(inbuf: memoryview, inoutbuf: memoryview, datatype: object) -> None:
    """The first element is the factor of all others, so that the vector must come whole."""
    left, right = np.frombuffer(inbuf, "u8"), np.frombuffer(inoutbuf, "u8")
    right[1:] = left[1:] * right[0] + right[1:]
    right[0] *= left[0]


def affine_of(rank: int, count: int) -> Any:
    own = np.arange(count, dtype="u8") + np.uint64(7 * rank)
    own[0] = rank + 2
    return own


def affine_up_to(rank: int, count: int) -> Any:
    combined = affine_of(0, count)
    for other in range(1, rank + 1):
        both = affine_of(other, count)
        affine(memoryview(combined), memoryview(both), None)
        combined = both
    return combined


def whole_vectors(team: Team, form: str = "blocking") -> None:
    op = Op.Create(affine)
    for count in (1, 6, 1500, 30_000):
        out = np.zeros(count, "u8")
        in_form(team, form, "Allreduce", affine_of(team.rank, count), out, op)
        assert (out == affine_up_to(team.size - 1, count)).all()
        in_form(team, form, "Scan", affine_of(team.rank, count), out, op)
        assert (out == affine_up_to(team.rank, count)).all()
        whole = affine_up_to(team.size - 1, count * team.size)
        mine = affine_of(team.rank, count * team.size)
        in_form(team, form, "Reduce_scatter_block", mine, out, op)
        assert (out == whole.reshape(team.size, -1)[team.rank]).all()


def unlucky(team: Team) -> None:
    if team.rank == 1:
        raise ValueError("no luck")
    team.Barrier()


def killed(team: Team) -> None:
    if team.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    team.Barrier()


def leaving(team: Team) -> None:
    if team.rank == 0:
        os._exit(3)
    team.Barrier()


def unpicklable(team: Team) -> object:
    team.Barrier()
    return lambda: 0


def stubborn(team: Team) -> None:
    """Rank 1 does not listen to anything when rank 0 fails."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    team.Barrier()
    if team.rank == 0:
        raise ValueError("no luck")
    time.sleep(600)


def survivors(team: Team) -> int:
    if team.rank == 1:
        team.abandon("tired")
        return -1
    with contextlib.suppress(corymb.Error):
        while True:
            team.Barrier()
    return int(team.shrink().allreduce(team.rank))


def blocked(team: Team, ready: str) -> None:
    """Rank 0 waits for the others, who do not come."""
    Path(ready, str(team.rank)).write_text(f"{os.getpid()}.")
    if team.rank == 0:
        team.Barrier()
    time.sleep(600)


def main() -> None:
    """`run_bodies.py FOLDER [threads]`: says which exception ends a blocked run."""
    try:
        if len(sys.argv) > 2:
            corymb.run(wait_in_thread, 2, (sys.argv[1],), threads=True)
        else:
            corymb.run(blocked, 2, (sys.argv[1],))
    except KeyboardInterrupt:
        print("interrupted")


def wait_in_thread(team: Team, ready: str) -> None:
    """Both wait in the library, each for a message of the other, which does not come."""
    Path(ready, str(team.rank)).write_text(f"{os.getpid()}.")
    team.Recv(bytearray(1), 1 - team.rank)


if __name__ == "__main__":
    main()
