# SPDX-License-Identifier: Apache-2.0
"""The running ranks of one contestant: pipes to each, their samples, and their end.

`bench/mpi/session.h` describes the folder and the words that go through the pipes.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from corymb.peers.contestant import Contestant

SAMPLES_MAX = 4096
START_TIMEOUT_S = 30.0
QUIT_TIMEOUT_S = 5.0
LEAD_NS = 1_000_000  # From writing the commands to the agreed start, and more for each rank.
LEAD_NS_OF_RANK = 200_000


REFUSALS = {"wrong": "wrong result", "unsupported": "unsupported", "memory": "no memory"}


class PeerError(Exception):
    """This contestant cannot go on; the text says why."""


class RefusalError(PeerError):
    """It can, but has no figures for this."""


@dataclass(frozen=True)
class Turn:
    """What the ranks do once. A window of 0 means one operation right after the other."""

    operation: str
    mode: str
    bytes: int
    warm_up: int
    iterations: int
    window_ns: int = 0
    work_ns: int = 0  # To compute between start and wait, with `polls` tests.
    polls: int = 0
    root: int = 0


class Session:
    """Starts the ranks; use it as a context, which ends them whatever happens."""

    def __init__(self, contestant: Contestant, ranks: int, pin: bool) -> None:
        self.contestant = contestant
        self.ranks = ranks
        self.pids: list[int] = []
        shm = Path("/dev/shm")
        base = shm if os.access(shm, os.W_OK) else None
        self.folder = Path(tempfile.mkdtemp(prefix="corymb-peers-", dir=base))
        self._pipes: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._text = b""
        self._segments: set[str] = set()
        try:
            self._start(pin)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def _start(self, pin: bool) -> None:
        for name in [f"command.{rank}" for rank in range(self.ranks)] + ["reply"]:
            os.mkfifo(self.folder / name, 0o600)
            self._pipes.append(os.open(self.folder / name, os.O_RDWR | os.O_NONBLOCK))
        self._samples: npt.NDArray[np.int64] = np.memmap(
            self.folder / "samples", np.int64, "w+", shape=(self.ranks, SAMPLES_MAX, 2)
        )
        command = self.contestant.command(self.ranks, pin, self.folder)
        self._log = (self.folder / "log").open("wb")
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=self._log, stderr=subprocess.STDOUT,
                env=self.contestant.environment(pin, self.folder), start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise PeerError(f"cannot start {command[0]}: {error.strerror}") from None
        hello = self._replies("hello", START_TIMEOUT_S)
        self.pids = sorted({int(words[0]) for words in hello.values()})
        self._note_segments()
        self.is_bound = all(words[1:] == ["1"] for words in hello.values())

    def run(self, turn: Turn, timeout_s: float) -> npt.NDArray[np.float64]:
        """Nanoseconds of each iteration, from the start of the last rank to the end of the last
        one; without a window one number, the mean. Raises PeerError."""
        start = time.monotonic_ns() + LEAD_NS + self.ranks * LEAD_NS_OF_RANK
        line = (
            f"{turn.operation} {turn.mode} {turn.bytes} {turn.root} {turn.warm_up} "
            f"{turn.iterations} {start} {turn.window_ns} {turn.work_ns} {turn.polls}\n"
        )
        for pipe in self._pipes[: self.ranks]:
            os.write(pipe, line.encode())
        words = {reply[0] for reply in self._replies("done", timeout_s).values()}
        if words != {"ok"}:
            raise RefusalError(REFUSALS.get(sorted(words - {"ok"})[0], "an unknown answer"))
        count = turn.iterations if turn.window_ns else 1
        taken = self._samples[:, :count, :]
        length = taken[:, :, 1].max(axis=0) - taken[:, :, 0].max(axis=0)
        each: npt.NDArray[np.float64] = np.maximum(length, 0) / (
            1 if turn.window_ns else turn.iterations
        )
        return each

    def _replies(self, kind: str, timeout_s: float) -> dict[int, list[str]]:
        """One line of this kind from each rank."""
        end = time.monotonic() + timeout_s
        found: dict[int, list[str]] = {}
        while len(found) < self.ranks:
            left = end - time.monotonic()
            if left <= 0:
                raise PeerError(f"no answer within {timeout_s:.0f} s")
            if self._process is not None and self._process.poll() is not None:
                raise PeerError(self._last_words())
            if not select.select([self._pipes[-1]], [], [], min(left, 0.1))[0]:
                continue
            self._text += os.read(self._pipes[-1], 65536)
            *lines, self._text = self._text.split(b"\n")
            for line in lines:
                words = line.decode(errors="replace").split()
                if len(words) >= 3 and words[0] == kind and words[1].isdecimal():
                    found[int(words[1])] = words[2:]
        return found

    def _last_words(self) -> str:
        assert self._process is not None
        text = (self.folder / "log").read_text(encoding="utf-8", errors="replace")
        said = [line.strip() for line in text.splitlines() if line.strip(" -\n")]
        return f"ended with status {self._process.returncode}" + (f": {said[0]}" if said else "")

    def close(self) -> None:
        """Asks the ranks to end, makes sure, and removes the folder. Idempotent."""
        for pipe in self._pipes[: self.ranks]:
            with suppress(OSError):
                os.write(pipe, b"quit\n")
        if self._process is not None:
            try:
                self._process.wait(QUIT_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._kill()
            except BaseException:
                self._kill()
                raise
            finally:
                self._forget()
        else:
            self._forget()

    def _note_segments(self) -> None:
        """Shared memory with names of its own, which a library that is killed leaves behind."""
        for pid in self.pids:
            with suppress(OSError):
                for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines():
                    name = line.partition("/dev/shm/")[2]
                    own = name.startswith(self.folder.name)
                    if name and not own and not name.endswith(" (deleted)"):
                        self._segments.add(f"/dev/shm/{name}")

    def _kill(self) -> None:
        assert self._process is not None
        self._note_segments()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        # Ranks die with their launcher (session.h); those that outlive it for a moment are ours.
        for pid in self.pids:
            with suppress(OSError):
                if f"{self.folder}".encode() in Path(f"/proc/{pid}/environ").read_bytes():
                    os.kill(pid, signal.SIGKILL)

    def _forget(self) -> None:
        for pipe in self._pipes:
            os.close(pipe)
        self._pipes = []
        self._process = None
        if hasattr(self, "_log"):
            self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in self._segments:
            with suppress(OSError):
                os.unlink(name)
