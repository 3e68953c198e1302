# SPDX-License-Identifier: Apache-2.0
"""What choosing by the model is worth: corymb's choice against one algorithm for all machines and
sizes, simulated, with what each plan moves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import corymb

# Algorithms whose shape comes from the model; all others could be written down without one.
FROM_THE_MODEL = (
    "mst",
    "bad-tree",
    "cluster",
    "hierarchical",
    "smelt-adaptive",
    "composed",
    "earliest-completion",
    "annealed",
    "exact",
)


def is_fixed(algorithm: str) -> bool:
    """Whether an algorithm of the portfolio is a textbook one.

    >>> [name for name in ("binomial", "hierarchical-flat", "ring") if is_fixed(name)]
    ['binomial', 'ring']
    """
    return not algorithm.startswith(FROM_THE_MODEL)


@dataclass
class Case:
    """One operation of one size on one machine, planned. Times are in the machine's own unit;
    `lines` and `copied` are what each rank moves."""

    machine: str
    unit: str
    op: str
    ranks: int
    bytes: int
    algorithm: str
    predicted: float
    lines_max: int
    copied_max: int
    portfolio: dict[str, float]
    lines: list[int] = field(default_factory=list)
    copied: list[int] = field(default_factory=list)

    def slowdown(self, algorithm: str) -> float:
        """How many times longer the algorithm takes than the choice; infinite where it has no
        plan."""
        time = self.portfolio.get(algorithm)
        return math.inf if time is None else time / self.predicted if self.predicted else 1.0


def plan_case(machine: corymb.Machine, name: str, op: str, ranks: int, size: int) -> Case:
    """Plans `op` for the first `ranks` CPUs and counts what each rank moves."""
    choice = corymb.make_plan(
        machine, op, placement=list(range(ranks)), bytes=size, exhaustive=True
    )
    lines, copied = corymb.traffic(choice.plan, size)
    return Case(
        machine=name,
        unit=machine.unit,
        op=op,
        ranks=ranks,
        bytes=size,
        algorithm=choice.plan.algorithm,
        predicted=choice.predicted,
        lines_max=max(lines, default=0),
        copied_max=max(copied, default=0),
        portfolio=by_algorithm(choice.portfolio),
        lines=list(lines),
        copied=list(copied),
    )


def by_algorithm(portfolio: dict[str, float]) -> dict[str, float]:
    """The best of each algorithm over the ways in which its messages can travel.

    >>> by_algorithm({"ring/cells-4": 3.0, "ring/pull-1": 2.0, "star": 1.0})
    {'ring': 2.0, 'star': 1.0}
    """
    best: dict[str, float] = {}
    for name, time in portfolio.items():
        base = name.split("/")[0]
        best[base] = min(time, best.get(base, math.inf))
    return best


def plan_cases(
    machines: Sequence[str],
    ops: Sequence[str],
    sizes: Sequence[int],
    ranks_max: int,
    progress: Callable[[float, str], Any] | None = None,
) -> list[Case]:
    """Every operation and size on every machine of the gallery. Barriers have no sizes."""
    wanted = [
        (name, op, size)
        for name in machines
        for op in ops
        for size in (sizes[:1] if op == "barrier" else sizes)
    ]
    cases = []
    loaded: dict[str, corymb.Machine] = {}
    for done, (name, op, size) in enumerate(wanted):
        if progress is not None:
            progress(done / len(wanted), f"{op}, {size} B, {name}")
        machine = loaded.setdefault(name, corymb.Machine.gallery(name))
        cases.append(plan_case(machine, name, op, min(ranks_max, len(machine)), size))
    return cases


def geometric_mean(values: Iterable[float]) -> float:
    """
    >>> geometric_mean([1, 4])
    2.0
    """
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


@dataclass
class Verdict:
    """The best that one fixed algorithm can do for some cases of an operation, and what the plans
    that were chosen move at most."""

    op: str
    algorithm: str
    slowdown_mean: float
    slowdown_max: float
    worst_machine: str
    worst_bytes: int
    cases: int
    bytes: int | None  # None: of all sizes.
    lines_max: int
    copied_max: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def verdict(cases: Sequence[Case], size: int | None = None) -> Verdict:
    """`cases` are of one operation, and with `size` of that size. Of the fixed algorithms that have
    a plan in most of them, the one with the smallest mean slowdown; cases in which it has none do
    not count."""
    fixed = sorted(set(filter(is_fixed, (name for case in cases for name in case.portfolio))))

    def rank(name: str) -> tuple[int, float]:
        known = [case.slowdown(name) for case in cases if name in case.portfolio]
        return len(cases) - len(known), geometric_mean(known)

    best = min(fixed, key=rank)
    moved = {
        "lines_max": max(case.lines_max for case in cases),
        "copied_max": max(case.copied_max for case in cases),
    }
    cases = [case for case in cases if best in case.portfolio]
    worst = max(cases, key=lambda case: case.slowdown(best))
    return Verdict(
        op=cases[0].op,
        algorithm=best,
        slowdown_mean=geometric_mean(case.slowdown(best) for case in cases),
        slowdown_max=worst.slowdown(best),
        worst_machine=worst.machine,
        worst_bytes=worst.bytes,
        cases=len(cases),
        bytes=size,
        **moved,
    )


def verdicts(cases: Sequence[Case]) -> list[Verdict]:
    """One for each operation, in the order of the cases."""
    ops = dict.fromkeys(case.op for case in cases)
    return [verdict([case for case in cases if case.op == op]) for op in ops]


def verdicts_by_size(cases: Sequence[Case]) -> list[Verdict]:
    """One for each operation and size, in the order of the cases."""
    kinds = dict.fromkeys((case.op, case.bytes) for case in cases)
    return [
        verdict([case for case in cases if (case.op, case.bytes) == (op, size)], size)
        for op, size in kinds
    ]
