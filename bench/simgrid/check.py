# SPDX-License-Identifier: Apache-2.0
"""corymb's simulated times of plans for several nodes beside those of SimGrid.

    python check.py --replay PROGRAM

`make simgrid-check` compiles the program and calls it. Everything is simulated, twice. Where no two
messages want one link in one direction at a time, both simulators mean the same formula, and
a difference of more than a percent ends with status 1. Where messages share a link, SimGrid shares
it fairly and corymb serves it in order: there the table says by how much that differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import corymb

ALGORITHMS = ("doubling", "ring", "bruck")
SIZES = (8, 4096, 65536, 1 << 20)
START_UP_NS = 2000.0
GBS = 3.0
NOTHING = 1e-3  # ns; the least that a model may say of what is not compared
TOLERANCE = 0.01


def cluster_of(nodes: int, per_node: int) -> corymb.Cluster:
    """Nodes within which nothing takes time, on a network without a gap between messages."""
    shape = {"packages": 1, "cores": per_node, "near_ns": NOTHING, "far_ns": NOTHING,
             "copy_gbs": 1e9}  # fmt: skip
    document = {
        "schema": "corymb-cluster/1",
        "name": f"{nodes} x {per_node}, network alone",
        "machines": [{"shape": shape}],
        "nodes": [{"machine": 0, "count": nodes, "ranks": per_node}],
        "order": "block",
        "network": {"start_up_ns": START_UP_NS, "message_gap_ns": NOTHING, "stream_gbs": GBS,
                    "node_gbs": GBS},
    }  # fmt: skip
    return corymb.Cluster.from_json(json.dumps(document))


def replayed(program: Path, size: int, cluster_nodes: list[int], plans: list[Path]) -> list[float]:
    """What SimGrid says, ns."""
    words = [str(program), str(size), str(START_UP_NS), str(GBS)]
    words += [",".join(map(str, cluster_nodes)), *map(str, plans)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        sys.stderr.write(f"simgrid-check: {done.stderr}")
        sys.exit(1)
    return [float(line) for line in done.stdout.split()]


def compare(program: Path, nodes: int, per_node: int, size: int) -> list[dict[str, Any]]:
    cluster = cluster_of(nodes, per_node)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="corymb-simgrid-") as folder:
        plans = []
        for exchange in ALGORITHMS:
            name = f"flat/{exchange}/messages"
            choice = corymb.make_cluster_plan(cluster, "allgather", bytes=size, algorithm=name)
            plans.append(Path(folder) / f"{exchange}.json")
            plans[-1].write_text(choice.to_json(cluster))
            rows.append({"nodes": nodes, "per_node": per_node, "bytes": size, "scheme": name,
                         "corymb_ns": choice.predicted})  # fmt: skip
        where = [rank // per_node for rank in range(nodes * per_node)]
        for row, time in zip(rows, replayed(program, size, where, plans), strict=True):
            row["simgrid_ns"] = time
            row["ratio"] = row["corymb_ns"] / time
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="corymb's simulator beside SimGrid.")
    parser.add_argument("--replay", type=Path, required=True, help="the compiled replay.cpp")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    print(f"allgather, simulated twice: {START_UP_NS:.0f} ns to start, {GBS:.0f} GB/s a node")
    print(f"{'nodes':>8} {'bytes':>8}  {'scheme':24} {'corymb, us':>12} {'SimGrid, us':>12} ratio")
    for nodes, per_node in ((2, 1), (8, 1), (32, 1), (8, 4), (16, 8)):
        for size in SIZES:
            for row in compare(options.replay, nodes, per_node, size):
                print(f"{nodes:>4} x{per_node:2} {size:>8}  {row['scheme']:24} "
                      f"{row['corymb_ns'] / 1000:12.2f} {row['simgrid_ns'] / 1000:12.2f} "
                      f"{row['ratio']:5.3f}")  # fmt: skip
                rows.append(row)
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    apart = [row for row in rows if row["per_node"] == 1 and abs(row["ratio"] - 1) > TOLERANCE]
    if apart:
        sys.stderr.write(f"simgrid-check: {len(apart)} rows without shared links differ by more "
                         f"than {100 * TOLERANCE:.0f} %\n")  # fmt: skip
        sys.exit(1)


if __name__ == "__main__":
    main()
