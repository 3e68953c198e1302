# SPDX-License-Identifier: Apache-2.0
"""A plan drawn over its machine: groups are boxes, messages are lines, colours are times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from corymb.layout import Layout
from corymb.messages import Message
from corymb.picture.boxes import Drawing, place
from corymb.picture.palette import GREY, INK, VERMILION, viridis_hex
from corymb.picture.style import COLOR_SCALE, styled

BUCKETS = 10
LARGEST_WITH_LABELS = 80
BOX_COLORS = ("#f5f7fa", "#e9edf2", "#dde3ea")


@dataclass(frozen=True)
class TreeData:
    """What the picture shows; ranks index everything."""

    layout: Layout
    cpus: Sequence[int]
    messages: Sequence[Message]
    finish: NDArray[np.float64]
    root: int
    unit: str


def machine_tree(data: TreeData, aspect: float = 2.2) -> go.Figure:
    """The messages over the boxes of the machine; `aspect` is the wanted width over height."""
    drawing = place([int(rank) for rank in data.layout.order], data.layout.levels, aspect)
    figure = go.Figure()
    for x0, y0, x1, y1, depth in sorted(drawing.boxes, key=lambda box: box[4]):
        figure.add_shape(
            type="rect", x0=x0, y0=y0, x1=x1, y1=y1, layer="below",
            line={"color": "#c3ccd6", "width": 1}, fillcolor=BOX_COLORS[min(depth, 2)],
        )  # fmt: skip
    latest = float(data.finish.max()) or 1.0
    top, bottom = _draw_messages(figure, data, drawing, latest)
    _draw_ranks(figure, data, drawing, latest)
    tallest = min(640.0, 190 + 60 * math.sqrt(len(data.cpus)))
    height = int(np.clip(960 * (bottom - top) / max(drawing.width, 1.0), 200, tallest)) + 30
    figure.update_xaxes(range=[-0.2, drawing.width + 0.2], visible=False)
    figure.update_yaxes(
        range=[bottom + 0.2, top - 0.2], scaleanchor="x", constrain="domain", visible=False
    )
    return styled(figure, height, showlegend=False, margin={"l": 10, "r": 90, "t": 10, "b": 10})


def _draw_messages(
    figure: go.Figure, data: TreeData, drawing: Drawing, latest: float
) -> tuple[float, float]:
    """Lines in buckets of arrival time; each bends a little, so that opposite ones differ. Returns
    the lowest and the highest y of everything."""
    top, bottom = 0.0, drawing.height
    lines: list[tuple[list[float | None], list[float | None]]] = [([], []) for _ in range(BUCKETS)]
    arrows: list[tuple[list[float], list[float], list[float]]] = [
        ([], [], []) for _ in range(BUCKETS)
    ]
    for message in data.messages:
        start, end = drawing.positions[message.source], drawing.positions[message.target]
        bucket = min(int(message.received / latest * BUCKETS), BUCKETS - 1)
        points = _bend(start, end)
        top, bottom = min(top, points[:, 1].min()), max(bottom, points[:, 1].max())
        lines[bucket][0].extend([*points[:, 0], None])
        lines[bucket][1].extend([*points[:, 1], None])
        middle, ahead = points[len(points) // 2], points[len(points) // 2 + 1]
        arrows[bucket][0].append(float(middle[0]))
        arrows[bucket][1].append(float(middle[1]))
        turn = np.degrees(np.arctan2(ahead[0] - middle[0], middle[1] - ahead[1]))
        arrows[bucket][2].append(float(turn))
    _draw_lines(figure, lines, arrows, many=len(data.messages) > 2 * LARGEST_WITH_LABELS)
    return float(top), float(bottom)


def _draw_lines(figure: go.Figure, lines: Sequence[Any], arrows: Sequence[Any], many: bool) -> None:
    for bucket in reversed(range(BUCKETS)):
        if not lines[bucket][0]:
            continue
        color = viridis_hex((bucket + 0.5) / BUCKETS * 0.92)
        figure.add_scatter(
            x=lines[bucket][0], y=lines[bucket][1], mode="lines", hoverinfo="skip",
            line={"color": color, "width": 1.1 if many else 2.0}, opacity=0.75 if many else 0.95,
        )  # fmt: skip
        figure.add_scatter(
            x=arrows[bucket][0], y=arrows[bucket][1], mode="markers", hoverinfo="skip",
            marker={"symbol": "triangle-up", "size": 5 if many else 9, "color": color,
                    "angle": arrows[bucket][2]},
        )  # fmt: skip


def _bend(start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """A quadratic curve from start to end, bent to its left by an eighth of its length."""
    along = end - start
    control = (start + end) / 2 + 0.18 * np.array([along[1], -along[0]])
    part = np.linspace(0, 1, 9)[:, None]
    curve = (1 - part) ** 2 * start + 2 * part * (1 - part) * control + part**2 * end
    return np.asarray(curve)


def _draw_ranks(figure: go.Figure, data: TreeData, drawing: Drawing, latest: float) -> None:
    count = len(data.cpus)
    labelled = count <= LARGEST_WITH_LABELS
    size = float(np.clip(620 / max(drawing.width, 1.0) * 0.5, 4, 26))
    position = data.finish / latest
    text = [str(rank) for rank in range(count)]
    figure.add_scatter(
        x=drawing.positions[:, 0],
        y=drawing.positions[:, 1],
        mode="markers+text" if labelled else "markers",
        text=text,
        textfont={"size": 10 if size > 16 else 8,
                  "color": [INK if place > 0.55 else "white" for place in position]},
        hovertext=[
            f"rank {rank}, CPU {cpu}: done at {finish:.4g} {data.unit}"
            for rank, (cpu, finish) in enumerate(zip(data.cpus, data.finish, strict=True))
        ],
        hoverinfo="text",
        marker={
            "size": size,
            "color": data.finish,
            "cmin": 0,
            "cmax": latest,
            "colorscale": COLOR_SCALE,
            "line": {
                "width": [3 if rank == data.root else 1 for rank in range(count)],
                "color": [VERMILION if rank == data.root else GREY for rank in range(count)],
            },
            "colorbar": {"title": {"text": f"time, {data.unit}", "side": "top"},
                         "thickness": 12, "len": 0.95},
        },
    )  # fmt: skip


def finish_bars(data: TreeData) -> go.Figure:
    """When each rank has its data and when it is done, in the order of the machine picture."""
    order = data.layout.order
    received = np.zeros(len(data.cpus))
    for message in data.messages:
        received[message.target] = max(received[message.target], message.received)
    figure = go.Figure()
    names = [f"rank {rank}, CPU {data.cpus[rank]}" for rank in order]
    places = np.arange(len(order))
    figure.add_bar(
        x=places, y=received[order], name="until its last receive", marker_color="#2C728E",
        hovertext=names, hovertemplate="%{hovertext}: %{y:.4~g}<extra></extra>",
    )  # fmt: skip
    figure.add_bar(
        x=places, y=(data.finish - received)[order], name="then sending", marker_color="#ADDC30",
        hovertext=names, hovertemplate="%{hovertext}: + %{y:.4~g}<extra></extra>",
    )  # fmt: skip
    step = max(1, -(-len(order) // 32))
    ticks = list(range(0, len(order), step))
    figure.update_xaxes(
        title="rank, in the order of the machine", tickvals=ticks,
        ticktext=[str(order[i]) for i in ticks],
    )  # fmt: skip
    figure.update_yaxes(title=f"finish, {data.unit}")
    figure.update_traces(marker_line_width=0)
    gap = 0.15 if len(order) <= 128 else 0
    return styled(figure, 250, barmode="stack", bargap=gap)
