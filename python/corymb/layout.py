# SPDX-License-Identifier: Apache-2.0
"""The order in which PUs are shown, and the nested groups that they are shown in.

Both follow the *measured* classes: pairs of the cheapest class are merged first, then those of the
next class, and so on (single linkage). What ends in one cluster at a level stands together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corymb import Machine

REST = -1  # the label of what is in no group: with_rest


@dataclass(frozen=True)
class Layout:
    """`order` lists PU indexes. `levels[k][pu]` is the cluster of a PU, coarsest level first;
    levels that would say nothing (one cluster, or as many as PUs) are left out."""

    order: NDArray[np.int64]
    levels: list[NDArray[np.int64]]


def layout_of(machine: Machine, pus: Sequence[int] | None = None) -> Layout:
    """The layout of a machine, or of some of its PUs (indexes into `pus` then)."""
    chosen = np.arange(len(machine)) if pus is None else np.asarray(pus, dtype=np.int64)
    groups = np.asarray(machine.group, dtype=np.int64)
    if len(chosen) == 0 or len(groups) == 0:
        return Layout(np.arange(len(chosen)), [])
    used, of_pu = np.unique(groups[chosen], return_inverse=True)
    classes = machine.class_matrix()
    if len(used) < len(classes):
        classes = classes[np.ix_(used, used)]
    labels = _linkage(classes, _class_costs(machine))
    levels = [label[of_pu] for label in labels]
    levels = _without_trivial(levels, len(chosen))
    keys = [np.arange(len(chosen)), of_pu, *reversed([_by_first_member(k) for k in levels])]
    return Layout(np.lexsort(keys), levels)


def rooted(layout: Layout, root: int) -> Layout:
    """The same groups in an order that begins with the root and the groups that have it."""

    def place(rank: int) -> tuple[bool, ...]:
        return (*(bool(level[rank] != level[root]) for level in layout.levels), rank != root)

    order = sorted((int(rank) for rank in layout.order), key=place)
    return Layout(np.asarray(order, dtype=np.int64), layout.levels)


def with_rest(levels: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """The same levels for a picture, in which the outermost has the groups that nothing joined
    under one label, REST. Where one package's caches have been measured nearer to each other than
    those of another package, the picture would else be one large box and many small ones."""
    if len(levels) < 2:
        return levels
    outer = levels[0]
    single = [label for label in np.unique(outer) if len(np.unique(levels[1][outer == label])) == 1]
    if len(single) < 2 or len(single) == len(np.unique(outer)):
        return levels
    return [np.where(np.isin(outer, single), REST, outer), *levels[1:]]


def _class_costs(machine: Machine) -> NDArray[np.float64]:
    costs = [c.send.median + c.receive.median for c in machine.classes]
    return np.asarray(np.nan_to_num(np.asarray(costs, dtype=float), nan=np.inf))


def _linkage(classes: NDArray[np.int32], costs: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """Labels of the groups after each class, dearest class (one cluster, usually) first."""
    labels = [np.arange(len(classes))]
    # Class -1 stands for no pair; it takes the last place, which no limit reaches.
    with_none = np.append(costs, np.inf)
    for limit in np.unique(costs[np.isfinite(costs)]):
        labels.append(_components((with_none <= limit)[classes]))
    return labels[::-1]


def _components(linked: NDArray[np.bool_]) -> NDArray[np.int64]:
    count = len(linked)
    label = np.full(count, -1)
    for start in range(count):
        if label[start] >= 0:
            continue
        front = np.zeros(count, dtype=bool)
        front[start] = True
        members = front.copy()
        while front.any():
            front = linked[front].any(axis=0) & ~members
            members |= front
        label[members] = start
    return label


def _without_trivial(levels: list[NDArray[np.int64]], count: int) -> list[NDArray[np.int64]]:
    kept: list[NDArray[np.int64]] = []
    sizes: set[int] = set()
    for level in levels:
        clusters = len(np.unique(level))
        if 1 < clusters < count and clusters not in sizes:
            sizes.add(clusters)
            kept.append(np.unique(level, return_inverse=True)[1])
    return kept


def _by_first_member(level: NDArray[np.int64]) -> NDArray[np.int64]:
    """Renumbers clusters in the order of their first member."""
    _, first, inverse = np.unique(level, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def downsample(matrix: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """Means of blocks, so that at most `side` rows and columns remain; missing entries (NaN) do not
    count."""
    count = len(matrix)
    if count <= side:
        return matrix
    edges = np.linspace(0, count, side + 1).astype(int)
    present = np.isfinite(matrix)
    total = _block_sums(np.where(present, matrix, 0.0), edges)
    weight = _block_sums(present.astype(float), edges)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total / weight, dtype=float)


def _block_sums(values: NDArray[np.float64], edges: NDArray[np.int64]) -> NDArray[np.float64]:
    rows = np.add.reduceat(values, edges[:-1], axis=0)
    return np.asarray(np.add.reduceat(rows, edges[:-1], axis=1))
