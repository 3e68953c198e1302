# SPDX-License-Identifier: Apache-2.0
"""Processes as ranks: started by multiprocessing, one pipe each for what comes out of it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Iterator
from multiprocessing import connection, reduction
from multiprocessing.connection import Connection
from typing import Any

from corymb import _core
from corymb.errors import RemoteTraceback
from corymb.run.ranks import Failure, Task, failure_of, raise_first
from corymb.team import Team, attach, describe

GRACE = 2.0
"""Seconds in which the others may say what they know of a failure."""


class Descriptor:
    """A descriptor that a child process gets, however it is started."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __getstate__(self) -> Any:
        return reduction.DupFd(self.number)

    def __setstate__(self, duplicate: Any) -> None:
        self.number = duplicate.detach()


@contextlib.contextmanager
def no_interrupt() -> Iterator[None]:
    """Children begin with SIGINT blocked, so that it finds them only where they expect it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def join_team(memory: Descriptor, rank: int, launcher: int, task: Task) -> Team:
    """Attaches as the child of a launcher does; what this process starts shall not."""
    settings = {
        "CORYMB_TEAM": memory.number,
        "CORYMB_RANKS_HERE": 1,
        "CORYMB_FIRST_RANK": rank,
        "CORYMB_LAUNCHER": launcher,
    }
    os.environ.update({name: str(value) for name, value in settings.items()})
    try:
        return attach(deadline=task.deadline, reproducible=task.reproducible)
    finally:
        for name in settings:
            del os.environ[name]


def live(
    output: Connection, memory: Descriptor, rank: int, launcher: int, own_child: bool, task: Task
) -> None:
    """The life of a rank's process."""
    team: Team | None = None
    try:
        if own_child:
            _core.end_with_parent(launcher)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        team = join_team(memory, rank, launcher, task)
        output.send((task.on(team), None, ""))
    except BaseException as error:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        text = traceback.format_exc()
        try:
            output.send((None, error, text))
        except Exception:  # It cannot be pickled.
            output.send((None, RuntimeError(describe(error)), text))
        if team is not None:
            team.abandon(describe(error))
        os._exit(1)


class Crew:
    """The processes of one run."""

    def __init__(self, task: Task, n: int, start_method: str) -> None:
        self.results: dict[int, Any] = {}
        self.failures: list[Failure] = []
        self.processes: list[Any] = []
        self.pipes: list[Connection] = []
        context: Any = multiprocessing.get_context(start_method)
        self.memory = Descriptor(_core.make_team_descriptor(n))
        os.set_inheritable(self.memory.number, False)
        try:
            for rank in range(n):
                self.start(context, task, rank, start_method != "forkserver")
        except BaseException:
            self.end()
            raise

    def start(self, context: Any, task: Task, rank: int, own_child: bool) -> None:
        reader, writer = context.Pipe(duplex=False)
        self.pipes.append(reader)
        arguments = (writer, self.memory, rank, os.getpid(), own_child, task)
        process = context.Process(target=live, args=arguments, name=f"corymb rank {rank}")
        with no_interrupt():
            process.start()
        self.processes.append(process)
        writer.close()

    def watch(self) -> None:
        """Until all have said how they end, or the grace of a failure is over."""
        end = float("inf")
        ranks = set(range(len(self.processes)))
        while ranks and time.monotonic() < end:
            rank_of: dict[Any, int] = {self.pipes[rank]: rank for rank in ranks}
            limit = min(end - time.monotonic(), 3600.0)
            for pipe in connection.wait(list(rank_of), max(limit, 0.0)):
                ranks.discard(rank_of[pipe])
                self.read(rank_of[pipe])
            if self.failures:
                end = min(end, time.monotonic() + GRACE)

    def read(self, rank: int) -> None:
        """Takes what a rank has sent; the pipe ends with its process."""
        try:
            result, error, text = self.pipes[rank].recv()
        except EOFError:
            self.failures.append(self.death_of(rank))
        except Exception as error:  # The result cannot be unpickled here.
            self.failures.append(failure_of(rank, error))
        else:
            if error is None:
                self.results[rank] = result
                return
            error.__cause__ = RemoteTraceback(f"rank {rank}:\n{text}")
            self.failures.append(failure_of(rank, error))

    def death_of(self, rank: int) -> Failure:
        process = self.processes[rank]
        process.join()
        who = f"rank {rank} (pid {process.pid})"
        if process.exitcode < 0:
            name = signal.strsignal(-process.exitcode)
            return Failure(rank, f"{who} was killed by signal {-process.exitcode} ({name})")
        return Failure(
            rank, f"{who} ended with status {process.exitcode} before its function was done"
        )

    def end(self) -> None:
        """Leaves nothing behind."""
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        until = time.monotonic() + GRACE
        for process in self.processes:
            process.join(max(until - time.monotonic(), 0.0))
            if process.is_alive():
                process.kill()
                process.join()
            process.close()
        for pipe in self.pipes:
            pipe.close()
        os.close(self.memory.number)


def run_processes(task: Task, n: int, start_method: str) -> list[Any]:
    crew = Crew(task, n, start_method)
    try:
        crew.watch()
        if not crew.failures:
            for process in crew.processes:
                process.join()
    finally:
        crew.end()
    if crew.failures:
        raise_first(crew.failures)
    return [crew.results[rank] for rank in range(n)]
