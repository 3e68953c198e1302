# SPDX-License-Identifier: Apache-2.0
"""Bench curves: corymb and its peers, one panel an operation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from corymb.picture.palette import BLUE, PEERS
from corymb.picture.style import styled

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "pentagon")


COLUMNS = 3
Row = Mapping[str, Any]


def bench_curves(rows: Sequence[Row]) -> go.Figure:
    """`rows` as in the JSON of `corymb bench`: one panel an operation and payload, the number of
    ranks to the right. corymb's own variants are left out."""
    rows = [row for row in rows if _is_shown(row)]
    panels = list(dict.fromkeys((row["op"], row["bytes"]) for row in rows))
    names = sorted({row["contestant"] for row in rows}, key=lambda n: (n != "corymb", n))
    columns = max(1, min(COLUMNS, len(panels)))
    lines = max(1, -(-len(panels) // columns))
    figure = make_subplots(
        rows=lines,
        cols=columns,
        subplot_titles=[op if op == "barrier" else f"{op}, {size} B" for op, size in panels],
        horizontal_spacing=0.08,
        vertical_spacing=0.22 / lines,
    )
    shown: set[str] = set()
    for index, (op, size) in enumerate(panels):
        mine = [row for row in rows if (row["op"], row["bytes"]) == (op, size)]
        place = {"row": index // columns + 1, "col": index % columns + 1}
        for number, name in enumerate(names):
            points = _points(mine, name)
            if points:
                figure.add_trace(_curve(points, name, number, name not in shown), **place)
                shown.add(name)
        ticks = sorted({row["ranks"] for row in mine})
        figure.update_xaxes(
            title="ranks", type="log", tickvals=ticks, ticktext=[str(t) for t in ticks],
            range=[math.log10(ticks[0]) - 0.1, math.log10(ticks[-1]) + 0.1], **place,
        )  # fmt: skip
    figure.update_yaxes(type="log", dtick=1, exponentformat="none", separatethousands=True)
    figure.update_yaxes(title="median, ns", col=1)
    legend_lines = -(-len(names) // 5)
    height = 300 * lines + 60 + 22 * legend_lines
    legend = {
        "orientation": "h", "yanchor": "top", "y": -70 / (height - 100), "x": 0, "xanchor": "left",
    }  # fmt: skip
    margin = {"l": 70, "r": 20, "t": 36, "b": 70 + 22 * legend_lines}
    return styled(figure, height, legend=legend, margin=margin)


def _is_shown(row: Row) -> bool:
    own_variant = row.get("family") == "corymb" and row["contestant"] != "corymb"
    usual = row["regime"] in {"alone", "oversubscribed"}
    return row["median_ns"] is not None and usual and not own_variant


def _points(rows: Sequence[Row], name: str) -> list[Row]:
    """The first row of each number of ranks."""
    first: dict[int, Row] = {}
    for row in rows:
        if row["contestant"] == name:
            first.setdefault(row["ranks"], row)
    return [first[ranks] for ranks in sorted(first)]


def _curve(points: Sequence[Row], name: str, number: int, in_legend: bool) -> go.Scatter:
    ours = name == "corymb"
    return go.Scatter(
        x=[p["ranks"] for p in points],
        y=[p["median_ns"] for p in points],
        error_y={
            "type": "data", "symmetric": False, "thickness": 1, "width": 3,
            "array": [max(0.0, p["q75"] - p["median_ns"]) for p in points],
            "arrayminus": [max(0.0, p["median_ns"] - p["q25"]) for p in points],
        },
        name=name, legendgroup=name, showlegend=in_legend, mode="lines+markers",
        line={"color": BLUE if ours else PEERS[(number - 1) % len(PEERS)],
              "width": 3.5 if ours else 1.5,
              "dash": "solid" if ours else ("dot", "dash", "solid")[number % 3]},
        marker={"size": 9 if ours else 7, "symbol": SYMBOLS[number % len(SYMBOLS)]},
        hovertemplate=name + ", %{x} ranks: %{y:.4~g} ns<extra></extra>",
    )  # fmt: skip
