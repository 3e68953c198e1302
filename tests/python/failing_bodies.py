# SPDX-License-Identifier: Apache-2.0
"""What the ranks of test_run_failures.py do; other processes import it.

`failing_bodies.py METHOD FOLDER [sleep]` runs two ranks of which one fails, or that sleep.
"""

from __future__ import annotations

import atexit
import contextlib
import logging.handlers
import os
import signal
import sys
import threading
import time
from pathlib import Path

import corymb
from corymb import Team


class Odd(Exception):  # noqa: N818
    """Pickled, it cannot be unpickled: its constructor takes other arguments than it keeps."""

    def __init__(self, path: str, line: int) -> None:
        super().__init__(f"{path}:{line}")


class Holding(Exception):  # noqa: N818
    """It cannot be pickled."""

    def __init__(self) -> None:
        super().__init__("held")
        self.lock = threading.Lock()


class Mute(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise RuntimeError("no text")


class Locked:
    def __init__(self) -> None:
        self.lock = threading.Lock()


def fail(team: Team, error: Exception) -> None:
    if team.rank == 1:
        raise error from KeyError("the cause")
    team.Barrier()


def raise_odd(team: Team) -> None:
    fail(team, Odd("config.toml", 7))


def raise_lock(team: Team) -> None:
    fail(team, Holding())


def raise_mute(team: Team) -> None:
    fail(team, Mute())


def return_lock(team: Team) -> object:
    return Locked() if team.rank == 1 else None


def return_odd(team: Team) -> object:
    return Odd("config.toml", 7) if team.rank == 1 else None


def fork_and_go_on(team: Team, how: str) -> tuple[int, int]:
    pid = os.fork()
    if pid == 0:
        if how == "return":
            return 0, 0
        if how == "raise":
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115
            raise ValueError("in the child")
        sys.exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return team.allreduce(1), status


def die_with_a_child(team: Team) -> None:
    if team.rank == 1:
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            parent = os.getppid()
            while os.getppid() == parent:
                time.sleep(0.05)
            time.sleep(20)
            os._exit(0)
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    team.Barrier()


def busy(team: Team, folder: str) -> None:
    """Rank 1 hears of nothing when rank 0 fails."""
    if team.rank == 1:
        atexit.register(Path(folder, "ended").write_text, "in order")
    team.Barrier()
    if team.rank == 0:
        raise ValueError("no luck")
    time.sleep(600)


def write_and_fail(team: Team, folder: str) -> None:
    """All of it is in buffers when rank 0 fails."""
    file = logging.FileHandler(Path(folder, f"log{team.rank}"), delay=True)
    log = logging.getLogger("ranks")
    log.addHandler(logging.handlers.MemoryHandler(100, target=file))
    log.warning("kept")
    atexit.register(print, f"after{team.rank}", end="\n")
    print(f"before{team.rank}")
    team.Barrier()
    assert team.rank, "rank 0 fails"
    team.Barrier()


def sleep(team: Team, folder: str) -> None:
    Path(folder, f"pid{os.getpid()}.").touch()
    with contextlib.suppress(corymb.Error):
        time.sleep(600)


def main(method: str, folder: str, body: str = "write_and_fail") -> None:
    try:
        corymb.run(globals()[body], 2, (folder,), start_method=method)
    except corymb.RankError as error:
        print(f"rank{error.rank}")


if __name__ == "__main__":
    main(*sys.argv[1:])
