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
from shapes import FORM, Shape, list_of


@dataclass(frozen=True)
class Place:
    """That many ranks on this machine, or nodes of that shape with links of `rate`."""

    on_machine: int
    nodes: Shape | None = None
    rate: str = ""

    @property
    def ranks(self) -> int:
        return self.nodes.ranks if self.nodes is not None else self.on_machine

    @property
    def shape(self) -> str:
        return str(self.nodes) if self.nodes is not None else ""

    def run(self, mpi: pairs.Mpi, words: Sequence[Any], with_corymb: bool, limit_s: float) -> str:
        """Standard output of the program."""
        if self.nodes is None:
            return pairs.run(mpi, self.on_machine, words, with_corymb, limit_s)
        loaded = [f"LD_PRELOAD={mpi.adapter}"] if with_corymb else []
        # Not all launchers hand on variables.
        line = ["env", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", *loaded, *map(str, words)]
        try:
            return launch.Site(mpi.place, self.nodes, self.rate).run(line, limit_s)
        except launch.FailedError as error:
            raise pairs.FailedError(str(error)) from error


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--shapes", type=list_of, help=f"a list, instead of --ranks: {FORM}")
    parser.add_argument("--rate", default="200mbit", help="of each link and way, as tc writes it")


def places_of(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[Place]:
    """Those of --shapes, else of --ranks; says which word is wrong and ends with status 2."""
    if not options.shapes:
        if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", options.ranks):
            parser.error("--ranks is a list such as 2,4")
        return [Place(int(word)) for word in options.ranks.split(",")]
    return [Place(0, shape, options.rate) for shape in options.shapes]
