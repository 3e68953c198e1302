# SPDX-License-Identifier: Apache-2.0
"""Processes as ranks: started by multiprocessing, one pipe each for what comes out of it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import time
from collections.abc import Iterable, Iterator
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import Any

from corymb import _core
from corymb.run.obstacles import check_start, not_started, unsendable
from corymb.run.rank_process import BEGUN, Descriptor, SealedTask, live
from corymb.run.ranks import Failure, Task, raise_first
from corymb.run.report import Report, result_of

GRACE = 2.0
"""Seconds in which a rank may say what it knows of a failure, then again when it was asked to end.
Too short a time loses what it would have said; it delays the failure of ranks that do not look."""

ENDING = 30.0
"""Seconds in which a rank that has said how it failed may end: functions of `atexit`, log handlers.
Only one that hangs there needs them."""


@contextlib.contextmanager
def no_interrupt() -> Iterator[None]:
    """Children begin with SIGINT blocked, so that it finds them only where they expect it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Rank:
    """The process of a rank, as its caller has it."""

    def __init__(self, number: int, process: Any, output: Connection, is_child: bool) -> None:
        self.number = number
        self.process = process
        self.output = output
        self.has_begun = False
        self.has_ended = False
        """It has said how its function ended, or its process is gone."""
        self.end: int | None = None
        if is_child:  # Its pipes do not tell: what it has forked may hold them.
            with contextlib.suppress(OSError):
                self.end = os.pidfd_open(process.pid)

    def signs(self) -> list[Any]:
        """What becomes readable when there is something to know."""
        return [self.output, self.end if self.end is not None else self.process.sentinel]

    def take(self) -> tuple[Any, Failure | None]:
        """What is known now; sets `has_ended` when that is all."""
        try:
            while self.output.poll():
                message = self.output.recv_bytes()
                if message != BEGUN:
                    self.has_ended = True
                    return result_of(self.number, Report(*pickle.loads(message)))
                self.has_begun = True
        except (EOFError, OSError):
            pass
        else:
            if not connection.wait(self.signs()[1:], 0):
                return None, None
            if self.output.poll():  # It came just before the end.
                return self.take()
        self.has_ended = True
        return None, self.death()

    def death(self) -> Failure:
        self.process.join()
        who = f"rank {self.number} (pid {self.process.pid})"
        status = self.process.exitcode
        if status < 0:
            text = f"{who} was killed by signal {-status} ({signal.strsignal(-status)})"
        elif self.has_begun:
            text = f"{who} ended with status {status} before its function was done"
        else:
            text = (
                f"{who} ended with status {status} before it could begin; its standard error says "
                'why. A script that calls corymb.run needs if __name__ == "__main__":'
            )
        return Failure(self.number, text)

    def close(self) -> None:
        self.output.close()
        if self.end is not None:
            os.close(self.end)
        self.process.close()


class Crew:
    """The processes of one run."""

    def __init__(self, task: Task, n: int, start_method: str) -> None:
        self.results: dict[int, Any] = {}
        self.failures: list[Failure] = []
        self.ranks: list[Rank] = []
        context: Any = multiprocessing.get_context(start_method)
        check_start(task.fn, start_method)
        self.memory = Descriptor(_core.make_team_descriptor(n))
        os.set_inheritable(self.memory.number, False)
        try:
            for rank in range(n):
                self.start(context, task, rank, start_method)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            self.kill()
            raise unsendable(task, error) from error
        except OSError as error:
            started = len(self.ranks)
            self.kill()
            raise not_started(started, error) from error
        except BaseException:
            self.kill()
            raise

    def start(self, context: Any, task: Task, rank: int, start_method: str) -> None:
        reader, writer = context.Pipe(duplex=False)
        arguments = (writer, self.memory, rank, os.getpid(), start_method, SealedTask(task))
        process = context.Process(target=live, args=arguments, name=f"corymb rank {rank}")
        try:
            with no_interrupt():
                process.start()
        except BaseException:
            reader.close()
            raise
        finally:
            writer.close()
        self.ranks.append(Rank(rank, process, reader, start_method != "forkserver"))

    def watch(self, end: float = float("inf"), grace: float = GRACE) -> None:
        """Until all have said how they end, `end`, or `grace` seconds after a failure."""
        while time.monotonic() < end and (ranks := self.busy()):
            if self.failures:
                end = min(end, time.monotonic() + grace)
                grace = float("inf")
            signs = [sign for rank in ranks for sign in rank.signs()]
            connection.wait(signs, max(min(end - time.monotonic(), 3600.0), 0.0))
            for rank in ranks:
                result, failure = rank.take()
                if failure is not None:
                    self.failures.append(failure)
                elif rank.has_ended:
                    self.results[rank.number] = result

    def busy(self) -> list[Rank]:
        return [rank for rank in self.ranks if not rank.has_ended]

    def end(self) -> None:
        """Ends those that have not ended; who has said how he failed may go in order."""
        if self.failures or self.busy():
            for rank in self.busy():
                rank.process.terminate()
            self.watch(time.monotonic() + GRACE, float("inf"))
            for rank in self.busy():
                rank.process.kill()
            join((rank.process for rank in self.ranks), ENDING)
        else:
            join((rank.process for rank in self.ranks), None)

    def kill(self) -> None:
        """Leaves nothing behind."""
        for rank in self.ranks:
            if rank.process.is_alive():
                rank.process.kill()
        for rank in self.ranks:
            rank.process.join()
            rank.close()
        self.ranks.clear()
        if self.memory.number >= 0:
            os.close(self.memory.number)
            self.memory.number = -1


def join(processes: Iterable[Any], seconds: float | None) -> None:
    end = None if seconds is None else time.monotonic() + seconds
    for process in processes:
        process.join(None if end is None else max(end - time.monotonic(), 0.0))


def run_processes(task: Task, n: int, start_method: str) -> list[Any]:
    crew = Crew(task, n, start_method)
    try:
        try:
            crew.watch()
        finally:
            crew.end()
    finally:
        crew.kill()
    if crew.failures:
        raise_first(crew.failures)
    return [crew.results[rank] for rank in range(n)]
