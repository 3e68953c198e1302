# SPDX-License-Identifier: Apache-2.0
"""A grid of panels that show times of the same contestants over their ranks or bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from corymb.picture.style import plain, styled

COLUMNS = 3
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "pentagon")
Row = Mapping[str, Any]


class Panels:
    """Panels in lines of three, times on a logarithmic axis, one legend below them all."""

    def __init__(
        self, titles: Sequence[str], *, line_height: int, title_room: float, axis_room: int
    ) -> None:
        """`title_room` is the part of a line's height between two lines, `axis_room` the pixels
        between the last line and the legend."""
        columns = max(1, min(COLUMNS, len(titles)))
        lines = max(1, -(-len(titles) // columns))
        self.figure = make_subplots(
            rows=lines, cols=columns, subplot_titles=titles, horizontal_spacing=0.08,
            vertical_spacing=title_room / lines,
        )  # fmt: skip
        self._columns = columns
        self._height = line_height * lines + 60
        self._axis_room = axis_room
        self._shown: list[str] = []

    def place(self, index: int) -> dict[str, int]:
        return {"row": index // self._columns + 1, "col": index % self._columns + 1}

    def add(self, index: int, curve: go.Scatter) -> None:
        """The first curve of a name is the one in the legend."""
        is_new = curve.name not in self._shown
        curve.update(legendgroup=curve.name, showlegend=is_new)
        self.figure.add_trace(curve, **self.place(index))
        if is_new:
            self._shown.append(curve.name)

    def count_axis(self, index: int, title: str, counts: Sequence[int]) -> None:
        """To the right: a tick for each of the counts, which increase."""
        ends = [math.log10(counts[0]) - 0.1, math.log10(counts[-1]) + 0.1]
        self.figure.update_xaxes(
            title=title, type="log", tickvals=counts, ticktext=[str(t) for t in counts],
            range=ends, **self.place(index),
        )  # fmt: skip

    def finished(self, names_per_line: int) -> go.Figure:
        figure: Any = self.figure
        figure.update_yaxes(type="log", dtick=1, exponentformat="none", separatethousands=True)
        figure.update_yaxes(title="median, ns", col=1)
        legend_height = 22 * -(-len(self._shown) // names_per_line)
        height = self._height + legend_height
        legend = {
            "orientation": "h", "yanchor": "top", "y": -self._axis_room / (height - 100),
            "x": 0, "xanchor": "left",
        }  # fmt: skip
        margin = {"l": 70, "r": 20, "t": 36, "b": 70 + legend_height}
        return styled(figure, height, legend=legend, margin=margin)


def curve(
    points: Sequence[Row],
    over: str,
    unit: str,
    name: str,
    number: int,
    own_colour: str | None,
    peer_colour: str,
) -> go.Scatter:
    """Medians and quartiles of one contestant over the field `over`; corymb's are the bold ones."""
    ours = own_colour is not None
    return go.Scatter(
        x=[p[over] for p in points],
        y=[p["median_ns"] for p in points],
        error_y={
            "type": "data", "symmetric": False, "thickness": 1, "width": 3,
            "array": [max(0.0, p["q75"] - p["median_ns"]) for p in points],
            "arrayminus": [max(0.0, p["median_ns"] - p["q25"]) for p in points],
        },
        name=plain(name), mode="lines+markers",
        line={"color": own_colour or peer_colour, "width": 3.5 if ours else 1.5,
              "dash": "solid" if ours else ("dot", "dash", "solid")[number % 3]},
        marker={"size": 9 if ours else 7, "symbol": SYMBOLS[number % len(SYMBOLS)]},
        hovertemplate=plain(name) + ", %{x} " + unit + ": %{y:.4~g} ns<extra></extra>",
    )  # fmt: skip
