# SPDX-License-Identifier: Apache-2.0
"""Regret on real nodes: the time of a team's choice over that of the best scheme measured.

    python regret.py --mpi build/peers/mpich [--shapes 2x2,cyclic:2x4+1x2] [--minutes 26]
                     [--json FILE]

`make cluster-regret` calls it. On every shape of a cluster made of namespaces it measures the
network, then lets a team choose for each operation and size, and runs that, and what it had planned
before its rehearsals, beside schemes of every kind, in turns; all results are checked. Eight
points for each shape, in an order that mixes shapes and sizes, as far as the time goes. Nodes share
this machine's processors, so a point says who waits least for whom, not what a network card does.
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
from shapes import FORM, Shape, list_of

import corymb

SIZES = {"allgather": [8, 512, 4096, 32768], "allreduce": [8, 1024, 16384, 131072]}
ROUNDS = 30
LIMIT_S = 240.0  # Of one point, the nodes' making included.


def contestants(
    cluster: corymb.Cluster, op: str, size: int, most: int, first: list[str]
) -> list[str]:
    """After those named the best by simulation of each kind, then the next of each."""
    every = corymb.make_cluster_plan(cluster, op, bytes=size, exhaustive=True, proven=False)
    kinds: dict[tuple[str, str], list[str]] = {}
    for name, _ in sorted(every.portfolio.items(), key=lambda item: item[1]):
        words = name.split("/")
        exchange = words[1] if words[0] == "flat" else words[2]
        kinds.setdefault((words[0], exchange), []).append(name)
    turns = max(map(len, kinds.values()))
    ranked = [names[turn] for turn in range(turns) for names in kinds.values() if turn < len(names)]
    return list(dict.fromkeys([*first, *ranked]))[:most]


def regret(own: list[float], halves: list[list[float]]) -> float:
    """A scheme over the one that is best in the other half of the rounds, and the other way round.
    The least of a dozen medians of the same rounds would be best by its luck, too, and no choice
    could reach it."""
    ratios = []
    for judge in (0, 1):
        best = min(halves, key=lambda half: half[1 - judge])
        ratios.append(own[judge] / best[judge])
    return sum(ratios) / len(ratios)


def steps_of(plan: str) -> str:
    """What tells plans apart: some shapes make one plan of two schemes, which is one contestant."""
    document = json.loads(plan)
    return json.dumps([document[key] for key in ("block_count", "scratch_blocks", "steps")])


@dataclass(frozen=True)
class Bench:
    """What every point needs."""

    options: argparse.Namespace
    program: Path
    folder: Path

    def site(self, shape: Shape) -> launch.Site:
        return launch.Site(self.options.mpi, shape, self.options.rate)

    def network(self, shape: Shape) -> str:
        return self.site(shape).network(self.program, LIMIT_S)

    def point(self, network: str, shape: Shape, op: str, size: int) -> Any:
        options, site, cluster = self.options, self.site(shape), shape.cluster(network)
        choice = site.choice(self.program, op, size, network, LIMIT_S)
        first = [choice["chosen"], choice["planned"]]
        files: list[Path] = []
        runs: dict[str, str] = {}  # By steps the name under which they are run.
        runs_as: dict[str, str] = {}
        for name in contestants(cluster, op, size, options.contestants, first):
            plan = corymb.make_cluster_plan(cluster, op, bytes=size, algorithm=name)
            text = plan.to_json(cluster)
            runs_as[name] = runs.setdefault(steps_of(text), name)
            if runs_as[name] == name:
                files.append(self.folder / f"plan-{len(files)}.json")
                files[-1].write_text(text)
        words = [op, str(size), str(ROUNDS), site.places, *map(str, files)]
        rows = site.rows(self.program, words, LIMIT_S)
        if not all(row["right"] for row in rows):
            raise launch.FailedError("a result was wrong")
        plans = [row for row in rows if row["name"] != "MPI"]
        best = min(plans, key=lambda row: row["median_us"])
        halves = [row["halves_us"] for row in plans]
        planned = next(row for row in plans if row["name"] == runs_as[choice["planned"]])
        return {
            "shape": str(shape), "op": op, "bytes": size,
            "chosen": plans[0]["name"], "chosen_us": plans[0]["median_us"],
            "best": best["name"], "best_us": best["median_us"],
            "planned": choice["planned"], "regret": regret(halves[0], halves),
            "regret_planned": regret(planned["halves_us"], halves), "schemes": len(plans),
            "mpi_us": next(row["median_us"] for row in rows if row["name"] == "MPI"),
        }  # fmt: skip


def all_points(bench: Bench) -> tuple[list[dict[str, Any]], list[str]]:
    """What was measured in the time that there is, and why the rest was not."""
    ends = time.monotonic() + 60 * bench.options.minutes
    known: dict[Shape, str] = {}
    points: list[dict[str, Any]] = []
    missed: list[str] = []
    late = 0
    for turn in range(len(SIZES["allgather"])):
        for shape in bench.options.shapes:
            for op, sizes in SIZES.items():
                name = f"{shape} {op} {sizes[turn]} B"
                if time.monotonic() > ends:
                    late += 1
                    continue
                try:
                    if shape not in known:
                        known[shape] = bench.network(shape)
                    points.append(bench.point(known[shape], shape, op, sizes[turn]))
                except launch.FailedError as error:
                    missed.append(f"{name}: {error}")
                    continue
                row = points[-1]
                print(f"{name:28} {row['chosen']:32} {row['regret']:5.2f} (planned: "
                      f"{row['planned']:32} {row['regret_planned']:5.2f}) of {row['best']:32} "
                      f"{row['mpi_us'] / row['chosen_us']:6.2f} x the MPI", flush=True)  # fmt: skip
    if late > 0:
        missed.append(f"{late} points: the time was over")
    return points, missed


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = argparse.ArgumentParser(description="Regret on nodes made of namespaces.")
    parser.add_argument("--mpi", type=Path, required=True, help="folder of an MPICH")
    parser.add_argument("--shapes", type=list_of, default="2x2,4x2,2x4,4x4,8x2",
                        help=f"a list: {FORM}")  # fmt: skip
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
    summary: dict[str, Any] = {"points": len(points), "missed": missed}
    for key in ("regret_planned", "regret") if points else ():
        regrets = [row[key] for row in points]
        summary[key] = {"median": median(regrets), "p95": float(np.percentile(regrets, 95)),
                        "worst": max(regrets)}  # fmt: skip
        what = "chosen, after rehearsals" if key == "regret" else "planned by the model"
        print(f"{what}: {len(points)} points, measured: regret median {median(regrets):.3f}, p95 "
              f"{summary[key]['p95']:.3f}, worst {max(regrets):.3f}")  # fmt: skip
    if points:
        faster = summary["faster_than_mpi"] = sum(r["chosen_us"] < r["mpi_us"] for r in points)
        print(f"faster than the MPI's own in {faster}")
    for line in missed:
        print(f"not measured: {line}")
    if options.json is not None:
        document = {"schema": "corymb-cluster-regret-measured/3", "rate": options.rate,
                    "summary": summary, "rows": points}  # fmt: skip
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    sys.exit(0 if points else 1)


if __name__ == "__main__":
    main()
