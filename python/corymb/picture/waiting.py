# SPDX-License-Identifier: Apache-2.0
"""The waiting map: corymb's time over that of plain code, a colour a cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from corymb.picture.page import Section
from corymb.picture.palette import BLUE, INK, VERMILION
from corymb.picture.style import styled

Row = dict[str, Any]

# The ratio at which a colour is at its full; blue is faster, red is slower, white is equal.
FULL_RATIO = 4.0
SCALE = [[0.0, BLUE], [0.5, "#f7f7f7"], [1.0, VERMILION]]
TICKS = (0.25, 0.5, 1.0, 2.0, 4.0)
LINE_HEIGHT = 18


def waiting_map(rows: Sequence[Row]) -> go.Figure:
    """`rows` as in the JSON of `corymb bench waiting`: lines are operations and sizes, columns the
    loads and ranks. A mark is on cells that are worse."""
    shown = [row for row in rows if row["ratio"] is not None]
    lines = sorted({(row["op"], row["bytes"]) for row in shown})
    columns = sorted({_column(row) for row in shown})
    z = np.full((len(lines), len(columns)), np.nan)
    texts = np.full(z.shape, "", dtype=object)
    marks_x: list[int] = []
    marks_y: list[int] = []
    for row in shown:
        y, x = lines.index((row["op"], row["bytes"])), columns.index(_column(row))
        z[y, x] = math.log2(max(row["ratio"], 1e-3))
        texts[y, x] = _text(row)
        if row["worse_median"] or row["worse_p99"]:
            marks_x.append(x)
            marks_y.append(y)
    limit = math.log2(FULL_RATIO)
    figure = go.Figure(
        go.Heatmap(
            z=z.astype(np.float32), hovertext=texts, hovertemplate="%{hovertext}<extra></extra>",
            colorscale=SCALE, zmin=-limit, zmax=limit, xgap=1, ygap=1,
            colorbar={
                "title": {"text": "corymb / plain", "side": "top"}, "thickness": 12,
                "tickvals": [math.log2(tick) for tick in TICKS],
                "ticktext": [f"{tick:g} x" for tick in TICKS],
            },
        )
    )  # fmt: skip
    figure.add_trace(
        go.Scatter(
            x=marks_x, y=marks_y, mode="markers", hoverinfo="skip", showlegend=False,
            marker={"symbol": "x-thin", "size": 7, "line": {"width": 1.5, "color": INK}},
        )
    )  # fmt: skip
    loads = list(dict.fromkeys(column[:3] for column in columns))
    starts = [next(i for i, c in enumerate(columns) if c[:3] == load) for load in loads]
    figure.update_xaxes(
        tickvals=starts, ticktext=[_load_text(load) for load in loads], tickangle=60,
        showgrid=False, range=[-0.5, len(columns) - 0.5],
    )  # fmt: skip
    for start in starts[1:]:
        figure.add_vline(start - 0.5, line={"color": INK, "width": 0.8})
    figure.update_yaxes(
        tickvals=list(range(len(lines))), ticktext=[f"{op} {size} B" for op, size in lines],
        showgrid=False, range=[len(lines) - 0.5, -0.5],
    )  # fmt: skip
    return styled(figure, 220 + LINE_HEIGHT * len(lines), margin={"l": 120, "r": 40, "b": 150})


def _column(row: Row) -> tuple[str, int, int, int]:
    return row["kind"], row["cpus"], ("none", "one", "all").index(row["neighbours"]), row["ranks"]


def _load_text(load: tuple[str, int, int]) -> str:
    kind, cpus, neighbours = load
    beside = ("", ", 1 busy", ", all busy")[neighbours]
    return f"{kind}, {cpus} CPU{'s' * (cpus > 1)}{beside}"


def _text(row: Row) -> str:
    return (
        f"{row['op']} of {row['bytes']} B, {row['ranks']} {row['kind']}, {row['cpus']} CPUs, "
        f"neighbours: {row['neighbours']}<br>median {row['median_us']:.4g} us, plain "
        f"{row['peer_median_us']:.4g} us<br>99 % {row['p99_us']:.4g} us, plain "
        f"{row['peer_p99_us']:.4g} us<br>first call {row['first_us']:.4g} us, plain "
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
