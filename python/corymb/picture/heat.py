# SPDX-License-Identifier: Apache-2.0
"""Send and receive heat maps side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from corymb.picture.palette import limits_of
from corymb.picture.style import COLOR_SCALE, styled

LARGEST_WITH_NUMBERS = 12


def heat_maps(
    send: NDArray[np.float64],
    receive: NDArray[np.float64],
    cpus: Sequence[int],
    boundaries: Sequence[int],
    unit: str,
) -> go.Figure:
    """Both matrices, already in the order to be shown; `cpus` are the labels in that order and
    `boundaries` the positions where the outermost groups end."""
    figure = make_subplots(
        rows=1,
        cols=2,
        subplot_titles=("send: the sender is busy", "receive: the receiver is busy"),
        horizontal_spacing=0.16,
    )
    count = len(cpus)
    for column, matrix in enumerate((send, receive), start=1):
        figure.add_trace(_heat_map(matrix, cpus, unit, column), row=1, col=column)
        ticks = _ticks(cpus)
        axis = {"tickvals": ticks, "ticktext": [str(cpus[i]) for i in ticks], "showgrid": False}
        figure.update_xaxes(title="to CPU", range=[-0.5, count - 0.5], row=1, col=column, **axis)
        figure.update_yaxes(
            title="from CPU" if column == 1 else None,
            range=[count - 0.5, -0.5],
            row=1,
            col=column,
            **axis,
        )
        for boundary in boundaries:
            line = {"color": "white", "width": 1.2}
            figure.add_vline(boundary - 0.5, line=line, row=1, col=column)
            figure.add_hline(boundary - 0.5, line=line, row=1, col=column)
    return styled(figure, 470, margin={"l": 60, "r": 70, "t": 36, "b": 50})


def heat_map_alone(costs: NDArray[np.float64], cpus: Sequence[int], unit: str) -> go.Figure:
    """One square matrix, already in the order to be shown."""
    figure = go.Figure(_heat_map(costs, cpus, unit, 0))
    ticks = _ticks(cpus)
    axis = {"tickvals": ticks, "ticktext": [str(cpus[i]) for i in ticks], "showgrid": False}
    figure.update_xaxes(title="to CPU", constrain="domain", **axis)
    figure.update_yaxes(
        title="from CPU", autorange="reversed", scaleanchor="x", constrain="domain", **axis
    )
    return styled(figure, 420)


def _heat_map(
    matrix: NDArray[np.float64], cpus: Sequence[int], unit: str, column: int
) -> go.Heatmap:
    with_numbers = len(cpus) <= LARGEST_WITH_NUMBERS
    limits = limits_of(matrix)
    names = [str(cpu) for cpu in cpus]
    return go.Heatmap(
        z=matrix.astype(np.float32),
        customdata=None,
        text=None,
        texttemplate="%{z:.3~g}" if with_numbers else None,
        hovertemplate="row %{y}, column %{x}: %{z:.4~g} " + unit + "<extra></extra>",
        hovertext=names if with_numbers else None,
        colorscale=COLOR_SCALE,
        zmin=limits[0],
        zmax=limits[1],
        colorbar={
            "title": {"text": unit, "side": "top"},
            "thickness": 12,
            "len": 0.9,
            "x": 0.425 if column == 1 else 1.005,
        },
    )


def _ticks(cpus: Sequence[int]) -> list[int]:
    """Positions that get a label: all of few, about a dozen of many."""
    step = max(1, -(-len(cpus) // 12))
    return list(range(0, len(cpus), step))
