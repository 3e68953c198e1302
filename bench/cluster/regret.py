# SPDX-License-Identifier: Apache-2.0
"""Regret on real nodes: the time of the planner's choice over that of the best scheme measured.

    python regret.py --mpi build/peers/mpich [--minutes 26] [--json FILE]

`make cluster-regret` calls it. On every shape of a cluster made of namespaces it measures the
network, then runs for each operation and size the planner's choice beside schemes of every kind, in
turns; all results are checked. 40 points, in an order that mixes shapes and sizes, as far as the
time goes. Nodes share this machine's processors, so a point says who waits least for whom, not what
a network card does.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import launch
import numpy as np

import corymb
from corymb.command import clusters

SHAPES = [(2, 2), (4, 2), (2, 4), (4, 4), (8, 2)]
SIZES = {"allgather": [8, 512, 4096, 32768], "allreduce": [8, 1024, 16384, 131072]}
ROUNDS = 30
LIMIT_S = 120.0  # Of one point, the nodes' making included.


def contestants(cluster: corymb.Cluster, op: str, size: int, most: int) -> list[str]:
    """The choice first, then the best by simulation of each kind, then the next of each."""
    every = corymb.make_cluster_plan(cluster, op, bytes=size, exhaustive=True, proven=False)
    chosen = corymb.make_cluster_plan(cluster, op, bytes=size).plan.algorithm
    kinds: dict[tuple[str, str], list[str]] = {}
    for name, _ in sorted(every.portfolio.items(), key=lambda item: item[1]):
        words = name.split("/")
        exchange = words[1] if words[0] == "flat" else words[2]
        kinds.setdefault((words[0], exchange), []).append(name)
    turns = max(map(len, kinds.values()))
    ranked = [names[turn] for turn in range(turns) for names in kinds.values() if turn < len(names)]
    return list(dict.fromkeys([chosen, *ranked]))[:most]


def regret(halves: list[list[float]], judge: int) -> float:
    """The choice over the scheme that is best in the other half of the rounds. The least of a dozen
    medians of the same rounds would be best by its luck, too, and no choice could reach it."""
    best = min(halves, key=lambda half: half[1 - judge])
    return halves[0][judge] / best[judge]


@dataclass(frozen=True)
class Bench:
    """What every point needs."""

    options: argparse.Namespace
    program: Path
    folder: Path

    def network(self, shape: tuple[int, int]) -> str:
        options = self.options
        return launch.network(options.mpi, options.rate, shape, self.program, LIMIT_S)

    def point(self, cluster: corymb.Cluster, shape: tuple[int, int], op: str, size: int) -> Any:
        files = []
        for number, name in enumerate(contestants(cluster, op, size, self.options.contestants)):
            choice = corymb.make_cluster_plan(cluster, op, bytes=size, algorithm=name)
            files.append(self.folder / f"plan-{number}.json")
            files[-1].write_text(choice.to_json(cluster))
        words = [op, str(size), str(ROUNDS), launch.places(*shape), *map(str, files)]
        options = self.options
        rows = launch.rows(options.mpi, options.rate, shape, self.program, words, LIMIT_S)
        if not all(row["right"] for row in rows):
            raise launch.FailedError("a result was wrong")
        plans = [row for row in rows if row["name"] != "MPI"]
        best = min(plans, key=lambda row: row["median_us"])
        halves = [row["halves_us"] for row in plans]
        return {
            "nodes": shape[0], "per_node": shape[1], "op": op, "bytes": size,
            "chosen": plans[0]["name"], "chosen_us": plans[0]["median_us"],
            "best": best["name"], "best_us": best["median_us"],
            "regret": (regret(halves, 0) + regret(halves, 1)) / 2, "schemes": len(plans),
            "mpi_us": next(row["median_us"] for row in rows if row["name"] == "MPI"),
        }  # fmt: skip


def all_points(bench: Bench) -> tuple[list[dict[str, Any]], list[str]]:
    """What was measured in the time that there is, and why the rest was not."""
    ends = time.monotonic() + 60 * bench.options.minutes
    known: dict[tuple[int, int], corymb.Cluster] = {}
    points: list[dict[str, Any]] = []
    missed: list[str] = []
    late = 0
    for turn in range(len(SIZES["allgather"])):
        for shape in SHAPES:
            for op, sizes in SIZES.items():
                name = f"{shape[0]} x {shape[1]} {op} {sizes[turn]} B"
                if time.monotonic() > ends:
                    late += 1
                    continue
                try:
                    if shape not in known:
                        known[shape] = clusters.cluster_of([shape], bench.network(shape))
                    points.append(bench.point(known[shape], shape, op, sizes[turn]))
                except launch.FailedError as error:
                    missed.append(f"{name}: {error}")
                    continue
                row = points[-1]
                print(f"{name:28} {row['chosen']:32} {row['regret']:5.2f} of {row['best']:32} "
                      f"{row['mpi_us'] / row['chosen_us']:6.2f} x the MPI", flush=True)  # fmt: skip
    if late > 0:
        missed.append(f"{late} points: the time was over")
    return points, missed


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = argparse.ArgumentParser(description="Regret on nodes made of namespaces.")
    parser.add_argument("--mpi", type=Path, required=True, help="folder of an MPICH")
    parser.add_argument("--rate", default="200mbit", help="of each link and way, as tc writes it")
    parser.add_argument("--minutes", type=float, default=26, help="no point begins later")
    parser.add_argument("--contestants", type=int, default=12, help="most schemes of a point")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="corymb-regret-"))
    try:
        bench = Bench(options, launch.build(options.mpi, folder), folder)
        points, missed = all_points(bench)
    except launch.FailedError as error:
        sys.stderr.write(f"cluster-regret: {error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        shutil.rmtree(folder)
    regrets = [row["regret"] for row in points]
    summary = {"points": len(points), "missed": missed}
    if regrets:
        faster = sum(row["chosen_us"] < row["mpi_us"] for row in points)
        summary |= {"median": median(regrets), "p95": float(np.percentile(regrets, 95)),
                    "worst": max(regrets), "faster_than_mpi": faster}  # fmt: skip
        print(f"\n{len(points)} points, measured: regret median {summary['median']:.3f}, p95 "
              f"{summary['p95']:.3f}, worst {summary['worst']:.3f}; faster than the MPI's own in "
              f"{faster}")  # fmt: skip
    for line in missed:
        print(f"not measured: {line}")
    if options.json is not None:
        document = {"schema": "corymb-cluster-regret-measured/1", "rate": options.rate,
                    "summary": summary, "rows": points}  # fmt: skip
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    sys.exit(0 if points else 1)


if __name__ == "__main__":
    main()
