# SPDX-License-Identifier: Apache-2.0
"""Who divides a graph file: corymb, METIS's gpmetis, and KaHIP. Each gives parts, which are judged
here in the same way, and the seconds that it says it has taken without reading."""

from __future__ import annotations

import json
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from inputs import Graph

IMBALANCE = 0.03
LIMIT_S = 900


@dataclass(frozen=True)
class Result:
    parts: npt.NDArray[np.int64]
    seconds: float


def cut_and_balance(graph: Graph, parts: npt.NDArray[np.int64], k: int) -> tuple[int, float]:
    """Edges between parts, and the heaviest part over the average."""
    ends = parts[graph.edges]
    sizes = np.bincount(parts, minlength=k)
    return int((ends[:, 0] != ends[:, 1]).sum()), float(sizes.max() * k / graph.vertices)


def corymb(file: Path, k: int, seed: int, ranks: int) -> Result:
    out = file.with_suffix(".parts")
    command = ["corymb", "partition", file, "-k", k, "-o", out, "--ranks", ranks, "--seed", seed]
    told = file.with_suffix(".json")
    words = [str(word) for word in [*command, "--json", told]]
    subprocess.run(words, check=True, timeout=LIMIT_S, stdout=subprocess.DEVNULL)
    report = json.loads(told.read_text())
    seconds = sum(report[name] for name in ("coarsen_s", "divide_s", "refine_s"))
    return Result(np.loadtxt(out, np.int64), seconds)


def metis(file: Path, k: int, seed: int) -> Result:
    words = ["gpmetis", f"-seed={seed}", f"-ufactor={round(1000 * IMBALANCE)}", str(file), str(k)]
    done = subprocess.run(words, check=True, timeout=LIMIT_S, capture_output=True, text=True)
    time_of = re.search(r"Partitioning:\s+([\d.]+) sec", done.stdout)
    assert time_of is not None
    parts = np.loadtxt(f"{file}.part.{k}", np.int64)
    Path(f"{file}.part.{k}").unlink()
    return Result(parts, float(time_of[1]))


def kahip(graph: Graph, k: int, seed: int) -> Result:
    import kahip as library

    begins, targets = graph.rows()
    mode = library.FAST if graph.kind == "mesh" else library.FASTSOCIAL
    begin = time.perf_counter()
    _, parts = library.kaffpa(
        np.ones(graph.vertices, np.int64).tolist(), begins.tolist(),
        np.ones(len(targets), np.int64).tolist(), targets.tolist(), k, IMBALANCE, True, seed, mode,
    )  # fmt: skip
    return Result(np.array(parts), time.perf_counter() - begin)
