# SPDX-License-Identifier: Apache-2.0
"""Alternates the contestants: every case in rounds, in each round everybody once, shuffled."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corymb.peers.contestant import Contestant
from corymb.peers.session import SAMPLES_MAX, PeerError, Session, Turn

OPERATIONS = (
    "barrier", "broadcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall",
    "reduce_scatter", "scan", "exscan",
)  # fmt: skip
MODES = ("blocking", "nonblocking", "persistent")
MEASURES = ("latency", "stream")
ROUNDS = 5
SLOT_MIN_S, SLOT_MAX_S = 0.001, 0.05
DEADLINE_S = 5.0
FAILURES_MAX = 2
WARM_UP = 10
Report = Callable[[float, str], None]


@dataclass
class Request:
    """What to measure. `cpus` is how many ranks run at once; more are oversubscribed."""

    ops: Sequence[str]
    ranks: Sequence[int] = (2,)
    sizes: Sequence[int] = (8, 1024, 65536, 1048576)
    modes: Sequence[str] = ("blocking",)
    seconds: float = 60.0
    cpus: int = 2
    seed: int = 1


@dataclass(frozen=True)
class Case:
    op: str
    mode: str
    ranks: int
    bytes: int


@dataclass
class Entry:
    """One contestant in one case."""

    contestant: Contestant
    slots: dict[str, list[float]] = field(default_factory=lambda: {m: [] for m in MEASURES})
    skipped: str | None = None
    estimate_ns: tuple[float, float] | None = None  # One of many, one alone; for the next turn.


class Crew:
    """The sessions of all contestants for one number of ranks, each started when first needed."""

    def __init__(self, ranks: int, pin: bool, stack: ExitStack) -> None:
        self._ranks, self._pin, self._stack = ranks, pin, stack
        self._sessions: dict[str, Session] = {}
        self._failures: dict[str, list[str]] = {}

    def session(self, contestant: Contestant) -> Session:
        name = contestant.name
        failures = self._failures.get(name, [])
        if len(failures) >= FAILURES_MAX:
            raise PeerError(f"left out after failing twice ({failures[-1]})")
        if name not in self._sessions:
            try:
                session = Session(contestant, self._ranks, self._pin)
            except PeerError as failure:
                self._failures.setdefault(name, []).append(str(failure))
                raise
            self._sessions[name] = self._stack.enter_context(session)
        return self._sessions[name]

    def run(self, contestant: Contestant, turn: Turn) -> Any:
        session = self.session(contestant)
        try:
            return session.run(turn, DEADLINE_S)
        except PeerError as failure:
            if str(failure) not in {"unsupported", "wrong result"}:
                self._failures.setdefault(contestant.name, []).append(str(failure))
                del self._sessions[contestant.name]
                session.close()
            raise


def measure(
    request: Request, contestants: Sequence[Contestant], report: Report
) -> list[dict[str, Any]]:
    """The rows of all cases, in the form of `corymb bench`. Takes about `request.seconds`; cases
    that have no time left say so."""
    cases = [
        Case(op, mode, ranks, size)
        for ranks in request.ranks
        for op in request.ops
        for mode in request.modes
        for size in ([0] if op == "barrier" else request.sizes)
    ]
    order = random.Random(request.seed)
    turns = max(1, len(cases) * len(contestants) * len(MEASURES) * ROUNDS)
    slot_s = min(SLOT_MAX_S, max(SLOT_MIN_S, 0.7 * request.seconds / turns))
    end = time.monotonic() + request.seconds
    rows: list[dict[str, Any]] = []
    done = 0
    for ranks in request.ranks:
        with ExitStack() as stack:
            crew = Crew(ranks, ranks <= request.cpus, stack)
            for case in [case for case in cases if case.ranks == ranks]:
                report(done / len(cases), f"{case.op} {case.bytes} B, {ranks} ranks")
                entries = [Entry(contestant) for contestant in contestants]
                _alternate(crew, case, entries, slot_s, end, order)
                rows += rows_of(case, entries, pinned=ranks <= request.cpus)
                done += 1
    return rows


def _alternate(
    crew: Crew, case: Case, entries: list[Entry], slot_s: float, end: float, order: random.Random
) -> None:
    for _ in range(ROUNDS):
        order.shuffle(entries)
        for entry in entries:
            if entry.skipped is not None:
                continue
            if time.monotonic() > end:
                if not all(entry.slots.values()):
                    entry.skipped = "no time left; raise --seconds"
                continue
            try:
                _slot(crew, case, entry, slot_s)
            except PeerError as failure:
                entry.skipped = str(failure)


def _slot(crew: Crew, case: Case, entry: Entry, slot_s: float) -> None:
    """A stretch of operations, then single ones that all ranks begin together."""

    def run(warm_up: int, iterations: int, window_ns: float = 0) -> Any:
        turn = Turn(case.op, case.mode, case.bytes, warm_up, iterations, int(window_ns))
        return crew.run(entry.contestant, turn)

    slot_ns = slot_s * 1e9
    if entry.estimate_ns is None:
        first = max(float(run(WARM_UP, 8)[0]), 20.0)
        alone = float(np.median(run(1, 16, 3 * first + 3000)))
        entry.estimate_ns = (first, alone)
    first, alone = entry.estimate_ns
    count = int(min(1e6, max(8, slot_ns / first)))
    stream = float(run(1, count)[0])
    window = 2 * max(alone, stream) + 2000
    count = int(min(SAMPLES_MAX, max(16, slot_ns / window)))
    latency = float(np.median(run(2, count, window)))
    entry.estimate_ns = (max(stream, 20.0), latency)
    entry.slots["latency"].append(latency)
    entry.slots["stream"].append(stream)


def label(op: str, mode: str, kind: str) -> str:
    """What a row and a curve are called: the operation, and what is not plain about it."""
    how = "" if mode == "blocking" else f", {mode}"
    return op + how + ("" if kind == "latency" else ", stream")


def rows_of(case: Case, entries: Sequence[Entry], pinned: bool) -> list[dict[str, Any]]:
    """One row a contestant and measure; `ratio` is to corymb in the same case."""
    rows: list[dict[str, Any]] = []
    for kind in MEASURES:
        own = [e.slots[kind] for e in entries if e.contestant.name == "corymb"]
        base = float(np.median(own[0])) if own and own[0] else None
        for entry in sorted(entries, key=lambda e: (e.contestant.family, e.contestant.name)):
            slots = entry.slots[kind] if entry.skipped is None else []
            middle = float(np.median(slots)) if slots else None
            quarters = np.percentile(slots, [25, 75]).tolist() if slots else [None, None]
            ratio = middle / base if middle is not None and base else None
            rows.append({
                "op": label(case.op, case.mode, kind), "contestant": entry.contestant.name,
                "family": entry.contestant.family, "ranks": case.ranks, "bytes": case.bytes,
                "pinned": pinned, "regime": "alone" if pinned else "oversubscribed",
                "median_ns": middle, "q25": quarters[0], "q75": quarters[1], "ratio": ratio,
                "cpu_ns": None, "skipped": None if slots else entry.skipped or "not measured",
                "mode": case.mode, "measure": kind,
            })  # fmt: skip
    return rows
