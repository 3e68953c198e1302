# SPDX-License-Identifier: Apache-2.0
"""Smelt (Kaestle and others, OSDI 2016) on every machine of the gallery: what corymb chooses beside
six trees that are the same on all machines, and beside Smelt's own. All times are simulated."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from record import Data, rounded

import corymb
from corymb.command.compare import RANKS_MAX

Report = Callable[[float, str], Any]

# The six trees that the paper compares with, and what corymb calls them.
STATIC = {
    "sequential": "star",
    "binary": "binary",
    "cluster": "cluster",
    "mst": "mst",
    "fibonacci": "fibonacci",
    "bad tree": "bad-tree",
}
STATIC_ROOT = 0  # As in Smelt's simulator: the first core.
SMELT = ("smelt-adaptive", "smelt-adaptive-shuffle-sort")
OPERATIONS = ("broadcast", "reduce", "barrier")
SAMPLE = "smelt-e5v2-2x10"
# Barriers that are no trees, and so no plan of Smelt's.
NO_TREES = ("dissemination-2", "dissemination-3", "dissemination-4")

Times = dict[str, float]


def two_phase(times: dict[str, float]) -> float:
    """Two-phase commit: broadcast, reduce, broadcast."""
    return 2 * times["broadcast"] + times["reduce"]


def of_algorithm(machine: corymb.Machine, algorithm: str, root: int | None) -> Times:
    """The four operations by one tree; those of the tree's own root without `root`."""
    times = {
        op: corymb.make_plan(machine, op, algorithm=algorithm, root=root).predicted
        for op in OPERATIONS
    }
    return {**times, "two-phase commit": two_phase(times)}


def of_choice(machine: corymb.Machine) -> tuple[Times, dict[str, str], dict[str, int]]:
    """corymb's choice, what it is, and its root. A two-phase commit has one root for its parts."""
    choices = {op: corymb.make_plan(machine, op) for op in OPERATIONS}
    times = {op: choice.predicted for op, choice in choices.items()}
    names = {op: choice.plan.algorithm for op, choice in choices.items()}
    roots = {op: choice.plan.root for op, choice in choices.items()}
    commits = []
    for root in {roots["broadcast"], roots["reduce"]}:
        parts = {
            op: times[op]
            if roots[op] == root
            else corymb.make_plan(machine, op, root=root).predicted
            for op in ("broadcast", "reduce")
        }
        commits.append(two_phase(parts))
    return {**times, "two-phase commit": min(commits)}, names, roots


def searched(machine: corymb.Machine) -> dict[str, Any]:
    """What the tree search finds, and what it cannot beat."""
    found: dict[str, Any] = {}
    for op in OPERATIONS:
        choice = corymb.make_plan(machine, op, algorithm="annealed")
        found[op] = rounded(choice.predicted)
        if op != "barrier":
            bound, kind = choice.lower_bound(machine)
            found[f"{op} bound"] = [rounded(bound), kind]
    others = [corymb.make_plan(machine, "barrier", algorithm=name).predicted for name in NO_TREES]
    found["dissemination"] = rounded(min(others))
    return found


def of_machine(name: str) -> dict[str, Any]:
    machine = corymb.Machine.gallery(name)
    times, names, roots = of_choice(machine)
    static = {
        paper: of_algorithm(machine, algorithm, STATIC_ROOT) for paper, algorithm in STATIC.items()
    }
    smelt = {name: of_algorithm(machine, name, None) for name in SMELT}
    return {
        "machine": name,
        "ranks": len(machine),
        "unit": machine.unit,
        "chosen": names,
        "root": roots,
        "corymb": _rounded(times),
        "static": {paper: _rounded(one) for paper, one in static.items()},
        "smelt": {one: _rounded(values) for one, values in smelt.items()},
        "searched": searched(machine),
    }


def _rounded(times: Times) -> Times:
    return {op: rounded(value, 5) for op, value in times.items()}


def tree(machine: corymb.Machine, op: str, algorithm: str) -> dict[str, Any]:
    """Each rank's children in the order in which it sends to them."""
    choice = corymb.make_plan(machine, op, algorithm=algorithm)
    steps = json.loads(choice.to_json(machine))["steps"]
    children = {
        str(rank): [step["peer"] for step in own if step["step"] in ("send", "signal")]
        for rank, own in enumerate(steps)
    }
    return {
        "root": choice.plan.root,
        "predicted": rounded(choice.predicted, 6),
        "children": {rank: peers for rank, peers in children.items() if peers},
    }


def study(report: Report, machines: Sequence[str] | None = None) -> Data:
    names = list(machines or corymb.gallery_names())
    rows = []
    for done, name in enumerate(names):
        report(done / len(names), name)
        machine = corymb.Machine.gallery(name)
        if machine.has_access_model or len(machine) > RANKS_MAX:
            continue  # Its model has words and lines, not messages.
        rows.append(of_machine(name))
    sample = corymb.Machine.gallery(SAMPLE)
    trees = {name: tree(sample, "broadcast", name) for name in (SMELT[1], "annealed")}
    return {"machines": rows, "sample": SAMPLE, "trees": trees}
