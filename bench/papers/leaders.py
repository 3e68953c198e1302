# SPDX-License-Identifier: Apache-2.0
"""Multi-leader allgathers (Kandalla and others, 2009) on models of the paper's clusters. All times
are simulated."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from record import Data, rounded

import corymb

Report = Callable[[float, str], Any]

# Four packages of four cores, each with a memory controller, and two adapters of InfiniBand DDR of
# 2 GB/s each, as in the paper. Assumed are latencies, as in `corymb cluster`, and rates of memory:
# a core of that time copies some 3 GB/s, and a controller feeds two of them.
NODE = {"packages": 4, "cores": 4, "copy_gbs": 3, "controllers": 4, "controller_gbs": 6}
UNLIMITED = {**NODE, "controllers": 0, "controller_gbs": 0}
NETWORK = {"start_up_ns": 2000, "message_gap_ns": 400, "stream_gbs": 2, "node_gbs": 4}
SMALL, LARGE = 8, 64  # Nodes of 16 ranks.
SIZES = tuple(2**power for power in range(3, 19))
SIZES_OF_LARGE = (8, 64, 512, 4096, 32768)
WAYS = ("messages", "shared")
LEADERS = (1, 2, 4)
FLAT_RANKS, FLAT_BYTES = 128, 1024


def cluster_of(nodes: int, ranks: int = 16, node: dict[str, int] | None = None) -> corymb.Cluster:
    shape = (node or NODE) if ranks == 16 else {"packages": 1, "cores": ranks, "copy_gbs": 3}
    document = {
        "schema": "corymb-cluster/1",
        "name": f"{nodes} x {ranks}",
        "machines": [{"shape": shape}],
        "nodes": [{"machine": 0, "count": nodes, "ranks": ranks}],
        "network": NETWORK,
    }
    return corymb.Cluster.from_json(json.dumps(document))


def schemes() -> dict[str, list[str]]:
    """The paper's contestants, and the schemes of which each is the best. The slides do not say in
    which order leaders are numbered, so there are both."""
    table = {
        "recursive doubling": ["flat/doubling/messages"],
        "ring": ["flat/ring/messages"],
    }
    for leaders in LEADERS:
        for way in WAYS:
            numbered = [("lanes", f"lanes/{leaders}/doubling/{way}")]
            if leaders > 1:
                numbered.append(("node-major", f"node-major/{leaders}/doubling/{way}"))
            for order, scheme in numbered:
                name = f"{leaders} {order}" if leaders > 1 else "1 leader"
                table[f"{name}, {way}"] = [scheme]
    return table


def times_of(cluster: corymb.Cluster, size: int) -> dict[str, float]:
    known = set(corymb.scheme_names(cluster, "allgather", bytes=size))
    times = {}
    for name, members in schemes().items():
        plans = [
            corymb.make_cluster_plan(
                cluster, "allgather", bytes=size, algorithm=member, proven=False
            ).predicted
            for member in members
            if member in known
        ]
        if plans:
            times[name] = rounded(min(plans))
    return times


def by_size(cluster: corymb.Cluster, sizes: Sequence[int], report: Report) -> list[Any]:
    rows = []
    for size in sizes:
        report(0.5, f"{cluster.name}, {size} B")
        choice = corymb.make_cluster_plan(cluster, "allgather", bytes=size, proven=False)
        times = times_of(cluster, size) | {"corymb": rounded(choice.predicted)}
        rows.append({"bytes": size, "chosen": choice.plan.algorithm, "times": times})
    return rows


def by_cores(report: Report) -> list[Any]:
    """The flat ways of the paper, for as many ranks on fewer and fewer nodes."""
    rows = []
    for ranks in (1, 2, 4, 8, 16):
        cluster = cluster_of(FLAT_RANKS // ranks, ranks)
        report(0.9, f"{cluster.name}, {FLAT_BYTES} B")
        times = {
            name: rounded(corymb.make_cluster_plan(cluster, "allgather", bytes=FLAT_BYTES,
                                                   algorithm=scheme, proven=False).predicted)
            for name, (scheme,) in schemes().items()
            if name in ("recursive doubling", "ring")
        }  # fmt: skip
        rows.append({"nodes": FLAT_RANKS // ranks, "ranks": ranks, "times": times})
    return rows


def study(report: Report) -> Data:
    return {
        "network": NETWORK,
        "node": NODE,
        "nodes": SMALL,
        "rows": by_size(cluster_of(SMALL), SIZES, report),
        "unlimited": by_size(cluster_of(SMALL, node=UNLIMITED), SIZES, report),
        "large_nodes": LARGE,
        "large": by_size(cluster_of(LARGE), SIZES_OF_LARGE, report),
        "flat_bytes": FLAT_BYTES,
        "flat": by_cores(report),
    }
