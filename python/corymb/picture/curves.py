# SPDX-License-Identifier: Apache-2.0
"""Bench curves: corymb and its peers, one panel an operation."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from corymb.picture.palette import BLUE, PEERS
from corymb.picture.panels import Panels, Row, curve


def bench_curves(rows: Sequence[Row]) -> go.Figure:
    """`rows` as in the JSON of `corymb bench`: one panel an operation and payload, the number of
    ranks to the right. corymb's own variants are left out."""
    rows = [row for row in rows if _is_shown(row)]
    panels = list(dict.fromkeys((row["op"], row["bytes"]) for row in rows))
    names = sorted({row["contestant"] for row in rows}, key=lambda n: (n != "corymb", n))
    titles = [op if op == "barrier" else f"{op}, {size} B" for op, size in panels]
    grid = Panels(titles, line_height=300, title_room=0.22, axis_room=70)
    for index, (op, size) in enumerate(panels):
        mine = [row for row in rows if (row["op"], row["bytes"]) == (op, size)]
        for number, name in enumerate(names):
            points = _points(mine, name)
            if points:
                own_colour = BLUE if name == "corymb" else None
                peer_colour = PEERS[(number - 1) % len(PEERS)]
                drawn = curve(points, "ranks", "ranks", name, number, own_colour, peer_colour)
                grid.add(index, drawn)
        grid.count_axis(index, "ranks", sorted({row["ranks"] for row in mine}))
    return grid.finished(names_per_line=5)


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
