# SPDX-License-Identifier: Apache-2.0
"""Plans, proves, simulates and (on this machine) runs four operations: the facts that the
report and the demo show."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import corymb
from corymb import messages
from corymb.layout import Layout, layout_of

Report = Callable[[float, str], bool | None]
RUN_SECONDS_MAX = 2.0
# What the report draws and the bench times; corymb plan and sim know every operation.
OPERATIONS = ("barrier", "broadcast", "reduce", "allreduce")


@dataclass(frozen=True)
class MeasuredRun:
    """One plan as it ran here. `late[rank, repetition]` is in ns, from the last arrival."""

    late: NDArray[np.float64]
    wrong: int

    @property
    def latencies(self) -> NDArray[np.float64]:
        """Per repetition: from the last rank's arrival until the last one was done, ns."""
        return np.asarray(self.late.max(axis=0))

    @property
    def median_ns(self) -> float:
        return float(np.median(self.latencies))


@dataclass
class Planned:
    """One operation: the plan, its simulation, and what was measured."""

    choice: corymb.PlanChoice
    timeline: corymb.Timeline
    run: MeasuredRun | None = None

    @property
    def op(self) -> str:
        return self.choice.plan.op

    @property
    def waiting(self) -> NDArray[np.float64]:
        return messages.waiting_times(self.timeline)


@dataclass
class Study:
    """Everything about one machine."""

    machine: corymb.Machine
    placement: list[int]
    layout: Layout
    size: int
    planned: dict[str, Planned] = field(default_factory=dict)
    bench: list[dict[str, Any]] = field(default_factory=list)
    # The summary of corymb bench prediction.
    prediction: dict[str, Any] = field(default_factory=dict)
    # As in the JSON of corymb sim multicast and corymb bench multicast.
    multicast: list[dict[str, Any]] = field(default_factory=list)
    multicast_choice: str = ""
    multicast_bench: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[dict[str, Any]] = field(default_factory=list)
    noise: list[dict[str, Any]] = field(default_factory=list)  # Rows of corymb sim noise.

    @property
    def cpus(self) -> list[int]:
        """CPU number of each rank."""
        return [self.machine.cpus[pu] for pu in self.placement]


def study_of(machine: corymb.Machine, placement: Sequence[int], size: int) -> Study:
    return Study(machine, list(placement), layout_of(machine, placement), size)


def plan_one(
    study: Study, op: str, root: int | None = None, moves: int = 0, algorithm: str = "best"
) -> Planned:
    """Plans an operation (proven by make_plan) and simulates it with every activity."""
    choice = corymb.make_plan(
        study.machine,
        op,
        placement=study.placement,
        root=root,
        bytes=study.size,
        moves=moves,
        algorithm=algorithm,
    )
    timeline = corymb.simulate(
        choice.plan, study.machine, placement=study.placement, bytes=study.size, activities=True
    )
    planned = Planned(choice, timeline)
    study.planned[op] = planned
    return planned


def run_one(
    planned: Planned, cpus: Sequence[int], size: int, repetitions: int, report: Report | None
) -> MeasuredRun:
    """Runs the plan on threads bound to `cpus`; the first tenth warms up and does not count."""
    result = corymb.run_plan(
        planned.choice.plan,
        cpus=cpus,
        repetitions=repetitions,
        bytes=size,
        seconds=RUN_SECONDS_MAX,
        progress=report,
    )
    warm = result["entry"].shape[1] // 10
    entry, done = result["entry"][:, warm:], result["exit"][:, warm:]
    planned.run = MeasuredRun(done - entry.max(axis=0), int(result["wrong"]))
    return planned.run


def in_ns(value: float, machine: corymb.Machine) -> float:
    """A cost of the model in nanoseconds; NaN when the unit has no known length."""
    return value * machine.unit_ns if machine.unit == "cycles" else value


def bench_verdict(rows: Sequence[dict[str, Any]], tie: float = 0.05) -> dict[str, list[str]]:
    """Sorts the comparisons with peers into wins, ties and losses of corymb. `ratio` is the peer's
    median over corymb's; within `tie` it is a tie. The floor and corymb's own variants are no
    peers."""
    verdict: dict[str, list[str]] = {"wins": [], "ties": [], "losses": []}
    for row in rows:
        ratio = row.get("ratio")
        if row.get("family") in {"corymb", "floor"} or row["contestant"] == "corymb":
            continue
        if ratio is None or not math.isfinite(ratio):
            continue
        payload = "" if row["op"] == "barrier" else f" {row['bytes']} B"
        case = f"{row['op']}{payload}, {row['ranks']} ranks, {row['regime']}"
        kind = "wins" if ratio > 1 + tie else "losses" if ratio < 1 - tie else "ties"
        verdict[kind].append(f"{case}: {row['contestant']} takes {ratio:.2f} x our time")
    return verdict
