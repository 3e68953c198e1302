# SPDX-License-Identifier: Apache-2.0
"""Phases under noise over the number of ranks: their times, and what others see of a delay."""

from __future__ import annotations

from collections.abc import Sequence

from corymb.picture.page import Section, build
from corymb.picture.palette import BLUE, GREEN, ORANGE, VERMILION
from corymb.picture.panels import Curve, Panel, Point, Row, panels
from corymb.picture.svg import Figure

COLOURS = {
    "blocking": VERMILION,
    "nonblocking": ORANGE,
    "persistent": GREEN,
    "aligned": BLUE,
}


def _curve(rows: Sequence[Row], field: str, form: str, name: str, dash: str = "") -> Curve:
    points = [Point(row["ranks"], row[field]) for row in rows if row["form"] == form]
    return Curve(name, points, COLOURS[form], list(COLOURS).index(form), dash=dash)


def _forms(rows: Sequence[Row]) -> list[str]:
    return [form for form in COLOURS if any(row["form"] == form for row in rows)]


def phase_curves(rows: Sequence[Row]) -> Figure:
    """`rows` as in the JSON of `corymb sim noise`; the 99th percentiles are dotted."""
    curves = []
    for form in _forms(rows):
        curves.append(_curve(rows, "median_ns", form, f"{form}, median"))
        curves.append(_curve(rows, "p99_ns", form, f"{form}, 99th percentile", "2 3"))
    shown = Panel("", "ranks", "time of a phase, ns, simulated", curves, is_log=False)
    return panels([shown], wide=True)


def seen_curves(rows: Sequence[Row]) -> Figure:
    curves = [_curve(rows, "seen_by_others", form, form) for form in _forms(rows)]
    shown = Panel("", "ranks", "delay of the others / stop of one rank", curves, is_log=False)
    return panels([shown], wide=True)


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
