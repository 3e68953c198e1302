# SPDX-License-Identifier: Apache-2.0
"""A rank's ends of the pipes, its clock and its samples; `bench/mpi/session.h` describes them."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SAMPLES_MAX = 4096
PR_SET_PDEATHSIG = 1
CALIBRATIONS, CALIBRATION_LOOPS = 8, 2000

now_ns = time.monotonic_ns


@dataclass
class Command:
    operation: str
    mode: str
    bytes: int
    root: int
    warm_up: int
    iterations: int
    start_ns: int
    window_ns: int
    work_ns: int
    polls: int


@dataclass
class Actions:
    """What is timed: `once`, or, with work, the others. `renew` comes before each iteration, with
    its number, and writes the inputs anew; `is_right` after it reads the whole result."""

    once: Callable[[], object]
    start: Callable[[], object] | None = None
    test: Callable[[], object] | None = None
    wait: Callable[[], object] | None = None
    end: Callable[[], object] | None = None  # Gives back what was made.
    renew: Callable[[int], object] = lambda _: None
    is_right: Callable[[], bool] = lambda: True


class UnsupportedError(Exception):
    """This library has no such operation or mode."""


def folder() -> Path:
    """The driver's; ends the process where there is none."""
    place = os.environ.get("CORYMB_PEER_FOLDER")
    if place is None:
        sys.exit("CORYMB_PEER_FOLDER is not set; `corymb bench peers` starts this program")
    return Path(place)


def die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def pin_if_asked(rank: int) -> None:
    """Binds to the rank's CPU in turn where the driver wants it and the launcher has not."""
    allowed = sorted(os.sched_getaffinity(0))
    if "CORYMB_PEER_PIN" in os.environ and len(allowed) > 1:
        os.sched_setaffinity(0, {allowed[rank % len(allowed)]})


def compute(loops: int) -> float:
    value = 1.0
    for _ in range(loops):
        value = value * 0.999 + 0.5
    return value


class Ends:
    """Says hello when it is made."""

    def __init__(self, place: Path, rank: int, ranks: int) -> None:
        self.rank, self.ranks = rank, ranks
        self._commands = (place / f"command.{rank}").open(encoding="ascii")
        self._replies = os.open(place / "reply", os.O_WRONLY | os.O_CLOEXEC)
        self._samples = np.memmap(
            place / "samples", np.int64, "r+", offset=rank * SAMPLES_MAX * 16,
            shape=(SAMPLES_MAX, 2),
        )  # fmt: skip
        self._yields = ranks > (os.cpu_count() or 1)
        self._loops_per_ns = 0.0
        self._say(f"hello {rank} {os.getpid()} {len(os.sched_getaffinity(0))}")

    def _say(self, text: str) -> None:
        os.write(self._replies, (text + "\n").encode())

    def next(self) -> Command | None:
        """The next command; None at the end."""
        words = self._commands.readline().split()
        if len(words) != 10:
            return None
        return Command(words[0], words[1], *map(int, words[2:]))

    def reply(self, word: str) -> None:
        self._say(f"done {self.rank} {word}")

    def measure(self, command: Command, actions: Actions) -> bool:
        """Does what the command says. False when an iteration had a wrong result."""
        step = self._step(command, actions)
        self._wait_until(command.start_ns)
        right = _stretch(actions, step, 0, command.warm_up)
        if command.window_ns == 0:
            begin = now_ns()
            right = _stretch(actions, step, command.warm_up, command.iterations) and right
            end = now_ns()
            # Writing and reading arrays takes Python longer than a short operation.
            _stretch(actions, lambda: None, command.warm_up, command.iterations)
            own_ns = now_ns() - end
            self._samples[0] = (begin, max(end - own_ns, begin + 1))
            return right
        first = command.start_ns + (command.warm_up + 1) * command.window_ns
        taken = []
        for i in range(command.iterations):
            actions.renew(command.warm_up + i)
            self._wait_until(first + i * command.window_ns)
            begin = now_ns()
            step()
            taken.append((begin, now_ns()))
            right = actions.is_right() and right
        self._samples[: len(taken)] = taken
        return right

    def _wait_until(self, moment: int) -> None:
        while now_ns() < moment:
            if self._yields:
                os.sched_yield()

    def _step(self, command: Command, actions: Actions) -> Callable[[], object]:
        start, test, wait = actions.start, actions.test, actions.wait
        alone = start is None or test is None or wait is None
        if command.work_ns == 0 or (alone and command.operation != "compute"):
            return actions.once
        if self._loops_per_ns == 0:
            self._calibrate()
        loops = int(command.work_ns * self._loops_per_ns)
        if command.operation == "compute":
            return lambda: compute(loops)
        assert start is not None
        assert test is not None
        assert wait is not None
        each = loops // (command.polls + 1)

        def step() -> None:
            start()
            for _ in range(command.polls):
                compute(each)
                test()
            compute(loops - each * command.polls)
            wait()

        return step

    def _calibrate(self) -> None:
        for _ in range(CALIBRATIONS):
            begin = now_ns()
            compute(CALIBRATION_LOOPS)
            rate = CALIBRATION_LOOPS / (now_ns() - begin + 1)
            self._loops_per_ns = max(self._loops_per_ns, rate)


def _stretch(actions: Actions, step: Callable[[], object], first: int, iterations: int) -> bool:
    """So many iterations, from the `first` of the command on; whether all results were right."""
    right = True
    for i in range(first, first + iterations):
        actions.renew(i)
        step()
        right = actions.is_right() and right
    return right


def serve(ends: Ends, perform: Callable[[Command], str]) -> None:
    """Answers commands until the driver has no more."""
    while (command := ends.next()) is not None:
        try:
            word = perform(command)
        except (UnsupportedError, AttributeError, NotImplementedError):
            word = "unsupported"
        except MemoryError:
            word = "memory"
        ends.reply(word)
