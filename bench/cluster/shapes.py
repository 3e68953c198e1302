# SPDX-License-Identifier: Apache-2.0
"""How many ranks each node has, and how they are numbered: the words of --shapes."""

from __future__ import annotations

import argparse
import itertools
import re
from dataclasses import dataclass

from nodes import NODES_MOST

import corymb
from corymb.command import clusters

FORM = "8x4 (eight nodes of four ranks), 2x4+1x2 or cyclic:2x4+1x2"
CYCLIC = "cyclic:"
RUN = r"[1-9]\d*x[1-9]\d*"


@dataclass(frozen=True)
class Shape:
    """Runs of (nodes, ranks of each). Ranks are numbered node after node, or one on each node that
    has room, in turns."""

    runs: tuple[tuple[int, int], ...]
    is_cyclic: bool = False

    @classmethod
    def of(cls, word: str) -> Shape:
        """Raises ValueError for a word that is none."""
        rest = word.removeprefix(CYCLIC)
        if not re.fullmatch(rf"{RUN}(\+{RUN})*", rest):
            raise ValueError(f"'{word}' is no shape such as {FORM}")
        runs = [tuple(map(int, run.split("x"))) for run in rest.split("+")]
        shape = cls(tuple((nodes, ranks) for nodes, ranks in runs), rest != word)
        if shape.nodes > NODES_MOST:
            raise ValueError(f"'{word}' has more than {NODES_MOST} nodes")
        return shape

    def __str__(self) -> str:
        runs = "+".join(f"{nodes}x{ranks}" for nodes, ranks in self.runs)
        return (CYCLIC if self.is_cyclic else "") + runs

    @property
    def nodes(self) -> int:
        return sum(nodes for nodes, _ in self.runs)

    @property
    def ranks(self) -> int:
        return sum(nodes * ranks for nodes, ranks in self.runs)

    @property
    def most_per_node(self) -> int:
        return max(ranks for _, ranks in self.runs)

    @property
    def node_of_rank(self) -> list[int]:
        return list(self.cluster().node_of_rank)

    @property
    def stretches(self) -> list[tuple[int, int]]:
        """(node, ranks) of ranks that follow each other on one node."""
        return [(node, len(list(same))) for node, same in itertools.groupby(self.node_of_rank)]

    def cluster(self, network: str = clusters.DEFAULT_NETWORK) -> corymb.Cluster:
        order = "cyclic" if self.is_cyclic else "block"
        return clusters.cluster_of(list(self.runs), network, order=order)


def list_of(words: str) -> list[Shape]:
    """For argparse: of words with commas between them."""
    try:
        return [Shape.of(word) for word in words.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def one_of(word: str) -> Shape:
    """For argparse."""
    try:
        return Shape.of(word)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
