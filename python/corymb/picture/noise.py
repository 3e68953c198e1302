# SPDX-License-Identifier: Apache-2.0
"""Phases under noise over the number of ranks: their times, and what others see of a delay."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from corymb.picture.page import Section, build
from corymb.picture.palette import BLUE, GREEN, ORANGE, VERMILION
from corymb.picture.panels import SYMBOLS, Row
from corymb.picture.style import plain, styled

COLOURS = {
    "blocking": VERMILION,
    "nonblocking": ORANGE,
    "persistent": GREEN,
    "aligned": BLUE,
}


def _curve(points: Sequence[Row], field: str, form: str, name: str, dash: str) -> go.Scatter:
    number = list(COLOURS).index(form)
    return go.Scatter(
        x=[point["ranks"] for point in points],
        y=[point[field] for point in points],
        name=plain(name),
        mode="lines+markers",
        line={"color": COLOURS[form], "width": 2, "dash": dash},
        marker={"size": 7, "symbol": SYMBOLS[number]},
        hovertemplate=plain(name) + ", %{x} ranks: %{y:.4~g}<extra></extra>",
    )


def _rank_axis(figure: go.Figure, rows: Sequence[Row]) -> None:
    ranks = sorted({row["ranks"] for row in rows})
    figure.update_xaxes(
        title="ranks", type="log", tickangle=0, tickvals=ranks,
        ticktext=[f"{count:,}" for count in ranks],
    )  # fmt: skip


def _forms(rows: Sequence[Row]) -> list[str]:
    return [form for form in COLOURS if any(row["form"] == form for row in rows)]


def phase_curves(rows: Sequence[Row]) -> go.Figure:
    """`rows` as in the JSON of `corymb sim noise`; the 99th percentiles are dotted."""
    figure = go.Figure()
    for form in _forms(rows):
        points = [row for row in rows if row["form"] == form]
        figure.add_trace(_curve(points, "median_ns", form, f"{form}, median", "solid"))
        figure.add_trace(_curve(points, "p99_ns", form, f"{form}, 99th percentile", "dot"))
    _rank_axis(figure, rows)
    figure.update_yaxes(title="time of a phase, ns, simulated", separatethousands=True)
    return styled(figure, 520)


def seen_curves(rows: Sequence[Row]) -> go.Figure:
    figure = go.Figure()
    for form in _forms(rows):
        points = [row for row in rows if row["form"] == form]
        figure.add_trace(_curve(points, "seen_by_others", form, form, "solid"))
    _rank_axis(figure, rows)
    figure.update_yaxes(title="delay of the others / stop of one rank", rangemode="tozero")
    return styled(figure, 420)


def noise_section(rows: Sequence[Row], noise: str) -> Section:
    caption = (
        f"Phases of computing and an operation; noise: {noise}. The upper picture has the time "
        "from one phase's end on all ranks to the next. The lower one stops a rank once, without "
        "other noise: how much later the others end two phases, in parts of that stop. Blocking "
        "ranks compute, then call. Others start the operation, compute and look after it "
        "meanwhile. Aligned ones start each phase at an agreed time."
    )
    figures = [phase_curves(rows), seen_curves(rows)]
    return Section("Noise over the number of ranks", caption, "simulated", figures=figures)


def noise_page(rows: Sequence[Row], noise: str) -> str:
    lead = "Times are simulated on the model of a cluster; nothing was measured."
    return build("Noise", lead, [noise_section(rows, noise)], "Written by corymb sim.")
