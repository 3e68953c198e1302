# SPDX-License-Identifier: Apache-2.0
"""Multi-leader collectives on a cluster made of namespaces: schemes beside the MPI's own, drawn.

    python demo.py --mpi build/peers/mpich [--nodes 8] [--per-node 4] [--shape cyclic:2x4+1x2]
                   [--bytes 8,4096,32768] [--ops allgather,allreduce,barrier] [--delay-us 500]

`make cluster-demo` calls it. Needs root, the package corymb, and an MPICH (tools/make_peers.py
installs one). The network between the nodes is measured first. Times are those of this machine:
nodes share its processors, so they compare schemes and say nothing about a network card.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import launch
from shapes import FORM, Shape, one_of

import corymb

LIMIT_S = 300.0
BAR = 40
# The choice may be slower by that much than the best of the plain schemes and the MPI's own.
TOLERATED = 1.05


@dataclass(frozen=True)
class Bench:
    """What every point needs."""

    options: argparse.Namespace
    program: Path
    folder: Path
    network: str
    site: launch.Site

    @property
    def cluster(self) -> corymb.Cluster:
        return self.site.shape.cluster(self.network)

    def schemes(self, op: str, size: int) -> list[str]:
        """What a team chooses first, then what it is compared with, as far as there are plans."""
        known = set(corymb.scheme_names(self.cluster, op, size))
        leaders = self.site.shape.most_per_node
        choice = self.site.choice(self.program, op, size, self.network, LIMIT_S)
        wanted = [
            choice["chosen"],
            f"lanes/{leaders}/doubling/shared",
            f"node-major/{leaders}/doubling/shared",
            f"node-major/{leaders}/doubling/messages",
            "lanes/1/doubling/shared",
            "lanes/1/doubling/messages",
            "flat/doubling/messages",
            "flat/ring/messages",
            "flat/bruck/messages",
            "lanes/1/dissemination/shared",
            "lanes/1/dissemination/messages",
            "flat/dissemination/messages",
            f"lanes/{leaders}/binomial/shared",
            f"lanes/{leaders}/ring/shared/pieces-8",
            "lanes/1/binomial/shared",
            "lanes/1/binomial/shared/pieces-8",
            "lanes/1/ring/shared/pieces-8",
            "lanes/1/ring/shared/pieces-32",
            "flat/binomial/messages",
            "flat/binomial/messages/pieces-8",
        ]
        return [name for name in dict.fromkeys(wanted) if name in known]

    def measure(self, op: str, size: int) -> list[dict[str, Any]]:
        """A row for each scheme, the choice first, and a last one for the MPI."""
        files = []
        for number, name in enumerate(self.schemes(op, size)):
            choice = corymb.make_cluster_plan(self.cluster, op, bytes=size, algorithm=name)
            files.append(self.folder / f"plan-{size}-{number}.json")
            files[-1].write_text(choice.to_json(self.cluster))
        rounds = str(self.options.rounds)
        words = [op, str(size), rounds, self.site.places, *map(str, files)]
        rows = self.site.rows(self.program, words, self.options.limit)
        return sorted(rows, key=lambda row: row["name"] == "MPI")


def draw(op: str, size: int, rows: list[dict[str, Any]]) -> None:
    print(f"\n{op} of {size} B a rank, {rows[0]['ranks']} ranks on {rows[0]['nodes']} nodes")
    longest = max(row["median_us"] for row in rows)
    for row in sorted(rows, key=lambda row: float(row["median_us"])):
        bar = "#" * max(1, round(BAR * row["median_us"] / longest))
        came = row["node_bytes_in"]
        counted = "" if came is None else f"{came} B into a node"
        chosen = "chosen" if row is rows[0] else ""
        print(f"  {row['name']:34} {row['median_us'] / 1000:9.2f} ms  {bar:{BAR}} {chosen:6} "
              f"{counted}")  # fmt: skip


def plain_over_choice(rows: list[dict[str, Any]]) -> float:
    """The time of the best of the other flat schemes, single leaders and the MPI over the choice's.
    Half of the rounds say which is the best, the other half how long it takes, and the other way
    round: the least of several medians is the least by its luck, too."""
    rivals = [row for row in rows[1:] if row["name"].startswith(("flat/", "lanes/1/", "MPI"))]
    ratios = []
    for judge in (0, 1):
        best = min(rivals, key=lambda row: float(row["halves_us"][1 - judge]))
        ratios.append(best["halves_us"][judge] / rows[0]["halves_us"][judge])
    return sum(ratios) / len(ratios)


def conclude(points: dict[tuple[str, int], list[dict[str, Any]]]) -> None:
    for op in dict.fromkeys(op for op, _ in points):
        ratios = {size: plain_over_choice(rows) for (o, size), rows in points.items() if o == op}
        slower = [f"{size} B" for size, ratio in ratios.items() if ratio * TOLERATED < 1]
        each = ", ".join(f"{size} B {ratio:.2f}" for size, ratio in ratios.items())
        print(f"\n{op}: best of flat, single leader and MPI over the choice: {each}; "
              f"faster in {sum(ratio > 1 for ratio in ratios.values())} of {len(ratios)}, more "
              f"than 5 % slower: {', '.join(slower) or 'none'}")  # fmt: skip


def run(options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    program = launch.build(options.mpi, folder)
    site = launch.Site(options.mpi, options.shape, options.rate, options.delay_us)
    network = site.network(program, LIMIT_S)
    print(f"network, measured: {network}")
    bench = Bench(options, program, folder, network, site)
    points: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for op in options.ops.split(","):
        for size in [0] if op == "barrier" else [int(word) for word in options.bytes.split(",")]:
            points[op, size] = bench.measure(op, size)
            draw(op, size, points[op, size])
    conclude(points)
    print("\nmedians of the slowest rank, measured in turns; every result was right")
    return [row for rows in points.values() for row in rows]


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = argparse.ArgumentParser(description="Collectives on nodes made of namespaces.")
    parser.add_argument("--mpi", type=Path, required=True, help="folder of an MPI")
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--per-node", type=int, default=4)
    parser.add_argument("--shape", type=one_of, help=f"instead of these two: {FORM}")
    parser.add_argument("--delay-us", type=int, default=0, help="of what a node sends")
    parser.add_argument(
        "--ops", default="allgather", help="of allgather, allreduce, broadcast, reduce, barrier"
    )
    parser.add_argument("--bytes", default="8,4096,32768")
    parser.add_argument("--rate", default="200mbit", help="of each link and way, as tc writes it")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds for one point")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    try:
        options.shape = options.shape or Shape.of(f"{options.nodes}x{options.per_node}")
    except ValueError as error:
        parser.error(f"--nodes and --per-node: {error}")
    folder = Path(tempfile.mkdtemp(prefix="corymb-cluster-"))
    try:
        results = run(options, folder)
    except launch.FailedError as error:
        sys.stderr.write(f"cluster-demo: {error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        shutil.rmtree(folder)
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
