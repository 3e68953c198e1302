# SPDX-License-Identifier: Apache-2.0
"""Bench curves: corymb and its peers, one panel an operation."""

from __future__ import annotations

from collections.abc import Sequence

from corymb.picture.palette import BLUE, PEERS
from corymb.picture.panels import Panel, Row, curve, panels
from corymb.picture.svg import Figure


def bench_curves(rows: Sequence[Row]) -> Figure:
    """`rows` as in the JSON of `corymb bench`: one panel an operation and payload, the number of
    ranks to the right. corymb's own variants are left out."""
    rows = [row for row in rows if _is_shown(row)]
    names = sorted({row["contestant"] for row in rows}, key=lambda n: (n != "corymb", n))
    shown = []
    for op, size in dict.fromkeys((row["op"], row["bytes"]) for row in rows):
        mine = [row for row in rows if (row["op"], row["bytes"]) == (op, size)]
        drawn = []
        for number, name in enumerate(names):
            points = _points(mine, name)
            if points:
                own = BLUE if name == "corymb" else None
                peer = PEERS[(number - 1) % len(PEERS)]
                drawn.append(curve(points, "ranks", name, number, own, peer))
        title = op if op == "barrier" else f"{op}, {size} B"
        shown.append(Panel(title, "ranks", "median, ns", drawn))
    return panels(shown)


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
