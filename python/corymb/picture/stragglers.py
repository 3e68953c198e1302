# SPDX-License-Identifier: Apache-2.0
"""Who is late: one strip an operation, one mark a rank, or the measured spread of every rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from corymb.picture.palette import BLUE, GREY, ORANGE, PALE, VERMILION
from corymb.picture.style import styled


def simulated_strip(
    finish: Mapping[str, NDArray[np.float64]],
    waiting: Mapping[str, NDArray[np.float64]],
    unit: str,
) -> go.Figure:
    """For each operation a strip with the finish time and the waiting time of every rank."""
    figure = go.Figure()
    names = list(finish)
    parts = ((finish, "done at", BLUE, 0.14), (waiting, "time spent waiting", ORANGE, -0.14))
    for values, label, color, shift in parts:
        x: list[float] = []
        y: list[float] = []
        ranks: list[int] = []
        for row, name in enumerate(names):
            numbers = values[name]
            spread = np.linspace(-0.09, 0.09, min(len(numbers), 16))
            x.extend(numbers)
            y.extend(row + shift + spread[np.arange(len(numbers)) % len(spread)])
            ranks.extend(range(len(numbers)))
        figure.add_scatter(
            x=x, y=y, mode="markers", name=label, customdata=ranks,
            marker={"size": 6, "color": color, "opacity": 0.65},
            hovertemplate="rank %{customdata} " + label + " %{x:.4~g} " + unit + "<extra></extra>",
        )  # fmt: skip
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=names, range=[len(names) - 0.5, -0.5],
        showgrid=False,
    )  # fmt: skip
    figure.update_xaxes(title=f"time, {unit}", rangemode="tozero")
    return styled(figure, 120 + 60 * len(names))


def measured_strip(late: Mapping[str, NDArray[np.float64]], cpus: Sequence[int]) -> go.Figure:
    """`late[operation][rank, repetition]`: ns from the last arrival until this rank was done. A bar
    from the lower to the upper quartile with the median, and a whisker to the 95th percentile."""
    names = list(late)
    figure = make_subplots(
        rows=1, cols=max(1, len(names)), subplot_titles=names, horizontal_spacing=0.07
    )
    for column, name in enumerate(names, start=1):
        q25, q50, q75, q95 = np.percentile(late[name], [25, 50, 75, 95], axis=1)
        ranks = range(len(q50))
        hover = [
            f"rank {r}, CPU {cpus[r]}: median {q50[r]:.0f} ns, 95 % within {q95[r]:.0f} ns"
            for r in ranks
        ]
        figure.add_bar(
            x=list(ranks), y=q75 - q25, base=q25, marker_color=BLUE, opacity=0.55, hovertext=hover,
            hoverinfo="text", showlegend=False, row=1, col=column,
            error_y={"type": "data", "symmetric": False, "array": q95 - q75,
                     "arrayminus": np.zeros(len(q50)), "color": GREY, "thickness": 1.2},
        )  # fmt: skip
        figure.add_scatter(
            x=list(ranks), y=q50, mode="markers", hoverinfo="skip", showlegend=False,
            row=1, col=column,
            marker={"symbol": "line-ew", "size": 12,
                    "line": {"width": 2.5, "color": VERMILION}},
        )  # fmt: skip
        step = max(1, -(-len(ranks) // 8))
        figure.update_xaxes(
            title="rank", tickvals=list(ranks)[::step], gridcolor=PALE, row=1, col=column
        )
    figure.update_yaxes(rangemode="tozero")
    figure.update_yaxes(title="late, ns (measured)", row=1, col=1)
    return styled(figure, 300)
