# SPDX-License-Identifier: Apache-2.0
"""corymb partition beside METIS and KaHIP: python bench/partition [--graphs LIST] [--seeds N].

Needs gpmetis (package metis), WordNet (wordnet-base), `corymb` on the PATH, and a Python with
bench/partition/requirements.txt. Writes docs/results/data/partition.json, which `make results`
renders."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import contestants
import inputs

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "docs" / "results" / "data" / "partition.json"
sys.path += [str(ROOT / "tools" / "results"), str(ROOT / "bench" / "papers")]

import render  # noqa: E402  tools/results/render.py
import take  # noqa: E402

K = 16
RANKS = (1, 2, 4)
Row = dict[str, Any]


def measure(graph: inputs.Graph, file: Path, seeds: int) -> list[Row]:
    """The median cut and time of each contestant over seeds."""
    runs: dict[str, Callable[[int], contestants.Result]] = {
        "METIS": lambda seed: contestants.metis(file, K, seed),
        "KaHIP fast": lambda seed: contestants.kahip(graph, K, seed),
    }
    for ranks in RANKS:
        runs[f"corymb, {ranks} ranks" if ranks > 1 else "corymb, 1 rank"] = (
            lambda seed, ranks=ranks: contestants.corymb(file, K, seed, ranks)
        )
    found: dict[str, list[tuple[int, float, float]]] = {name: [] for name in runs}
    for seed in range(1, seeds + 1):  # In turns, so that all see the same load.
        for name, run in runs.items():
            if name.startswith("KaHIP") and seed > 1:
                continue  # It takes long, and seeds change little.
            result = run(seed)
            found[name].append((
                *contestants.cut_and_balance(graph, result.parts, K), result.seconds,
            ))  # fmt: skip
    rows = []
    for name, results in found.items():
        cuts, balances, seconds = zip(*results, strict=True)
        rows.append({
            "graph": graph.name, "kind": graph.kind, "vertices": graph.vertices,
            "edges": len(graph.edges), "contestant": name, "cut": statistics.median(cuts),
            "imbalance": round(max(balances) - 1, 4),
            "seconds": round(statistics.median(seconds), 3),
        })  # fmt: skip
    metis = rows[0]["cut"]
    for row in rows:
        row["cut_over_metis"] = round(row["cut"] / metis, 3)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", default=",".join(inputs.ALL), help="of " + ",".join(inputs.ALL))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--record", type=Path, default=RECORD)
    chosen = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.graphs.split(","):
            graph = inputs.ALL[name]()
            file = Path(folder) / f"{name}.graph"
            graph.write(file)
            rows += measure(graph, file, chosen.seeds)
            for row in rows[-5:]:
                print(row["graph"], row["contestant"], row["cut"], row["seconds"], flush=True)
    record = render.load(chosen.record)
    record["rows"]["cuts"] = rows
    record["measured"] = take.origin("python bench/partition")
    take.save(chosen.record, record)


main()
