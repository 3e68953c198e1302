# SPDX-License-Identifier: Apache-2.0
"""Multi-leader allgather on a cluster made of namespaces: schemes beside the MPI's own, drawn.

    python demo.py --mpi build/peers/mpich [--nodes 8] [--per-node 4] [--bytes 8,4096,32768]

`make cluster-demo` calls it. Needs root, the package corymb, and an MPICH (tools/make_peers.py
installs one). Times are measured on this machine: nodes share its processors, so they compare
schemes and say nothing about a network card.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

import launch

import corymb
from corymb.command import clusters

LIMIT_S = 300.0
ROUNDS = 20
BAR = 40
# What the links below are in the model: 200 Mbit/s, and what a loaded machine adds to a message.
NETWORK = "100000,20000,0.025,0.025"


def fail(text: str) -> None:
    sys.stderr.write(f"cluster-demo: {text}\n")
    sys.exit(1)


def schemes(cluster: corymb.Cluster, size: int, leaders: int) -> list[str]:
    """The planner's choice first, then what it is compared with, as far as there are plans."""
    known = set(corymb.scheme_names(cluster, "allgather", size))
    wanted = [
        corymb.make_cluster_plan(cluster, "allgather", bytes=size).plan.algorithm,
        f"lanes/{leaders}/doubling/shared",
        f"node-major/{leaders}/doubling/shared",
        f"node-major/{leaders}/doubling/messages",
        "lanes/1/doubling/shared",
        "lanes/1/doubling/messages",
        "flat/doubling/messages",
        "flat/ring/messages",
        "flat/bruck/messages",
    ]
    return [name for name in dict.fromkeys(wanted) if name in known]


def measure(
    options: argparse.Namespace, program: Path, cluster: corymb.Cluster, size: int, folder: Path
) -> list[dict[str, object]]:
    files = []
    for number, name in enumerate(schemes(cluster, size, options.per_node)):
        choice = corymb.make_cluster_plan(cluster, "allgather", bytes=size, algorithm=name)
        files.append(folder / f"plan-{size}-{number}.json")
        files[-1].write_text(choice.to_json(cluster))
    nodes = ",".join(str(rank // options.per_node) for rank in range(len(cluster)))
    words = [str(program), "allgather", str(size), str(ROUNDS), nodes, *map(str, files)]
    text = launch.run(options.mpi, "200mbit", options.nodes, options.per_node, words, LIMIT_S)
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def draw(size: int, rows: list[dict[str, object]]) -> None:
    print(f"\nallgather of {size} B a rank, {rows[0]['ranks']} ranks on {rows[0]['nodes']} nodes")
    longest = max(float(str(row["median_us"])) for row in rows)
    for row in sorted(rows, key=lambda row: float(str(row["median_us"]))):
        time = float(str(row["median_us"]))
        bar = "#" * max(1, round(BAR * time / longest))
        came = row["node_bytes_in"]
        counted = "" if came is None else f"{came} B into a node"
        print(f"  {row['name']:34} {time / 1000:9.2f} ms  {bar:{BAR}} {counted}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Allgather schemes on nodes made of namespaces.")
    parser.add_argument("--mpi", type=Path, required=True, help="folder of an MPICH")
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--per-node", type=int, default=4)
    parser.add_argument("--bytes", default="8,4096,32768")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sizes = [int(word) for word in options.bytes.split(",")]
    cluster = clusters.cluster_of([(options.nodes, options.per_node)], NETWORK)
    folder = Path(tempfile.mkdtemp(prefix="corymb-cluster-"))
    results = []
    try:
        program = launch.build(options.mpi, folder)
        for size in sizes:
            rows = measure(options, program, cluster, size, folder)
            draw(size, rows)
            results.extend(rows)
    except launch.FailedError as error:
        fail(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        shutil.rmtree(folder)
    print("\nmedians of the slowest rank, measured in turns; every result was right")
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
