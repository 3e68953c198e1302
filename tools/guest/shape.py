# SPDX-License-Identifier: Apache-2.0
"""The shape of a machine: what QEMU is told to build, and what must then be found in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(frozen=True)
class Cpu:
    """Where one CPU is: numbers over the whole machine, in the order in which QEMU makes them."""

    number: int
    core: int
    die: int
    package: int
    node: int


@dataclass(frozen=True)
class Shape:
    """Sockets x dies x cores x threads, and NUMA nodes to which the CPUs are dealt in order."""

    sockets: int
    dies: int
    cores: int
    threads: int
    nodes: int = 1
    distances: list[list[int]] = field(default_factory=list)
    """By node; empty: those that QEMU takes, 10 within a node and 20 between two."""

    @property
    def count(self) -> int:
        return self.sockets * self.dies * self.cores * self.threads

    def first_cpu_of_node(self, node: int) -> int:
        return node * self.count // self.nodes

    def cpus(self) -> list[Cpu]:
        """Every CPU, offline ones too."""
        starts = [self.first_cpu_of_node(node) for node in range(self.nodes + 1)]
        node_of = [n for n, (begin, end) in enumerate(pairwise(starts)) for _ in range(begin, end)]
        return [
            Cpu(
                number,
                number // self.threads,
                number // (self.threads * self.cores),
                number // (self.threads * self.cores * self.dies),
                node_of[number],
            )
            for number in range(self.count)
        ]

    def distance(self, a: int, b: int) -> int:
        """Between two nodes, as the kernel must tell it."""
        return self.distances[a][b] if self.distances else (10 if a == b else 20)

    def qemu_options(self, mebibytes: int) -> list[str]:
        """Processors and memory."""
        smp = f"{self.count},sockets={self.sockets},dies={self.dies},"
        smp += f"cores={self.cores},threads={self.threads}"
        options = ["-smp", smp, "-m", f"{mebibytes}M"]
        if self.nodes == 1:
            return options
        for node in range(self.nodes):
            first, last = self.first_cpu_of_node(node), self.first_cpu_of_node(node + 1) - 1
            memory = f"memory-backend-ram,id=memory{node},size={mebibytes // self.nodes}M"
            numa = f"node,nodeid={node},memdev=memory{node},cpus={first}-{last}"
            options += ["-object", memory, "-numa", numa]
        for a, row in enumerate(self.distances):  # After all nodes.
            for b, value in enumerate(row):
                options += ["-numa", f"dist,src={a},dst={b},val={value}"]
        return options


def parse_shape(text: str, numa: str = "1") -> Shape:
    """From "2x4x2" or, with dies, "2x2x4x2", and a number of nodes or rows of distances such as
    "10,21;21,10"."""
    if not re.fullmatch(r"[1-9][0-9]*(x[1-9][0-9]*){2,3}", text):
        raise ValueError(f"shape '{text}': give sockets x cores x threads, such as 2x4x2")
    levels = [int(level) for level in text.split("x")]
    dies = levels[1] if len(levels) == 4 else 1
    distances: list[list[int]] = []
    if "," in numa:
        distances = [[int(value) for value in row.split(",")] for row in numa.split(";")]
        nodes = len(distances)
        if any(len(row) != nodes for row in distances):
            raise ValueError(f"distances '{numa}': give as many in each row as there are rows")
    else:
        nodes = int(numa)
    shape = Shape(levels[0], dies, levels[-2], levels[-1], nodes, distances)
    if not 1 <= nodes <= shape.count:
        raise ValueError(f"{nodes} nodes do not fit {shape.count} CPUs")
    return shape
