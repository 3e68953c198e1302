# SPDX-License-Identifier: Apache-2.0
"""What one contestant does in one turn: a stretch of operations, single ones that all ranks begin
together, and the same behind a computation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from corymb.peers.cases import KINDS, STYLES, Case
from corymb.peers.contestant import Contestant
from corymb.peers.session import SAMPLES_MAX, Turn

DEADLINE_S = 10.0
LONG_NS, VERY_LONG_NS = 1e6, 2e7  # Operations that take longer are done fewer times.
SHORTEST_NS = 20.0

# Runs a command of this contestant within a deadline in seconds; raises PeerError.
Run = Callable[[Turn, float], npt.NDArray[np.float64]]


@dataclass
class Overlap:
    """Nanoseconds of the parts of one overlap measurement."""

    pure: float
    work: float
    total: float

    @property
    def percent(self) -> float:
        """How much of the communication the computation hides. All of it: together they take as
        long as the computation alone. None: as long as one after the other."""
        return float(np.clip(100 * (1 - (self.total - self.work) / self.pure), 0, 100))


@dataclass
class Entry:
    """One contestant in one case: a figure a turn."""

    contestant: Contestant
    turns: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    overlap: dict[str, list[Overlap]] = field(default_factory=lambda: {s: [] for s in STYLES})
    skipped: str | None = None
    estimate_ns: tuple[float, float] | None = None  # One of many, one alone; for the next turn.
    spent_s: float = 0

    @property
    def is_measured(self) -> bool:
        return self.skipped is None and all(self.turns.values())


@dataclass
class Clock:
    """Times one case of one contestant by commands of about `slot_s` each."""

    case: Case
    run: Run
    slot_s: float

    def stretch(self, warm_up: int, iterations: int, estimate: float = 0) -> float:
        turn = Turn(self.case.op, self.case.mode, self.case.bytes, warm_up, iterations)
        mean = float(self.run(turn, self._deadline((warm_up + iterations) * estimate))[0])
        return max(mean / self._messages, SHORTEST_NS)

    def single(
        self, warm_up: int, iterations: int, estimate: float, work: float = 0, polls: int = 0,
        op: str | None = None,
    ) -> float:  # fmt: skip
        """The median of operations that begin at agreed moments, with a pause between them."""
        rest = 1.25 if estimate > LONG_NS else 2
        window = rest * estimate * self._messages + 2000
        turn = Turn(
            op or self.case.op, self.case.mode, self.case.bytes, warm_up, iterations, int(window),
            int(work), polls,
        )  # fmt: skip
        taken = self.run(turn, self._deadline((warm_up + iterations + 1) * window))
        return max(float(np.median(taken)) / self._messages, SHORTEST_NS)

    def iterations(self, each: float, least: int, most: int) -> int:
        least = 2 if each > VERY_LONG_NS else 3 if each > LONG_NS else least
        return int(min(most, max(least, self.slot_s * 1e9 / (each * self._messages))))

    @property
    def _messages(self) -> int:
        return 2 if self.case.op == "pingpong" else 1  # There and back.

    @staticmethod
    def _deadline(expected_ns: float) -> float:
        return DEADLINE_S + 10e-9 * expected_ns


def take_turn(clock: Clock, entry: Entry, with_overlap: bool) -> None:
    """Adds a figure of each kind to the entry; raises PeerError."""
    if entry.estimate_ns is None:
        entry.estimate_ns = _estimate(clock)
    first, alone = entry.estimate_ns
    warm_up = 0 if first > LONG_NS else 1
    rate = clock.stretch(warm_up, clock.iterations(first, 8, 1_000_000), first)
    longest = max(alone, rate)
    latency = clock.single(warm_up, clock.iterations(2 * longest, 16, SAMPLES_MAX), longest)
    entry.estimate_ns = (rate, latency)
    if with_overlap:
        found = _overlaps(clock, latency)
        for style, overlap in found.items():
            entry.overlap[style].append(overlap)
    entry.turns["latency"].append(latency)
    entry.turns["rate"].append(rate)


def _estimate(clock: Clock) -> tuple[float, float]:
    """One of many and one alone; for long ones the first impression has to do."""
    first = clock.stretch(1, 1)
    if first > LONG_NS:
        return first, first
    first = clock.stretch(8, 8, first)
    return first, clock.single(1, clock.iterations(first, 16, 16), 1.5 * first)


def _overlaps(clock: Clock, pure: float) -> dict[str, Overlap]:
    """As much computation as the operation takes alone, then both together in each style."""
    together = 2.2 * pure
    count = clock.iterations(2 * together, 16, SAMPLES_MAX)
    work = clock.single(1, count, pure, pure, op="compute")
    return {
        style: Overlap(pure, work, clock.single(1, count, together, pure, polls))
        for style, polls in STYLES.items()
    }


def time_copy(run: Run, size: int, slot_s: float) -> float:
    """Nanoseconds in which each rank copies `size` bytes, all at the same time."""
    clock = Clock(Case("copy", "blocking", 0, size), run, slot_s)
    first = clock.stretch(1, 1)
    return clock.stretch(1, clock.iterations(first, 8, 1_000_000), first)
