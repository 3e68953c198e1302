# SPDX-License-Identifier: Apache-2.0
"""Where to draw the PUs of a machine: nested groups become nested boxes in a plane."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from corymb.layout import REST, with_rest

GAP = 0.55
LEVELS_SHOWN = 3


@dataclass
class Drawing:
    """Positions of the items (unit spacing) and boxes (x0, y0, x1, y1, depth)."""

    positions: NDArray[np.float64]
    boxes: list[tuple[float, float, float, float, int]] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0


def place(
    order: Sequence[int], levels: Sequence[NDArray[np.int64]], aspect: float = 2.2
) -> Drawing:
    """Places the items of `order` in boxes after `levels` (coarsest first). `aspect` is the wanted
    width over height of the whole drawing."""
    drawing = Drawing(np.zeros((len(order), 2)))
    shown = with_rest(_shown(list(levels)))
    size = _place(list(order), shown, 0, drawing, (0.0, 0.0), aspect)
    drawing.width, drawing.height = size
    return drawing


def _shown(levels: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """The outermost level, the innermost and what fits between."""
    if len(levels) <= LEVELS_SHOWN:
        return levels
    return [levels[0], levels[len(levels) // 2], levels[-1]]


def _clusters(items: list[int], level: NDArray[np.int64]) -> list[list[int]]:
    clusters: dict[int, list[int]] = {}
    for item in items:
        clusters.setdefault(int(level[item]), []).append(item)
    return list(clusters.values())


def _place(
    items: list[int],
    levels: list[NDArray[np.int64]],
    depth: int,
    drawing: Drawing,
    corner: tuple[float, float],
    aspect: float,
) -> tuple[float, float]:
    """Places `items` with the upper left at `corner`; returns width and height."""
    if depth == len(levels):
        columns = _columns(len(items), aspect)
        for index, item in enumerate(items):
            row, column = divmod(index, columns)
            drawing.positions[item] = (corner[0] + column + 0.5, corner[1] + row + 0.5)
        return float(columns), float(math.ceil(len(items) / columns))
    parts = _clusters(items, levels[depth])
    inner_aspect = 1.0 if depth + 1 < len(levels) else 1.3
    trial = Drawing(drawing.positions.copy())
    sizes = [_place(p, levels, depth + 1, trial, (0.0, 0.0), inner_aspect) for p in parts]
    outer = [(width + 2 * GAP, height + 2 * GAP) for width, height in sizes]
    shelves = _shelves(outer, aspect)
    for part, size, (x, y) in zip(parts, sizes, shelves.corners, strict=True):
        left, top = corner[0] + x + GAP, corner[1] + y + GAP
        _place(part, levels, depth + 1, drawing, (left, top), inner_aspect)
        edge = GAP * 0.6
        box = (left - edge, top - edge, left + size[0] + edge, top + size[1] + edge, depth)
        if levels[depth][part[0]] != REST:
            drawing.boxes.append(box)
    return shelves.width, shelves.height


@dataclass(frozen=True)
class Shelves:
    """Boxes standing in rows: the upper left corner of each, and the size of all together."""

    corners: list[tuple[float, float]]
    width: float
    height: float


def _shelves(sizes: list[tuple[float, float]], aspect: float) -> Shelves:
    """Puts boxes in rows of the width that brings the whole nearest to the wanted aspect. Equal
    boxes become a grid."""
    widths = np.cumsum([width for width, _ in sizes])
    widest = max(width for width, _ in sizes)
    limits = sorted({max(float(width), widest) for width in widths[:64]} | {float(widths[-1])})

    def badness(shelves: Shelves) -> float:
        filled = sum(w * h for w, h in sizes) / (shelves.width * shelves.height)
        return abs(math.log(shelves.width / shelves.height / aspect)) + 2 * (1 - filled)

    return min((_rows(sizes, limit) for limit in limits), key=badness)


def _rows(sizes: list[tuple[float, float]], limit: float) -> Shelves:
    corners: list[tuple[float, float]] = []
    x = y = row = widest = 0.0
    for width, height in sizes:
        if x > 0 and x + width > limit + 1e-9:
            x, y, row = 0.0, y + row, 0.0
        corners.append((x, y))
        x += width
        row = max(row, height)
        widest = max(widest, x)
    return Shelves(corners, widest, y + row)


def _columns(count: int, aspect: float) -> int:
    """Number of columns that brings a grid of `count` cells nearest to the wanted aspect."""

    def badness(columns: int) -> tuple[float, int]:
        rows = math.ceil(count / columns)
        empty = columns * rows - count
        return abs(math.log(columns / rows / aspect)) + 3 * empty / count, columns

    return min(range(1, count + 1), key=badness)
