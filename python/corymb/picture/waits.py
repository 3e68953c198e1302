# SPDX-License-Identifier: Apache-2.0
"""Who waits for whom, and when ranks have called each other."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from corymb.picture.palette import BLUE, INK, VERMILION, viridis_hex
from corymb.picture.style import plain, styled

LANES_MOST = 12
LABEL_MOST = 40


@dataclass(frozen=True)
class Step:
    """A task of a deadlock, and what it waits for: the next one has it."""

    rank: int
    runs: str
    waits_for: str


@dataclass(frozen=True)
class Call:
    """A call of one rank by another, in seconds; `end` is that of the picture if it has none."""

    rank: int
    to: int
    begin: float
    end: float
    is_over: bool


def short(name: str) -> str:
    """The last two parts of a C++ name."""
    text = "::".join(name.replace("(anonymous namespace)::", "").split("::")[-2:])
    return text if len(text) <= LABEL_MOST else text[: LABEL_MOST - 1] + "…"


def deadlock_circle(steps: Sequence[Step]) -> go.Figure:
    """The tasks on a circle; each arrow goes to the task that is waited for."""
    count = len(steps)
    angles = [math.pi / 2 - 2 * math.pi * index / count for index in range(count)]
    x, y = [math.cos(angle) for angle in angles], [math.sin(angle) for angle in angles]
    figure = go.Figure()
    for index in range(count):
        _arrow(figure, (x[index], y[index]), (x[(index + 1) % count], y[(index + 1) % count]), 2)
    ranks = sorted({step.rank for step in steps})
    color = {
        rank: viridis_hex(place / max(1, len(ranks) - 1) * 0.85) for place, rank in enumerate(ranks)
    }
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers",
        marker={"size": 22, "color": [color[step.rank] for step in steps]},
        customdata=[[step.rank, plain(step.runs), plain(step.waits_for)] for step in steps],
        hovertemplate=(
            "rank %{customdata[0]}: %{customdata[1]}<br>waits for %{customdata[2]}<extra></extra>"
        ),
    )
    for index, step in enumerate(steps):
        side = "left" if x[index] > 0.1 else "right" if x[index] < -0.1 else "center"
        figure.add_annotation(
            x=x[index], y=y[index], showarrow=False, align=side,
            xanchor=side, xshift=18 if side == "left" else -18 if side == "right" else 0,
            yshift=0 if side != "center" else (24 if y[index] > 0 else -24),
            text=f"<b>rank {step.rank}</b> {plain(short(step.runs))}",
        )  # fmt: skip
    return _without_axes(figure, 460, 2.6, 1.35)


def ranks_circle(waits: Counter[tuple[int, int]], size: int) -> go.Figure:
    """The ranks on a circle; an arrow from each to those whose answers its tasks wait for."""
    angles = [math.pi / 2 - 2 * math.pi * rank / size for rank in range(size)]
    x, y = [math.cos(angle) for angle in angles], [math.sin(angle) for angle in angles]
    figure = go.Figure()
    most = max(waits.values(), default=1)
    for (rank, to), tasks in waits.items():
        if rank != to:
            _arrow(figure, (x[rank], y[rank]), (x[to], y[to]), 1 + 3 * tasks / most)
    own = [waits[rank, rank] for rank in range(size)]
    others = [sum(n for (rank, to), n in waits.items() if rank == r != to) for r in range(size)]
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers+text",
        text=[str(rank) for rank in range(size)],
        textfont={"color": "white"},
        marker={"size": 26 if size <= 32 else 8, "color": BLUE},
        customdata=[[others[rank], own[rank]] for rank in range(size)],
        hovertemplate=(
            "rank %{text}: %{customdata[0]} tasks wait for answers of other ranks, "
            "%{customdata[1]} for its own<extra></extra>"
        ),
    )
    return _without_axes(figure, 420, 2.6, 1.3)


def calls_chart(calls: Sequence[Call], ranks: Sequence[int]) -> go.Figure:
    """Bars over time, ranks from top to bottom; calls that overlap lie side by side."""
    first = min((call.begin for call in calls), default=0.0)
    unit, scale = ("ms", 1e3) if max((c.end - first for c in calls), default=0) < 2 else ("s", 1.0)
    row = {rank: place for place, rank in enumerate(ranks)}
    targets = sorted({call.to for call in calls})
    figure = go.Figure()
    placed = {rank: _lanes([call for call in calls if call.rank == rank]) for rank in ranks}
    for place, to in enumerate(targets):
        bars = [
            (row[rank] - 0.4 + 0.8 * (lane + 0.5) / lanes, 0.8 / lanes, call)
            for rank, (lanes, of_rank) in placed.items()
            for lane, call in of_rank
            if call.to == to
        ]
        figure.add_bar(
            name=f"to rank {to}",
            orientation="h",
            y=[y for y, _, _ in bars],
            width=[0.9 * height for _, height, _ in bars],
            base=np.asarray([(call.begin - first) * scale for _, _, call in bars]),
            x=np.asarray([(call.end - call.begin) * scale for _, _, call in bars]),
            marker={
                "color": viridis_hex(place / max(1, len(targets) - 1) * 0.9),
                "line": {"width": 1, "color": "white"},
                "pattern": {"shape": ["" if call.is_over else "/" for _, _, call in bars]},
            },
            customdata=[
                [call.rank, call.to, "" if call.is_over else ", not answered"]
                for _, _, call in bars
            ],
            hovertemplate=(
                "rank %{customdata[0]} calls rank %{customdata[1]}: from %{base:.4~g}, "
                "%{x:.4~g} " + unit + "%{customdata[2]}<extra></extra>"
            ),
        )
    figure.update_yaxes(
        title="rank", range=[len(ranks) - 0.5, -0.5], tickvals=list(range(len(ranks))),
        ticktext=[str(rank) for rank in ranks], showgrid=False,
    )  # fmt: skip
    figure.update_xaxes(title=f"time since the first call, {unit}", rangemode="tozero")
    height = int(np.clip(150 + 60 * len(ranks), 240, 760))
    return styled(figure, height, barmode="overlay")


def _lanes(calls: Sequence[Call]) -> tuple[int, list[tuple[int, Call]]]:
    """How many lanes, and each call with its own; beyond LANES_MOST they share."""
    free: list[tuple[float, int]] = []  # When a lane is free again.
    placed = []
    used = 0
    for call in sorted(calls, key=lambda one: one.begin):
        if free and (free[0][0] <= call.begin or used == LANES_MOST):
            lane = heapq.heappop(free)[1]
        else:
            lane = used
            used += 1
        heapq.heappush(free, (call.end, lane))
        placed.append((lane, call))
    return max(used, 1), placed


def _arrow(
    figure: go.Figure, begin: tuple[float, float], end: tuple[float, float], width: float
) -> None:
    figure.add_annotation(
        ax=begin[0], ay=begin[1], x=end[0], y=end[1], axref="x", ayref="y", xref="x", yref="y",
        showarrow=True, arrowhead=2, arrowwidth=width, arrowcolor=VERMILION, text="",
        standoff=16, startstandoff=14,
    )  # fmt: skip


def _without_axes(figure: go.Figure, height: int, half_width: float, half: float) -> go.Figure:
    figure.update_xaxes(range=[-half_width, half_width], visible=False)
    figure.update_yaxes(range=[-half, half], visible=False, scaleanchor="x", constrain="domain")
    return styled(
        figure, height, showlegend=False, margin={"l": 10, "r": 10, "t": 10, "b": 10},
        font={"color": INK, "size": 13},
    )  # fmt: skip
