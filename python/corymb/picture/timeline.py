# SPDX-License-Identifier: Apache-2.0
"""Per rank: when it works and when it waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from corymb.picture.palette import BLUE, GREEN, ORANGE, PALE
from corymb.picture.style import styled

WAITING = "waiting"
COLORS = {WAITING: PALE, "sending": BLUE, "receiving": ORANGE, "combining": GREEN}
WORK = {
    "send": "sending",
    "signal": "sending",
    "publish": "sending",
    "offer": "sending",
    "put": "sending",
    "recv": "receiving",
    "wait": "receiving",
    "read": "receiving",
    "fold": "combining",
    "read_fold": "combining",
    "put_fold": "combining",
    "copy": "combining",
}


@dataclass(frozen=True)
class Stretch:
    """One rank does one thing from `begin` to `end`."""

    rank: int
    doing: str  # a key of COLORS
    begin: float
    end: float


def timeline_chart(stretches: Sequence[Stretch], order: Sequence[int], unit: str) -> go.Figure:
    """Bars over time, ranks from top to bottom in `order`."""
    row = {rank: place for place, rank in enumerate(order)}
    figure = go.Figure()
    for doing, color in COLORS.items():
        mine = [s for s in stretches if s.doing == doing and s.end > s.begin]
        if not mine:
            continue
        figure.add_bar(
            name=doing,
            orientation="h",
            y=[row[s.rank] for s in mine],
            base=np.asarray([s.begin for s in mine]),
            x=np.asarray([s.end - s.begin for s in mine]),
            marker={"color": color, "line": {"width": 0}},
            customdata=[[s.rank, s.begin, s.end] for s in mine] if len(order) <= 128 else None,
            hovertemplate=(
                "rank %{customdata[0]} " + doing + " from %{customdata[1]:.4~g} to "
                "%{customdata[2]:.4~g} " + unit + "<extra></extra>"
            )
            if len(order) <= 128
            else None,
            hoverinfo=None if len(order) <= 128 else "skip",
        )
    step = max(1, -(-len(order) // 32))
    ticks = list(range(0, len(order), step))
    figure.update_yaxes(
        title="rank", autorange="reversed", tickvals=ticks, ticktext=[str(order[i]) for i in ticks],
        showgrid=False,
    )  # fmt: skip
    figure.update_xaxes(title=f"time, {unit}", rangemode="tozero")
    height = int(np.clip(150 + 20 * len(order), 240, 760))
    return styled(figure, height, barmode="overlay", bargap=0.2 if len(order) <= 64 else 0)
