# SPDX-License-Identifier: Apache-2.0
"""Curves of simulated multicasts: latency over the size of the group."""

from __future__ import annotations

from collections.abc import Sequence

from corymb.picture.page import Section, build
from corymb.picture.palette import BLUE, PEERS
from corymb.picture.panels import Curve, Panel, Point, Row, curve, panels
from corymb.picture.svg import Figure


def multicast_curves(rows: Sequence[Row], unit: str) -> Figure:
    """`rows` as in the JSON of `corymb sim multicast`; broadcasts to all are dotted."""
    curves = []
    for number, name in enumerate(dict.fromkeys(row["variant"] for row in rows)):
        points = [Point(row["members"], row["latency"]) for row in rows if row["variant"] == name]
        ours = name == "best"
        fill = BLUE if ours else PEERS[(number - 1) % len(PEERS)]
        dash = "2 3" if name.endswith("to all") else ""
        curves.append(Curve(name, points, fill, number, ours, dash, unit))
    return panels([Panel("", "members", f"latency, {unit}, simulated", curves)], wide=True)


def measured_curves(rows: Sequence[Row]) -> Figure:
    """`rows` as in the JSON of `corymb bench multicast`: a panel a number of threads and regime."""
    names = sorted({row["contestant"] for row in rows}, key=lambda n: (n != "corymb", n))
    shown = []
    for ranks, regime in dict.fromkeys((row["ranks"], row["regime"]) for row in rows):
        mine = [row for row in rows if (row["ranks"], row["regime"]) == (ranks, regime)]
        drawn = []
        for number, name in enumerate(names):
            points = [row for row in mine if row["contestant"] == name]
            points.sort(key=lambda row: int(row["members"]))
            if points:
                own = BLUE if name == "corymb" else None
                peer = PEERS[(number - 1) % len(PEERS)]
                drawn.append(curve(points, "members", name, number, own, peer))
        shown.append(Panel(f"{ranks} threads, members {regime}", "members", "median, ns", drawn))
    return panels(shown)


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
