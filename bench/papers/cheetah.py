# SPDX-License-Identifier: Apache-2.0
"""Cheetah (Graham and others, 2010 to 2013): barriers on one level and on two, on the processors of
its two clusters, and collectives at the size of its largest. All times are simulated."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from record import Data, rounded

import corymb
from corymb.command import clusters

Report = Callable[[float, str], Any]
Step = dict[str, Any]


@dataclass(frozen=True)
class Node:
    """A node of a cluster of the paper, and the gallery's model of its processors."""

    cluster: str
    machine: str
    packages: int
    cores: int  # In a package.
    clock_ghz: float

    @property
    def size(self) -> int:
        return self.packages * self.cores


NODES = (
    Node("Jaguar", "smelt-istanbul-4x6", 2, 6, 2.6),
    Node("Smoky", "smelt-barcelona-8x4", 4, 4, 2.0),
)
# The cores that two and four ranks are on, by the cores of a package.
PLACES = {
    "2, same package": lambda cores: [0, 1],
    "2, other package": lambda cores: [0, cores],
    "4, same package": lambda cores: [0, 1, 2, 3],
    "4, two packages": lambda cores: [0, 1, cores, cores + 1],
}

SCALE = (4096, 12)  # The Cray XT5 of 49,152 ranks.
SCALE_SIZES = (32, 1024, 32768, 1 << 20)
# A search among all schemes takes minutes for so many ranks. These are the first that it tries.
FLAT = {
    "barrier": ("flat/dissemination/shared",),
    "broadcast": ("flat/binomial/shared", "flat/binomial/messages"),
}
BY_LEVELS = {
    "barrier": ("lanes/1/dissemination/shared",),
    "broadcast": tuple(
        f"lanes/{more}"
        for more in (
            "1/binomial/shared",
            "4/binomial/shared",
            "1/binomial/shared/pieces-8",
            "1/binomial/shared/pieces-32",
        )
    ),
}


def dissemination(ranks: Sequence[int]) -> dict[int, list[Step]]:
    """A flat barrier: in round r everybody signals the rank 2^r places on, and waits."""
    steps: dict[int, list[Step]] = {rank: [] for rank in ranks}
    distance, count = 1, len(ranks)
    while distance < count:
        for place, rank in enumerate(ranks):
            ahead, behind = (ranks[(place + d) % count] for d in (distance, -distance))
            steps[rank] += [{"step": "signal", "peer": ahead}, {"step": "wait", "peer": behind}]
        distance *= 2
    return steps


def in_rank_order(seats: Sequence[int], _: int) -> dict[int, list[Step]]:
    return dissemination(range(len(seats)))


def by_levels(seats: Sequence[int], cores: int) -> dict[int, list[Step]]:
    """Up to the first rank of each package, the flat barrier among these, and down again."""
    packages: dict[int, list[int]] = {}
    for rank, seat in enumerate(seats):
        packages.setdefault(seat // cores, []).append(rank)
    leaders = [ranks[0] for ranks in packages.values()]
    among = dissemination(leaders)
    steps: dict[int, list[Step]] = {}
    for leader, *others in packages.values():
        up = [{"step": "wait", "peer": rank} for rank in others]
        down = [{"step": "signal", "peer": rank} for rank in others]
        steps[leader] = [*up, *among[leader], *down]
        for rank in others:
            steps[rank] = [{"step": "signal", "peer": leader}, {"step": "wait", "peer": leader}]
    return steps


WAYS = {"flat": in_rank_order, "two levels": by_levels}


def barriers(node: Node) -> dict[str, Any]:
    machine = corymb.Machine.gallery(node.machine)
    curve = [
        {"ranks": ranks, **barrier_times(machine, range(ranks), node.cores)}
        for ranks in range(2, node.size + 1)
    ]
    places = {
        name: barrier_times(machine, seats(node.cores), node.cores)
        for name, seats in PLACES.items()
    }
    return {
        "cluster": node.cluster,
        "machine": node.machine,
        "packages": node.packages,
        "cores": node.cores,
        "clock_ghz": node.clock_ghz,
        "unit": machine.unit,
        "curve": curve,
        "places": places,
    }


def barrier_times(machine: corymb.Machine, seats: Sequence[int], cores: int) -> dict[str, Any]:
    """The two ways of the paper as plans, which are checked, and corymb's choice."""
    times: dict[str, Any] = {}
    for name, way in WAYS.items():
        steps = way(seats, cores)
        document = {"schema": "corymb-plan/1", "op": "barrier", "root": 0, "ranks": len(seats),
                    "algorithm": name, "block_count": 0, "scratch_blocks": 0, "bytes_max": 0,
                    "steps": [steps[rank] for rank in range(len(seats))]}  # fmt: skip
        plan = corymb.Plan.from_json(json.dumps(document))
        plan.check()
        timeline = corymb.simulate(plan, machine, placement=list(seats), bytes=0)
        times[name] = rounded(timeline.makespan)
    choice = corymb.make_plan(machine, "barrier", placement=list(seats))
    return {**times, "corymb": rounded(choice.predicted), "chosen": choice.plan.algorithm}


def two_hosts() -> list[dict[str, Any]]:
    """The paper's drawing, counted: doubling among four ranks on two hosts."""
    cluster = clusters.cluster_of([(2, 2)])
    rows = []
    for name, roles in (("flat", "flat"), ("two levels", "lanes/1")):
        scheme = f"{roles}/doubling/messages"
        choice = corymb.make_cluster_plan(cluster, "allreduce", bytes=8, algorithm=scheme)
        counts = corymb.node_traffic(choice.plan, cluster, 8)
        rows.append({"way": name, "scheme": scheme, "messages": counts["messages"],
                     "predicted": rounded(choice.predicted)})  # fmt: skip
    return rows


def at_scale(report: Report) -> list[dict[str, Any]]:
    """Barrier and broadcast, flat and by levels. Plans of this size are not proven."""
    cluster = clusters.cluster_of([SCALE])
    rows = []
    for op, size in (("barrier", 0), *(("broadcast", size) for size in SCALE_SIZES)):
        report(0.5, f"{op} of {size} B on {cluster.name}")
        known = set(corymb.scheme_names(cluster, op, bytes=size))
        times = {
            scheme: corymb.make_cluster_plan(
                cluster, op, bytes=size, algorithm=scheme, proven=False
            ).predicted
            for scheme in (*FLAT[op], *BY_LEVELS[op])
            if scheme in known
        }
        chosen = min((name for name in BY_LEVELS[op] if name in times), key=times.__getitem__)
        flat = min(times[name] for name in FLAT[op])
        rows.append({"op": op, "bytes": size, "flat": rounded(flat),
                     "levels": rounded(times[chosen]), "chosen": chosen})  # fmt: skip
    return rows


def study(report: Report) -> Data:
    nodes = []
    for done, node in enumerate(NODES):
        report(0.2 * done, node.machine)
        nodes.append(barriers(node))
    return {
        "nodes": nodes,
        "two_hosts": two_hosts(),
        "network": clusters.DEFAULT_NETWORK,
        "scale": {"nodes": SCALE[0], "ranks": SCALE[1], "rows": at_scale(report)},
    }
