# SPDX-License-Identifier: Apache-2.0
"""corymb bench calls: what a call of another thread costs, and how small work may be for one."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from corymb.command import side_by_side
from corymb.command.options import JsonFile, Seconds
from corymb.command.side_by_side import Row, Verdict

EXAMPLES = "Example: corymb bench calls --seconds 20"
TITLES = {
    "empty": "a call, until its end is known",
    "bytes64": "with 64 bytes there and back",
    "own": "a call of the own rank",
    "one_way": "one of many that nobody answers",
    "work_50": "work that pays: two threads do it with half their power",
    "work_90": "work that pays: with nine tenths",
}
# What is compared with other ways; the rest is shown.
OWN = {
    "empty": "corymb call",
    "one_way": "corymb post",
    "work_50": "corymb tell",
    "work_90": "corymb tell",
}


def command(seconds: Seconds = 60.0, json: JsonFile = None) -> None:
    """Time a call of another thread beside other ways, and how small work for one may be."""
    side_by_side.run("corymb-bench-calls", seconds, {}, json, verdict, show, "other")


def verdict(rows: Sequence[Row]) -> Verdict:
    """What a user would take, against each other way."""
    found = Verdict()
    own = {row["op"]: row for row in rows if row["contestant"] == OWN.get(row["op"])}
    for row in rows:
        if row["family"] != "peer" or row["op"] not in own:
            continue
        mine = own[row["op"]]
        found.add(
            mine["median_ns"],
            row["median_ns"],
            f"{row['op']}: {mine['contestant']} {mine['median_ns']:,.0f} ns, "
            f"{row['contestant']} {row['median_ns']:,.0f} ns",
        )
    return found


def show(out: Console, rows: Sequence[Row]) -> None:
    """A table for each op: a line a contestant."""
    for op, title in TITLES.items():
        table = Table(box=None, pad_edge=False, padding=(0, 1))
        for head in ("", "median, ns", "quartiles"):
            table.add_column(head, justify="left" if head == "" else "right", overflow="fold")
        for row in (row for row in rows if row["op"] == op):
            table.add_row(
                row["contestant"],
                f"{row['median_ns']:,.0f}",
                f"{row['q25']:,.0f} to {row['q75']:,.0f}",
                style="bold" if row["contestant"] == OWN.get(op) else None,
            )
        out.print(f"[bold]{title}[/]")
        out.print(table)
