# SPDX-License-Identifier: Apache-2.0
"""corymb bench messages: mailboxes and broadcast rings beside two plain lines and other queues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

import corymb
from corymb.command import bench_program, console, files, inputs

TIE = 0.05
SIZES = (8, 256)
Row = dict[str, Any]
TITLES = {
    "round_trip": "a message there and back, by its bytes",
    "stream": "one of many messages on their way, by its bytes",
    "idle_poll": "a look at silent peers, by their number",
    "publish": "telling many readers, for the publisher, by their number",
}
# What is compared with other libraries; the rest is shown.
OWN = {
    "round_trip": "mailbox ring",
    "stream": "mailbox ring",
    "idle_poll": "mailbox nvp",
    "publish": "broadcast ring",
}


def command(sizes: Sequence[int], seconds: float, json: str | None) -> None:
    """Times corymb's channels beside others, alternating in one run."""
    if not 0.5 <= seconds <= 86400:
        raise inputs.usage("--seconds must be from 0.5 to 86400")
    if not set(sizes) <= set(SIZES):
        raise inputs.usage(f"--bytes: messages are of {' or '.join(map(str, SIZES))} bytes here")
    arguments = ["--seconds", f"{seconds:g}"]
    if sizes:
        arguments += ["--bytes", ",".join(map(str, sorted(sizes)))]
    files.require_writable(json)
    with console.progress_bar("measuring side by side") as report:
        rows = bench_program.run("corymb-bench-messages", arguments, report)
    found = verdict(rows)
    foreseen = predictions(rows)
    out = console.output(quiet=console.is_stdout(json))
    show(out, rows)
    show_verdict(out, found)
    show_predictions(out, foreseen)
    if json is not None:
        files.write_json(
            json,
            {
                "schema": "corymb-bench-messages/1",
                "version": corymb.__version__,
                "rows": rows,
                "verdict": found,
                "predictions": foreseen,
            },
        )


def verdict(rows: Sequence[Row]) -> dict[str, list[str]]:
    """What corymb takes without options, against each other way in each case."""
    found: dict[str, list[str]] = {"wins": [], "ties": [], "losses": []}
    own = {(row["op"], row["size"]): row for row in rows if row["contestant"] == OWN[row["op"]]}
    for row in rows:
        mine = own.get((row["op"], row["size"]))
        if mine is None or row["family"] != "peer":
            continue
        ratio = mine["median_ns"] / row["median_ns"]
        kind = "ties" if abs(ratio - 1) <= TIE else "wins" if ratio < 1 else "losses"
        found[kind].append(
            f"{row['op']} {row['size']}: {mine['contestant']} {mine['median_ns']:,.1f} ns, "
            f"{row['contestant']} {row['median_ns']:,.1f} ns"
        )
    return found


def predictions(rows: Sequence[Row], machine: corymb.Machine | None = None) -> list[Row]:
    """Round trips of mailboxes among threads as the model of this machine foresees them, between
    its first two CPUs; nobody is pinned. Empty where no model is cached."""
    model = machine if machine is not None else corymb.cached_machine()[0]
    if model is None or len(model) < 2 or model.unit != "ns":
        return []
    found = []
    for row in rows:
        kind, _, protocol = row["contestant"].partition(" ")
        if row["op"] == "round_trip" and kind == "mailbox" and "," not in protocol:
            times = corymb.simulate_mailbox(
                model, protocol, placement=[0, 1], message_bytes=row["size"]
            )
            found.append(
                {
                    "protocol": protocol,
                    "bytes": row["size"],
                    "predicted_ns": times.round_trip,
                    "measured_ns": row["median_ns"],
                    "simulated_on": inputs.title_of(model),
                }
            )
    return found


def show_predictions(out: Console, found: Sequence[Row]) -> None:
    if not found:
        out.print("no model of this machine to foresee round trips with; corymb map makes one")
        return
    out.print(f"round trips, simulated on {found[0]['simulated_on']} and measured, ns:")
    for one in found:
        out.print(
            f"  mailbox {one['protocol']}, {one['bytes']} B: predicted "
            f"{one['predicted_ns']:,.0f}, measured {one['measured_ns']:,.0f}",
            markup=False,
        )


def show(out: Console, rows: Sequence[Row]) -> None:
    """One table an operation: a line a contestant, a column a size. Quartiles are in the JSON."""
    for op, title in TITLES.items():
        members = [row for row in rows if row["op"] == op]
        if members:
            out.print(f"[bold]{op}[/], {title}: median, ns")
            out.print(_table(members))


def _table(rows: Sequence[Row]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("contestant", overflow="fold")
    sizes = sorted({row["size"] for row in rows})
    for size in sizes:
        table.add_column(str(size), justify="right")
    by_name: dict[str, dict[int, Row]] = {}
    for row in rows:
        by_name.setdefault(row["contestant"], {})[row["size"]] = row
    for name, cells in by_name.items():
        style = "bold" if name == OWN[rows[0]["op"]] else None
        table.add_row(name, *[_cell(cells.get(size)) for size in sizes], style=style)
    return table


def _cell(row: Row | None) -> str:
    if row is None:
        return "-"
    return f"{row['median_ns']:,.1f}"


def show_verdict(out: Console, found: dict[str, list[str]]) -> None:
    out.print(
        f"corymb is faster in {len(found['wins'])} comparisons with other ways, equal within 5 % "
        f"in {len(found['ties'])}, slower in {len(found['losses'])}."
    )
    for loss in found["losses"]:
        out.print("  slower: " + loss, markup=False)
