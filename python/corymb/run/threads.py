# SPDX-License-Identifier: Apache-2.0
"""Threads as ranks."""

from __future__ import annotations

import os
import threading
from typing import Any

from corymb import _core
from corymb.run.limits import cannot_start
from corymb.run.ranks import Failure, Task, failure_of, raise_first
from corymb.team import Team, describe


def start_all(team: _core.ThreadTeam, threads: list[threading.Thread]) -> None:
    """Starts all of them, or raises, and then none is left."""
    for rank, thread in enumerate(threads, 1):
        try:
            thread.start()
        except BaseException as error:
            team.abandon(rank, describe(error))
            for started in threads[: rank - 1]:
                started.join()
            if isinstance(error, (RuntimeError, OSError, MemoryError)):
                raise cannot_start("thread", rank, len(threads) + 1, error) from error
            raise


def run_threads(task: Task, n: int) -> list[Any]:
    """Rank 0 is the calling thread, so that Ctrl-C reaches it."""
    team = _core.ThreadTeam(n, task.deadline, task.reproducible, task.levels, task.objective)
    results: list[Any] = [None] * n
    failures: list[Failure] = []
    process = os.getpid()

    def live(rank: int) -> None:
        handle = Team(team.join(rank))
        try:
            results[rank] = task.on(handle)
        except BaseException as error:
            if os.getpid() != process:  # One that the rank has forked: it ends as it wants to.
                raise
            failures.append(failure_of(rank, error))
            team.abandon(rank, describe(error))
            handle.Free()  # The traceback holds it, and others may shrink the team.

    others = [threading.Thread(target=live, args=(rank,)) for rank in range(1, n)]
    start_all(team, others)
    live(0)
    for thread in others:
        try:
            thread.join()
        except KeyboardInterrupt as error:
            failures.append(failure_of(0, error))
            team.abandon(0, describe(error))
            thread.join()
    if failures:
        raise_first(failures)
    return results
