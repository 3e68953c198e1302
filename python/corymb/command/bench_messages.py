# SPDX-License-Identifier: Apache-2.0
"""corymb bench messages: mailboxes and broadcast rings beside two plain lines and other queues."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

import corymb
from corymb.command import bench_iceoryx2, inputs, side_by_side
from corymb.command.options import JsonFile, Seconds
from corymb.command.side_by_side import Row, Verdict

EXAMPLES = "Example: corymb bench messages --bytes 8 --seconds 20"
SIZES = (8, 256)
TITLES = {
    "round_trip": "a message there and back, by its bytes",
    "stream": "one of many messages on their way, by its bytes",
    "idle_poll": "a look at silent peers, by their number",
    "publish": "telling many readers, for the publisher, by their number",
    bench_iceoryx2.TRIP_OP: "there and back between processes, from Python, by its bytes",
    bench_iceoryx2.OP: "telling many readers, from Python, by their number",
}
# What is compared with other libraries; the rest is shown.
OWN = {
    "round_trip": "mailbox ring",
    "stream": "mailbox ring",
    "idle_poll": "mailbox nvp",
    "publish": "broadcast ring",
    bench_iceoryx2.TRIP_OP: bench_iceoryx2.TRIP_OWN,
    bench_iceoryx2.OP: bench_iceoryx2.OWN,
}


def command(
    sizes: Annotated[
        str | None, typer.Option("--bytes", metavar="LIST", help="Payloads: 8, 256 or both.")
    ] = None,
    seconds: Seconds = 60.0,
    json: JsonFile = None,
) -> None:
    """Time mailboxes and broadcast rings beside other queues."""
    chosen = inputs.numbers(sizes, "--bytes", 8, 256)
    if not set(chosen) <= set(SIZES):
        raise inputs.usage(f"--bytes: messages are of {' or '.join(map(str, SIZES))} bytes here")
    skipped: list[Row] = []

    def in_python() -> list[Row]:
        rows, missing = bench_iceoryx2.rows(min(9, math.ceil(seconds / 2)))
        skipped.extend(missing)
        return rows

    def show_more(out: Console, rows: Sequence[Row]) -> Row:
        for one in skipped:
            out.print(f"{one['name']}: skipped: {one['reason']}", markup=False)
        return {"skipped": skipped, **show_predictions(out, rows)}

    side_by_side.run(
        "corymb-bench-messages",
        seconds,
        {"--bytes": sorted(chosen)},
        json,
        verdict,
        show,
        "other",
        show_more,
        in_python,
    )


def verdict(rows: Sequence[Row]) -> Verdict:
    """What corymb takes without options, against each other way in each case."""
    found = Verdict()
    own = {(row["op"], row["size"]): row for row in rows if row["contestant"] == OWN[row["op"]]}
    for row in rows:
        mine = own.get((row["op"], row["size"]))
        if mine is None or row["family"] != "peer":
            continue
        found.add(
            mine["median_ns"],
            row["median_ns"],
            f"{row['op']} {row['size']}: {mine['contestant']} {mine['median_ns']:,.1f} ns, "
            f"{row['contestant']} {row['median_ns']:,.1f} ns",
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


def show_predictions(out: Console, rows: Sequence[Row]) -> Row:
    found = predictions(rows)
    if not found:
        out.print("no model of this machine to foresee round trips with; corymb map makes one")
        return {"predictions": found}
    out.print(f"round trips, simulated on {found[0]['simulated_on']} and measured, ns:")
    for one in found:
        out.print(
            f"  mailbox {one['protocol']}, {one['bytes']} B: predicted "
            f"{one['predicted_ns']:,.0f}, measured {one['measured_ns']:,.0f}",
            markup=False,
        )
    return {"predictions": found}


def show(out: Console, rows: Sequence[Row]) -> None:
    """One table an operation: a line a contestant, a column a size. Quartiles are in the JSON."""
    for op, title in TITLES.items():
        members = [row for row in rows if row["op"] == op]
        if members:
            out.print(f"[bold]{op}[/], {title}: median, ns")
            out.print(side_by_side.table(members, "contestant", "size", OWN[op], _cell, {}))


def _cell(row: Row) -> str:
    return f"{row['median_ns']:,.1f}"
