# SPDX-License-Identifier: Apache-2.0
"""Alternates the contestants: every case in rounds, in each round everybody once, shuffled."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from corymb.peers import rows
from corymb.peers.cases import KINDS, LARGE, STYLES, Case, Request, most_memory
from corymb.peers.contestant import Contestant
from corymb.peers.session import PeerError, RefusalError, Session, Turn
from corymb.peers.turn import Clock, Entry, take_turn, time_copy

ROUNDS = 5
SLOT_MIN_S, SLOT_MAX_S = 0.001, 0.05
FAILURES_OF_CALL, FAILURES_MAX = 2, 6
OVERRUN = 1.5  # Of the time that was asked for, rather than leave cases out.
NO_TIME = "no time left; raise --seconds"
Report = Callable[[float, str], None]


@dataclass
class Results:
    """All rows, in the order of the cases; and what a reader of them must know."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    overlap: list[dict[str, Any]] = field(default_factory=list)
    bandwidth: list[dict[str, Any]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


class Crew:
    """The sessions of all contestants for one number of ranks, each started when first needed."""

    def __init__(self, ranks: int, pin: bool, stack: ExitStack) -> None:
        self._ranks, self._pin, self._stack = ranks, pin, stack
        self._sessions: dict[str, Session] = {}
        self._failures: dict[str, list[tuple[str, str]]] = {}

    def session(self, contestant: Contestant, call: str) -> Session:
        """For a call, which is an operation in a mode; who failed in it twice is left out of it."""
        name = contestant.name
        failures = self._failures.get(name, [])
        of_call = [text for failed, text in failures if failed == call]
        if len(failures) < FAILURES_MAX and len(of_call) >= FAILURES_OF_CALL:
            raise PeerError(f"left out after failing twice ({of_call[-1]})")
        if len(failures) >= FAILURES_MAX:
            raise PeerError(f"left out of everything after failing ({failures[-1][1]})")
        if name not in self._sessions:
            try:
                session = Session(contestant, self._ranks, self._pin)
            except PeerError as failure:
                # Whoever cannot be started now will not be later.
                self._failures[name] = [(call, str(failure))] * FAILURES_MAX
                raise
            self._sessions[name] = self._stack.enter_context(session)
        return self._sessions[name]

    def run(self, contestant: Contestant, turn: Turn, deadline_s: float) -> npt.NDArray[Any]:
        call = f"{turn.operation} {turn.mode}"
        session = self.session(contestant, call)
        try:
            return session.run(turn, deadline_s)
        except RefusalError:
            raise
        except PeerError as failure:
            self._failures.setdefault(contestant.name, []).append((call, str(failure)))
            del self._sessions[contestant.name]
            session.close()
            raise

    def unbound(self) -> list[str]:
        """Those that run on several CPUs although they were to be bound."""
        return [name for name, session in self._sessions.items() if not session.is_bound]


@dataclass
class Budget:
    """Shares the time out among the cases; starting ranks does not count."""

    left_s: float
    more_s: float  # What may be taken besides.
    weight: float  # Of all cases that are left.
    begin: float = 0

    def count(self, now: float) -> None:
        self.left_s -= now - self.begin
        self.begin = now

    def next(self, case: Case) -> tuple[float, float]:
        """When this case should end, and when all must."""
        now = time.monotonic()
        self.count(now)
        mine = max(0.0, self.left_s) * case.weight / self.weight
        self.weight -= case.weight
        return now + mine, now + self.left_s + self.more_s


def measure(request: Request, contestants: Sequence[Contestant], report: Report) -> Results:
    """Takes about `request.seconds`, besides starting the ranks. Cases for which nothing is left of
    `OVERRUN` times that say so."""
    results = Results()
    cases = request.cases()
    order = random.Random(request.seed)
    more_s = (OVERRUN - 1) * request.seconds
    budget = Budget(request.seconds, more_s, sum(case.weight for case in cases))
    for ranks in request.ranks:
        pin = request.is_pinned(ranks)
        chosen = [one for one in contestants if one.takes_part(pin)]
        with ExitStack() as stack:
            crew = Crew(ranks, pin, stack)
            for one in chosen:
                report(cases.index(_first(cases, ranks)) / len(cases), f"starting {one.name}")
                with suppress(PeerError):
                    crew.session(one, "start")
            if pin and crew.unbound():
                results.remarks.append(f"not bound to CPUs: {', '.join(crew.unbound())}")
            bench = Bench(request, crew, results, order)
            budget.begin = time.monotonic()
            for done, case in enumerate(cases):
                if case.ranks == ranks:
                    size = "" if case.bytes == 0 else f" {case.bytes} B"
                    report(done / len(cases), f"{case.op}{size}, {case.mode}, {ranks} ranks")
                    bench.measure(case, [Entry(one) for one in chosen], *budget.next(case))
            budget.count(time.monotonic())
    return results


def _first(cases: Sequence[Case], ranks: int) -> Case:
    return next(case for case in cases if case.ranks == ranks)


class Bench:
    """Measures one case after the other with one crew."""

    def __init__(
        self, request: Request, crew: Crew, results: Results, order: random.Random
    ) -> None:
        self._request, self._crew, self._results, self._order = request, crew, results, order

    def measure(self, case: Case, entries: list[Entry], end: float, last: float) -> None:
        """Until about `end`, at least one round; but no turn begins after `last`."""
        mine = max(0.0, end - time.monotonic())
        copies: list[float] = []
        with_overlap = self._request.overlap and case.has_overlap
        if case.memory > most_memory():
            for entry in entries:
                entry.skipped = f"needs {case.memory // 2**20} MiB of buffers"
        else:
            commands = len(KINDS) + (1 + len(STYLES) if with_overlap else 0)
            slot_s = 0.5 * mine / max(1, ROUNDS * len(entries) * commands)
            slot_s = min(SLOT_MAX_S, max(SLOT_MIN_S, slot_s))
            most_s = mine / max(1, len(entries))
            for round_ in range(ROUNDS):
                # The slow have fewer rounds, so that the fast have all of theirs.
                able = [entry for entry in entries if round_ == 0 or entry.spent_s < most_s]
                if not able:
                    break
                self._round(case, able, slot_s, last, with_overlap)
                if case.bytes >= LARGE:
                    copies += self._copy(case, entries, slot_s)
        pinned = self._request.is_pinned(case.ranks)
        copy_ns = rows.bandwidth(self._results.bandwidth, case, copies, pinned)
        self._results.rows += rows.rows_of(case, entries, pinned, copy_ns)
        if with_overlap:
            self._results.overlap += rows.overlap_of(case, entries, pinned)

    def _round(
        self, case: Case, entries: list[Entry], slot_s: float, last: float, with_overlap: bool
    ) -> None:
        self._order.shuffle(entries)
        for entry in entries:
            if entry.skipped is not None:
                continue
            begin = time.monotonic()
            if begin > last:
                if not entry.is_measured:
                    entry.skipped = NO_TIME
                continue
            try:
                take_turn(self._clock(case, entry, slot_s), entry, with_overlap)
            except PeerError as failure:
                entry.skipped = str(failure)
            entry.spent_s += time.monotonic() - begin

    def _clock(self, case: Case, entry: Entry, slot_s: float) -> Clock:
        def run(turn: Turn, deadline_s: float) -> npt.NDArray[Any]:
            return self._crew.run(entry.contestant, turn, deadline_s)

        return Clock(case, run, slot_s)

    def _copy(self, case: Case, entries: list[Entry], slot_s: float) -> list[float]:
        """The ranks of corymb, if they are there, copy."""
        able = [e for e in entries if e.is_measured and e.contestant.language == "c"]
        able.sort(key=lambda entry: (not entry.contestant.is_own, entry.contestant.name))
        with suppress(PeerError):
            for entry in able[:1]:
                return [time_copy(self._clock(case, entry, slot_s).run, case.bytes, slot_s)]
        return []
