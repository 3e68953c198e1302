# SPDX-License-Identifier: Apache-2.0
"""Curves of simulated multicasts: latency over the size of the group."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from corymb.picture.page import Section, build
from corymb.picture.palette import BLUE, PEERS
from corymb.picture.panels import SYMBOLS, Row
from corymb.picture.style import plain, styled


def multicast_curves(rows: Sequence[Row], unit: str) -> go.Figure:
    """`rows` as in the JSON of `corymb sim multicast`; broadcasts to all are dotted."""
    figure = go.Figure()
    for number, name in enumerate(dict.fromkeys(row["variant"] for row in rows)):
        points = [row for row in rows if row["variant"] == name]
        ours = name == "best"
        dash = "dot" if name.endswith("to all") else "solid"
        figure.add_trace(
            go.Scatter(
                x=[point["members"] for point in points],
                y=[point["latency"] for point in points],
                name=plain(name),
                mode="lines+markers",
                line={
                    "color": BLUE if ours else PEERS[(number - 1) % len(PEERS)],
                    "width": 3.5 if ours else 1.5,
                    "dash": dash,
                },
                marker={"size": 8 if ours else 6, "symbol": SYMBOLS[number % len(SYMBOLS)]},
                hovertemplate=plain(name) + ", %{x} members: %{y:.4~g} " + unit + "<extra></extra>",
            )
        )
    figure.update_xaxes(title="members", type="log")
    figure.update_yaxes(title=f"latency, {unit}, simulated", type="log")
    return styled(figure, 520)


def multicast_page(rows: Sequence[Row], name: str, unit: str, ranks: int, reason: str) -> str:
    caption = (
        f"From the call until the initiator knows that all members have run it, on the model of "
        f"{name}, {ranks} ranks; medians over groups drawn at random. Dotted: a broadcast to "
        f"everybody, whoever needs it. The model's choice, best: {reason}."
    )
    section = Section(
        "Latency over the size of the group",
        caption,
        "simulated",
        figures=[multicast_curves(rows, unit)],
    )
    lead = "Times are simulated on a machine model; nothing was measured."
    return build(f"Acknowledged multicast on {name}", lead, [section], "Written by corymb sim.")
