# SPDX-License-Identifier: Apache-2.0
"""Curves of simulated multicasts: latency over the size of the group."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from corymb.picture.page import Section, build
from corymb.picture.palette import BLUE, PEERS
from corymb.picture.panels import SYMBOLS, Panels, Row, curve
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
    ticks = _apart(sorted({row["members"] for row in rows}))
    figure.update_xaxes(
        title="members", type="log", tickangle=0, tickvals=ticks, ticktext=[str(t) for t in ticks]
    )
    figure.update_yaxes(title=f"latency, {unit}, simulated", type="log", dtick="D2")
    return styled(figure, 520)


def _apart(sizes: Sequence[int]) -> list[int]:
    """The last one, and of the others those whose numbers do not touch."""
    kept: list[int] = []
    for size in reversed(sizes):
        if not kept or size * 1.25 <= kept[-1]:
            kept.append(size)
    return kept[::-1]


def measured_curves(rows: Sequence[Row]) -> go.Figure:
    """`rows` as in the JSON of `corymb bench multicast`: a panel a number of threads and regime."""
    panels = list(dict.fromkeys((row["ranks"], row["regime"]) for row in rows))
    names = sorted({row["contestant"] for row in rows}, key=lambda n: (n != "corymb", n))
    titles = [f"{ranks} threads, members {regime}" for ranks, regime in panels]
    grid = Panels(titles, line_height=320, title_room=0.34, axis_room=70)
    for index, (ranks, regime) in enumerate(panels):
        mine = [row for row in rows if (row["ranks"], row["regime"]) == (ranks, regime)]
        for number, name in enumerate(names):
            points = [row for row in mine if row["contestant"] == name]
            if points:
                own = BLUE if name == "corymb" else None
                peer = PEERS[(number - 1) % len(PEERS)]
                points.sort(key=lambda row: row["members"])
                grid.add(index, curve(points, "members", "members", name, number, own, peer))
        grid.count_axis(index, "members", sorted({row["members"] for row in mine}))
    return grid.finished(names_per_line=4)


def measured_section(rows: Sequence[Row]) -> Section:
    cpus = rows[0]["cpus"]
    caption = (
        "From the call until the initiator knows that all members have run it, measured side by "
        f"side in one run on {cpus} CPUs, contestants alternating; bars reach from the lower to "
        "the upper quartile. Threads that are no members have nothing to do with it. membarrier "
        "runs nothing on the members."
    )
    title = "Acknowledged multicast, measured"
    return Section(title, caption, "measured", figures=[measured_curves(rows)])


def simulated_section(
    rows: Sequence[Row], name: str, unit: str, ranks: int, reason: str
) -> Section:
    caption = (
        f"From the call until the initiator knows that all members have run it, on the model of "
        f"{name}, {ranks} ranks; medians over groups drawn at random. Dotted: a broadcast to "
        f"everybody, whoever needs it. The model's choice, best: {reason}."
    )
    title = "Acknowledged multicast over the size of the group"
    return Section(title, caption, "simulated", figures=[multicast_curves(rows, unit)])


def multicast_page(rows: Sequence[Row], name: str, unit: str, ranks: int, reason: str) -> str:
    section = simulated_section(rows, name, unit, ranks, reason)
    lead = "Times are simulated on a machine model; nothing was measured."
    return build(f"Acknowledged multicast on {name}", lead, [section], "Written by corymb sim.")
