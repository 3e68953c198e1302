# SPDX-License-Identifier: Apache-2.0
"""corymb partition beside METIS and KaHIP: python bench/partition [--graphs LIST] [--seeds N].

Needs gpmetis (package metis), WordNet (wordnet-base), `corymb` on the PATH, and a Python with
bench/partition/requirements.txt. Writes docs/results/partition.json and partition.md."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import contestants
import inputs

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "results"
K = 16
RANKS = (1, 2, 4)
SLACK = {"mesh": 1.05, "real": 1.10, "random": float("inf")}
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
    return rows


def page(rows: list[Row], seeds: int) -> str:
    lines = [
        "<!-- SPDX-License-Identifier: Apache-2.0 -->",
        "# Partitions beside METIS and KaHIP",
        "",
        f"{K} parts, imbalance 3 %, medians of {seeds} seeds (KaHIP: one). Seconds are without",
        "reading. Each cell has the cut over that of METIS, and the seconds.",
        f"The machine has {os.cpu_count()} CPUs. Written by `python bench/partition`.",
        "",
    ]
    names = list(dict.fromkeys(row["contestant"] for row in rows))
    lines += ["| graph | edges | METIS's cut | " + " | ".join(names) + " |"]
    lines += ["|---" * (3 + len(names)) + "|"]
    losses = []
    for graph in dict.fromkeys(row["graph"] for row in rows):
        of_graph = {row["contestant"]: row for row in rows if row["graph"] == graph}
        base = of_graph["METIS"]
        cells = []
        for name in names:
            row = of_graph[name]
            ratio = row["cut"] / base["cut"]
            cells.append(f"{ratio:.3f}, {row['seconds']:.2f} s")
            if name.startswith("corymb") and ratio > 1:
                wanted = SLACK[row["kind"]]
                verdict = "within what is wanted" if ratio <= wanted else "**too much**"
                verdict = "nothing is wanted here" if row["kind"] == "random" else verdict
                losses.append(f"- {graph}, {name}: {100 * (ratio - 1):.1f} % more ({verdict})")
        lines.append(
            f"| {graph} | {base['edges']} | {base['cut']:.0f} | " + " | ".join(cells) + " |"
        )
    worst = max(row["imbalance"] for row in rows if row["contestant"].startswith("corymb"))
    lines += ["", f"The largest imbalance of corymb is {100 * worst:.2f} %.", ""]
    lines += ["Wanted is at most 5 % more than METIS on meshes and 10 % on real graphs."]
    lines += ["corymb's cut is larger than METIS's here:", "", *losses]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", default=",".join(inputs.ALL), help="of " + ",".join(inputs.ALL))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=FOLDER)
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
    record = {"schema": "corymb-partition-bench/1", "k": K, "seeds": chosen.seeds}
    record |= {"cpus": os.cpu_count(), "rows": rows}
    text = ",\n".join(json.dumps(row) for row in rows)
    head = json.dumps(record | {"rows": "ROWS"}, indent=1).replace('"ROWS"', f"[\n{text}\n]")
    (chosen.folder / "partition.json").write_text(head + "\n")
    (chosen.folder / "partition.md").write_text(page(rows, chosen.seeds))


main()
