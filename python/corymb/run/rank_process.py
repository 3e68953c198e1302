# SPDX-License-Identifier: Apache-2.0
"""The life of a process that is a rank of `corymb.run`.

It ends as any process does, also when its function fails: output is flushed, functions of `atexit`
run, log handlers are closed. Its report leaves before that, so that the other ranks and the caller
know at once; the caller raises only when the process has ended.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import signal
import sys
from multiprocessing import reduction
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any

from corymb import _core
from corymb.errors import Error
from corymb.run.ranks import Asked, Task, describe
from corymb.run.report import Report, report_failure, report_result
from corymb.team import Team, attach

BEGUN = b""
"""The first message of a rank: its process has come as far as this module."""


class Descriptor:
    """A descriptor that a child process gets, however it is started."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __getstate__(self) -> Any:
        return reduction.DupFd(self.number)

    def __setstate__(self, duplicate: Any) -> None:
        self.number = duplicate.detach()


class SealedTask:
    """A task that is unpickled by `open`, so that the rank can report what that raises."""

    def __init__(self, task: Task) -> None:
        self.task: Task | None = task
        self.data = b""

    def __getstate__(self) -> bytes:
        return bytes(reduction.ForkingPickler.dumps(self.task))

    def __setstate__(self, data: bytes) -> None:
        self.task, self.data = None, data

    def open(self) -> Task:
        return self.task if self.task is not None else pickle.loads(self.data)


def asked_to_end(number: int, frame: FrameType | None) -> None:
    raise Asked(128 + number)


def begin(launcher: int, start_method: str) -> None:
    """Ends with its caller; SIGTERM and Ctrl-C end it in order."""
    if start_method == "forkserver":
        _core.end_with_process(launcher)
    else:
        _core.end_with_parent(launcher)
    if start_method == "fork":
        atexit._clear()  # Those are the caller's.
        if "logging" in sys.modules:
            atexit.register(sys.modules["logging"].shutdown)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, asked_to_end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


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
        return attach(
            patience=task.patience,
            deadline=task.deadline,
            reproducible=task.reproducible,
            levels=task.levels,
            objective=task.objective,
        )
    finally:
        for name in settings:
            del os.environ[name]


def live(
    output: Connection,
    memory: Descriptor,
    rank: int,
    launcher: int,
    start_method: str,
    sealed: SealedTask,
) -> None:
    """The life of a rank's process."""
    own = os.getpid()
    team: Team | None = None
    step = "cannot get the function or its arguments: "
    try:
        begin(launcher, start_method)
        output.send_bytes(BEGUN)
        task = sealed.open()
        step = ""
        team = join_team(memory, rank, launcher, task)
        result = task.on(team)
        report = report_result(rank, result) if os.getpid() == own else None
    except BaseException as error:
        if os.getpid() != own:  # A process that the rank has forked ends as it wants to.
            raise
        report = report_failed(rank, error, step, team)
    if report is not None:
        end(output, report, start_method)


def report_failed(rank: int, error: BaseException, step: str, team: Team | None) -> Report:
    hold_signals()
    if team is not None:
        with contextlib.suppress(Error):
            team.abandon(describe(error))
    return report_failure(rank, error, step)


def hold_signals() -> None:
    """What ends a rank does not disturb it at its end."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])


def end(output: Connection, report: Report, start_method: str) -> None:
    hold_signals()
    output.send_bytes(report.to_bytes())
    output.close()
    if start_method != "spawn":  # multiprocessing leaves that out.
        atexit._run_exitfuncs()
    if report.failure:
        sys.exit(1)
