# SPDX-License-Identifier: Apache-2.0
"""corymb machines: the machines that ship with corymb."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import corymb
from corymb.command import console, files, inputs
from corymb.command import map as map_command
from corymb.command.options import JsonFile

EXAMPLES = "Examples: corymb machines | corymb machines epyc-9654-2s-192c"


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Draw this one, as corymb map does.")
    ] = None,
    json: JsonFile = None,
) -> None:
    """List the machines of the gallery, or draw one."""
    files.require_writable(json)
    out = console.output(quiet=console.is_stdout(json))
    if name is not None:
        chosen = inputs.Chosen(corymb.Machine.gallery(name), "gallery")
        map_command.show(out, chosen)
        value = map_command.as_json(chosen) if json is not None else None
    else:
        rows = [row_of(one) for one in sorted(corymb.gallery_names())]
        show(out, rows)
        value = {"schema": "corymb-machines/1", "machines": rows}
    if json is not None:
        files.write_json(json, value)


def row_of(name: str) -> dict[str, Any]:
    """What a line of the list says. `nearest` and `farthest` are the medians, in `unit`, of sending
    and receiving a message between the cheapest and the dearest pair of CPUs."""
    machine = corymb.Machine.gallery(name)
    costs = [c.send.median + c.receive.median for c in machine.classes]
    known = [cost for cost in costs if math.isfinite(cost)] or [math.nan]
    return {
        "name": name,
        "cpus": len(machine),
        "classes": len(machine.classes),
        "nearest": min(known),
        "farthest": max(known),
        "unit": machine.unit,
        "source": machine.source,
    }


def show(out: Console, rows: list[dict[str, Any]]) -> None:
    """A table, or where that has no room for names and numbers two lines a machine."""
    table = _table(rows)
    unbounded = out.options.update(max_width=1000)
    if out.measure(table, options=unbounded).maximum <= out.width:
        out.print(table)
        return
    for row in rows:
        out.print(row["name"], style="bold")
        out.print(
            f"  {row['cpus']} CPUs, {row['classes']} classes, {_number(row['nearest'])} to "
            f"{_number(row['farthest'])} {row['unit']}"
        )


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("machine", overflow="fold")
    for title in ("CPUs", "classes", "nearest", "farthest"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    for row in rows:
        table.add_row(
            row["name"], str(row["cpus"]), str(row["classes"]), _number(row["nearest"]),
            _number(row["farthest"]), row["unit"],
        )  # fmt: skip
    return table


def _number(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else "-"
