# SPDX-License-Identifier: Apache-2.0
"""Where the ranks of a compared program run: on this machine, or on nodes made of namespaces
(bench/cluster/nodes.py), as root."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pairs

sys.path.insert(0, str(pairs.ROOT / "bench" / "cluster"))
import launch

SHAPE = r"[1-9]\d*x[1-9]\d*"


@dataclass(frozen=True)
class Place:
    """So many ranks on each of some nodes; 0 nodes: on this machine. Links of `rate`."""

    per_node: int
    nodes: int = 0
    rate: str = ""

    @property
    def ranks(self) -> int:
        return self.per_node * max(self.nodes, 1)

    @property
    def shape(self) -> str:
        return f"{self.nodes}x{self.per_node}" if self.nodes else ""

    def run(self, mpi: pairs.Mpi, words: Sequence[Any], with_corymb: bool, limit_s: float) -> str:
        """Standard output of the program."""
        if not self.nodes:
            return pairs.run(mpi, self.ranks, words, with_corymb, limit_s)
        loaded = [f"LD_PRELOAD={mpi.adapter}"] if with_corymb else []
        # Not all launchers hand on variables.
        line = ["env", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", *loaded, *map(str, words)]
        try:
            return launch.run(mpi.place, self.rate, self.nodes, self.per_node, line, limit_s)
        except launch.FailedError as error:
            raise pairs.FailedError(str(error)) from error


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--shapes", default="", help="nodes x ranks of each, instead of --ranks")
    parser.add_argument("--rate", default="200mbit", help="of each link and way, as tc writes it")


def places_of(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[Place]:
    """Those of --shapes, else of --ranks; says which word is wrong and ends with status 2."""
    if not options.shapes:
        if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", options.ranks):
            parser.error("--ranks is a list such as 2,4")
        return [Place(int(word)) for word in options.ranks.split(",")]
    if not re.fullmatch(f"{SHAPE}(,{SHAPE})*", options.shapes):
        parser.error("--shapes is a list such as 2x2,4x2")
    shapes = (word.split("x") for word in options.shapes.split(","))
    return [Place(int(per_node), int(nodes), options.rate) for nodes, per_node in shapes]
