# SPDX-License-Identifier: Apache-2.0
"""Graphs to divide: meshes, networks that are real, and random ones. Each is an array of edges with
each edge once."""

from __future__ import annotations

import itertools
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Edges = npt.NDArray[np.int64]
WORDNET = Path("/usr/share/wordnet")
KINDS = ("mesh", "real", "random")


@dataclass(frozen=True)
class Graph:
    name: str
    kind: str  # One of KINDS.
    vertices: int
    edges: Edges  # Shape (edges, 2). Invariant: the first column is the smaller one.

    def rows(self) -> tuple[Edges, Edges]:
        """Compressed rows: where each begins, and the neighbours."""
        ends = np.concatenate([self.edges, self.edges[:, ::-1]])
        ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        begins = np.zeros(self.vertices + 1, np.int64)
        np.cumsum(np.bincount(ends[:, 0], minlength=self.vertices), out=begins[1:])
        return begins, ends[:, 1]

    def write(self, file: Path) -> None:
        """In METIS's format."""
        begins, targets = self.rows()
        words = (targets + 1).astype(str)
        with file.open("w") as out:
            out.write(f"{self.vertices} {len(self.edges)}\n")
            for begin, end in itertools.pairwise(begins):
                out.write(" ".join(words[begin:end]) + "\n")


def simple(name: str, kind: str, vertices: int, edges: Edges) -> Graph:
    """Without loops, and each edge once."""
    small, large = edges.min(axis=1), edges.max(axis=1)
    keys = np.unique(small[small != large] * vertices + large[small != large])
    return Graph(name, kind, vertices, np.stack([keys // vertices, keys % vertices], axis=1))


def grid(side: int) -> Graph:
    number = np.arange(side * side).reshape(side, side)
    across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
    down = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
    return simple(f"grid {side} x {side}", "mesh", side * side, np.concatenate([across, down]))


def delaunay(scale: int, shuffled: bool = False) -> Graph:
    """The Delaunay triangulation of random points, in the order of cells of a grid or in none."""
    from scipy.spatial import Delaunay

    points = np.random.default_rng(1).random((1 << scale, 2))
    if not shuffled:
        cells = (points * (2 ** (scale / 2 - 3) + 1)).astype(np.int64)
        points = points[np.lexsort((cells[:, 1], cells[:, 0]))]
    corners = Delaunay(points).simplices.astype(np.int64)
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    name = f"Delaunay 2^{scale}" + (", shuffled" if shuffled else "")
    return simple(name, "mesh", 1 << scale, edges)


def rmat(scale: int, draws: int) -> Graph:
    """Recursive matrix with the weights of Graph500 (Chakrabarti, Zhan, Faloutsos, SDM 2004)."""
    random = np.random.default_rng(1)
    edges = np.zeros((draws, 2), np.int64)
    for _ in range(scale):
        draw = random.random(draws)
        edges[:, 0] = 2 * edges[:, 0] + (draw >= 0.76)
        edges[:, 1] = 2 * edges[:, 1] + (((draw >= 0.57) & (draw < 0.76)) | (draw >= 0.95))
    return simple(f"R-MAT {scale}, {draws} draws", "random", 1 << scale, edges)


def named(name: str, pairs: list[tuple[object, object]]) -> Graph:
    """Vertices are numbered as they come."""
    numbers: dict[object, int] = {}
    edges = np.array(
        [[numbers.setdefault(end, len(numbers)) for end in pair] for pair in pairs], np.int64
    )
    return simple(name, "real", len(numbers), edges)


def debian() -> Graph:
    """Packages and what they depend on, from apt's lists."""
    text = subprocess.run(
        ["apt-cache", "dumpavail"], capture_output=True, text=True, check=True
    ).stdout
    package, pairs = "", []
    for line in text.splitlines():
        field, _, value = line.partition(": ")
        if field == "Package":
            package = value
        elif field in ("Depends", "Pre-Depends"):
            wanted = re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9.+-]*)", value)
            pairs += [(package, other) for other in wanted]
    return named("Debian packages", pairs)


def wordnet() -> Graph:
    """Sets of synonyms and their relations: wndb(5WN)."""
    pairs = []
    for part in ("noun", "verb", "adj", "adv"):
        for line in (WORDNET / f"data.{part}").read_text().splitlines():
            words = line.split()
            if line.startswith("  "):
                continue
            own = (words[2].replace("s", "a"), words[0])
            begin = 4 + 2 * int(words[3], 16)
            for at in range(int(words[begin])):
                _, place, kind, _ = words[begin + 1 + 4 * at : begin + 5 + 4 * at]
                pairs.append((own, (kind.replace("s", "a"), place)))
    return named("WordNet", pairs)


ALL: dict[str, Callable[[], Graph]] = {
    "grid": lambda: grid(1024),
    "delaunay17": lambda: delaunay(17),
    "shuffled17": lambda: delaunay(17, shuffled=True),
    "delaunay20": lambda: delaunay(20),
    "debian": debian,
    "wordnet": wordnet,
    "rmat15": lambda: rmat(15, 1 << 18),
    "rmat18": lambda: rmat(18, 1 << 22),
}
