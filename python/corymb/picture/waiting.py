# SPDX-License-Identifier: Apache-2.0
"""The waiting map: corymb's time over that of plain code, a colour a cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from corymb.picture.page import Section
from corymb.picture.palette import BLUE, INK, VERMILION
from corymb.picture.svg import Canvas, Figure, Key, Picture, symbol

Row = dict[str, Any]
Column = tuple[str, int, int, int]

# The ratio at which a colour is at its full; blue is faster, red is slower, white is equal.
FULL_RATIO = 4.0
MIDDLE = "#f7f7f7"
TICKS = (0.25, 0.5, 1.0, 2.0, 4.0)
LEFT, TOP, BOTTOM = 150, 24, 130  # pixels around the cells
LINE_HEIGHT = 18


def waiting_map(rows: Sequence[Row]) -> Figure:
    """`rows` as in the JSON of `corymb bench waiting`: lines are operations and sizes, columns the
    loads and ranks. A mark is on cells that are worse."""
    shown = [row for row in rows if row["ratio"] is not None]
    lines = sorted({(row["op"], row["bytes"]) for row in shown})
    columns = sorted({_column(row) for row in shown})

    def draw(width: float) -> Canvas:
        canvas = Canvas(width, TOP + LINE_HEIGHT * len(lines) + BOTTOM)
        step = (width - LEFT - 30) / max(len(columns), 1)
        _labels(canvas, lines, columns, step)
        for row in shown:
            x = LEFT + columns.index(_column(row)) * step
            y = TOP + lines.index((row["op"], row["bytes"])) * LINE_HEIGHT
            fill = _shade(row["ratio"])
            canvas.rect(x, y, step - 1, LINE_HEIGHT - 1, fill, title=_text(row))
            if row["worse_median"] or row["worse_p99"]:
                radius = min(3.5, step / 3)
                symbol(canvas, "cross", x + step / 2, y + LINE_HEIGHT / 2, radius, "#101418")
        return canvas

    return Figure(
        [Picture("corymb's time over that of plain code", draw)],
        [Key(f"{tick:g} x", _shade(tick)) for tick in TICKS],
    )


def _labels(
    canvas: Canvas, lines: Sequence[tuple[str, int]], columns: Sequence[Column], step: float
) -> None:
    bottom = TOP + LINE_HEIGHT * len(lines)
    for place, (op, size) in enumerate(lines):
        y = TOP + place * LINE_HEIGHT + 13
        canvas.text(LEFT - 6, y, f"{op} {size} B", anchor="end", size=11)
    for load in dict.fromkeys(column[:3] for column in columns):
        mine = [i for i, column in enumerate(columns) if column[:3] == load]
        x = LEFT + mine[0] * step
        canvas.line(x - 0.5, TOP, x - 0.5, bottom + 4, INK, 0.8)
        middle = LEFT + (mine[0] + mine[-1] + 1) / 2 * step
        canvas.text(middle + 4, bottom + 12, _load_text(load), anchor="end", size=11, turn=-50)


def _shade(ratio: float) -> str:
    """The colour of a ratio: logarithmic, to both sides of equal."""
    part = math.log(max(ratio, 1e-3)) / math.log(FULL_RATIO)
    end = BLUE if part < 0 else VERMILION
    part = min(abs(part), 1.0)
    pairs = [(int(MIDDLE[i : i + 2], 16), int(end[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(low + (high - low) * part):02x}" for low, high in pairs)


def _column(row: Row) -> Column:
    return row["kind"], row["cpus"], ("none", "one", "all").index(row["neighbours"]), row["ranks"]


def _load_text(load: tuple[str, int, int]) -> str:
    kind, cpus, neighbours = load
    beside = ("", ", 1 busy", ", all busy")[neighbours]
    return f"{kind}, {cpus} CPU{'s' * (cpus > 1)}{beside}"


def _text(row: Row) -> str:
    return (
        f"{row['op']} of {row['bytes']} B, {row['ranks']} {row['kind']}, {row['cpus']} CPUs, "
        f"neighbours: {row['neighbours']}\nmedian {row['median_us']:.4g} us, plain "
        f"{row['peer_median_us']:.4g} us\n99 % {row['p99_us']:.4g} us, plain "
        f"{row['peer_p99_us']:.4g} us\nfirst call {row['first_us']:.4g} us, plain "
        f"{row['peer_first_us']:.4g} us"
    )


def waiting_section(rows: Sequence[Row]) -> Section:
    worse = sum(bool(row["worse_median"] or row["worse_p99"]) for row in rows)
    caption = (
        "corymb's time over that of the simplest code that a user would write, measured in turns. "
        "Blue is faster, red is slower, empty was not measured. Within a column of one load the "
        f"number of ranks grows to the right. {worse} of {len(rows)} cells have a cross: in two of "
        "three runs they took more than 1.5 times as long at the median, or 3 times at the 99th "
        "percentile."
    )
    return Section("The waiting map", caption, "measured", figures=[waiting_map(rows)])
