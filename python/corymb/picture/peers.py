# SPDX-License-Identifier: Apache-2.0
"""Curves over the message size: corymb beside MPI libraries, as `corymb bench peers` measures."""

from __future__ import annotations

from collections.abc import Sequence

from corymb.peers import verdict
from corymb.picture.page import Cell, Section
from corymb.picture.palette import BLUE, PEERS, SKY
from corymb.picture.panels import Panel, Row, curve, panels
from corymb.picture.svg import Figure

LARGEST_LIST = 5
OWN = {"corymb-threads": BLUE, "corymb-processes": SKY, "corymb-python": BLUE}


def is_beside_peers(row: Row) -> bool:
    """Whether it is a row of `corymb bench peers` and not one of `corymb bench`."""
    return "kind" in row


def peer_sections(rows: Sequence[Row]) -> list[Section]:
    """One section for each mode and number of ranks, and who won."""
    found = verdict.comparisons(rows)
    sections = [_verdict(found)]
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["mode"], row["ranks"]), []).append(row)
    for (mode, ranks), members in groups.items():
        bound = "pinned" if members[0]["pinned"] else "not pinned"
        caption = (
            f"Median time of one operation over the bytes of one contribution, {ranks} ranks, "
            f"{bound}; bars reach from the lower to the upper quartile, lower is better. First "
            "operations that begin together (latency), then back to back (rate)."
        )
        figures = [
            size_curves([row for row in members if row["kind"] == kind])
            for kind in ("latency", "rate")
        ]
        title = f"Beside MPI libraries: {mode}, {ranks} ranks"
        sections.append(Section(title, caption, "measured", figures=figures))
    return sections


def _verdict(found: Sequence[verdict.Comparison]) -> Section:
    header = [
        Cell("ranks of"), Cell("mode"), Cell("kind"), Cell("ranks", True), Cell("sizes"),
        Cell("mean ratio", True), Cell("least", True), Cell("wanted", True),
    ]  # fmt: skip
    rows = [
        [
            Cell(mean["own"]), Cell(mean["mode"]), Cell(mean["kind"]),
            Cell(str(mean["ranks"]), True), Cell(mean["band"]), Cell(f"{mean['mean']:.2f}", True),
            Cell(f"{mean['least']:.2f}", True),
            Cell("" if mean["target"] is None else f"{mean['target']:g}", True),
        ]
        for mean in sorted(verdict.means(found), key=_order)
    ]  # fmt: skip
    counts = " ".join(
        f"{count['own']} with {count['ranks']} ranks wins {count['win']} cases, "
        f"ties {count['tie']} (within 5 %) and loses {count['loss']}."
        for count in verdict.counts(found)
    )
    losses = "; ".join(
        f"{one.own}: {one.name}: {one.ratio:.2f} ({one.peer})"
        for one in verdict.worst(found, LARGEST_LIST)
    )
    caption = (
        "Time of the best peer of each case over corymb's, measured side by side in one run, "
        f"contestants alternating; geometric means. {counts}"
        + (f" The greatest losses: {losses}." if losses else "")
    )
    return Section("Beside MPI libraries", caption, "measured", header=header, rows=rows)


def _order(mean: Row) -> tuple[str, int, str, str, int]:
    names = [name for _, name in verdict.BANDS] + [verdict.ALL]
    return mean["own"], mean["ranks"], mean["mode"], mean["kind"], names.index(mean["band"])


def size_curves(rows: Sequence[Row]) -> Figure:
    """One panel an operation."""
    rows = [row for row in rows if row["median_ns"] is not None]
    own = [name for name in OWN if any(row["contestant"] == name for row in rows)]
    names = own + sorted({row["contestant"] for row in rows} - set(own))
    shown = []
    for op in dict.fromkeys(row["op"] for row in rows):
        drawn = []
        for number, name in enumerate(names):
            points = [r for r in rows if (r["op"], r["contestant"]) == (op, name)]
            points.sort(key=lambda row: int(row["bytes"]))
            if points:
                peer = PEERS[number % len(PEERS)]
                drawn.append(curve(points, "bytes", name, number, OWN.get(name), peer))
        sizes = {row["bytes"] for row in rows if row["op"] == op}
        texts = {size: verdict.size_text(size) if size else "no payload" for size in sizes}
        shown.append(Panel(op, "size", "median, ns", drawn, texts))
    return panels(shown)
