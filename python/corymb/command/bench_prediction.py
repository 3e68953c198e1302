# SPDX-License-Identifier: Apache-2.0
"""corymb bench prediction: plans, good and bad, simulated on this machine's model and measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

import corymb
from corymb.command import bench_program, console, files, inputs
from corymb.command.options import JsonFile, Seconds

EXAMPLES = "Example: corymb bench prediction --seconds 30"
Row = dict[str, Any]


def command(seconds: Seconds = 60.0, json: JsonFile = None) -> None:
    """Compare simulated times of good and bad plans with measured ones."""
    inputs.require_seconds(seconds)
    files.require_writable(json)
    rows, summary = measure(seconds)
    out = console.output(quiet=console.is_stdout(json))
    show(out, rows, summary)
    if json is not None:
        value = {"schema": "corymb-bench-prediction/1", "version": corymb.__version__}
        files.write_json(json, value | {"rows": rows, "summary": summary})


def measure(seconds: float) -> tuple[list[Row], Row]:
    """A row a plan, and how well all of them agree; needs at least two CPUs."""
    arguments = ["--predict", "--seconds", f"{seconds:g}"]
    with console.progress_bar("simulating and measuring plans") as report:
        found = bench_program.run(
            "corymb-bench", arguments, report, ("prediction", "prediction-summary")
        )
    rows = [row for row in found if row.pop("type") == "prediction"]
    [summary] = [row for row in found if "spearman" in row]
    return rows, summary


def show(out: Console, rows: Sequence[Row], summary: Row) -> None:
    """A line a plan, fastest first, then how well all of them agree."""
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("plan", overflow="fold")
    for title in ("ranks", "B", "simulated, ns", "measured, ns", "ratio"):
        table.add_column(title, justify="right")
    for row in sorted(rows, key=lambda row: float(row["measured_ns"] or 0)):
        predicted, measured = row["predicted_ns"], row["measured_ns"]
        known = measured is not None and measured > 0
        table.add_row(
            f"{row['op']}: {row['plan']}", str(row["ranks"]), str(row["bytes"]),
            f"{predicted:,.0f}", f"{measured:,.0f}" if known else "-",
            f"{predicted / measured:.2f}" if known else "",
        )  # fmt: skip
    out.print(table)
    out.print(f"Simulated on {summary['model'] or 'the model of this machine'}:")
    for title, part in (("all", summary), *summary["by_op"].items()):
        out.print(
            f"  {title}: {part['plans']} plans, median error "
            f"{_number(part['median_relative_error'], 0, 100)} %, rank correlation of "
            f"{part['plans_apart']} that differ {_number(part['spearman'], 2)}"
        )
    out.print(f"  among 2 to {summary['ranks_most']} ranks")


def _number(value: float | None, digits: int, factor: float = 1) -> str:
    return "-" if value is None else f"{value * factor:.{digits}f}"
