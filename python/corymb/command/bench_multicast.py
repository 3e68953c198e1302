# SPDX-License-Identifier: Apache-2.0
"""corymb bench multicast: latency of an acknowledged multicast over the size of the group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

import corymb
from corymb.command import bench_program, console, files, inputs

TIE = 0.05
NO_CALL = "membarrier, no call"  # It runs nothing on the members: shown, not compared.
Row = dict[str, Any]
REGIMES = {
    "polling": "members run and look at safe points",
    "asleep": "members sleep until they are called",
}


def command(threads: Sequence[int], seconds: float, json: str | None) -> None:
    """Times corymb's topologies beside plain ways, alternating in one run."""
    if not 0.5 <= seconds <= 86400:
        raise inputs.usage("--seconds must be from 0.5 to 86400")
    arguments = ["--seconds", f"{seconds:g}"]
    if threads:
        arguments += ["--threads", ",".join(map(str, threads))]
    files.require_writable(json)
    with console.progress_bar("measuring side by side") as report:
        rows = bench_program.run("corymb-bench-multicast", arguments, report)
    found = verdict(rows)
    out = console.output(quiet=console.is_stdout(json))
    show(out, rows)
    show_verdict(out, found)
    if json is not None:
        files.write_json(
            json,
            {
                "schema": "corymb-bench-multicast/1",
                "version": corymb.__version__,
                "rows": rows,
                "verdict": found,
            },
        )


def verdict(rows: Sequence[Row]) -> dict[str, list[str]]:
    """corymb, as it is without options, against each plain way in each case."""
    found: dict[str, list[str]] = {"wins": [], "ties": [], "losses": []}
    for case, members in cases(rows).items():
        own = next((row for row in members if row["contestant"] == "corymb"), None)
        for row in members:
            if own is None or row["family"] == "corymb" or row["contestant"] == NO_CALL:
                continue
            ratio = own["median_ns"] / row["median_ns"]
            kind = "ties" if abs(ratio - 1) <= TIE else "wins" if ratio < 1 else "losses"
            found[kind].append(
                f"{title(case)}: {own['median_ns']:,.0f} ns, {row['contestant']} "
                f"{row['median_ns']:,.0f} ns"
            )
    return found


def cases(rows: Sequence[Row]) -> dict[tuple[str, int, int], list[Row]]:
    found: dict[tuple[str, int, int], list[Row]] = {}
    for row in rows:
        found.setdefault((row["regime"], row["ranks"], row["members"]), []).append(row)
    return found


def title(case: tuple[str, int, int]) -> str:
    regime, ranks, members = case
    return f"{members} of {ranks - 1} others, {regime}"


def show(out: Console, rows: Sequence[Row]) -> None:
    """One table a regime and number of threads: a line a contestant, a column a group size. The
    last column is what a broadcast to all would take."""
    shown: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        shown.setdefault((row["regime"], row["ranks"]), []).append(row)
    for (regime, ranks), members in shown.items():
        cpus = members[0]["cpus"]
        out.print(
            f"[bold]{ranks} threads[/] on {cpus} CPUs, {REGIMES[regime]}: median, ns (quartiles)"
        )
        out.print(_table(members))


def _table(rows: Sequence[Row]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("members", overflow="fold")
    sizes = sorted({row["members"] for row in rows})
    for size in sizes:
        table.add_column(str(size) if size < rows[0]["ranks"] - 1 else "all", justify="right")
    by_name: dict[str, dict[int, Row]] = {}
    for row in rows:
        by_name.setdefault(row["contestant"], {})[row["members"]] = row
    for name, cells in by_name.items():
        texts = [_cell(cells.get(size)) for size in sizes]
        table.add_row(name, *texts, style="bold" if name == "corymb" else None)
    return table


def _cell(row: Row | None) -> str:
    if row is None:
        return "-"
    return f"{row['median_ns']:,.0f} ({row['q25']:,.0f}-{row['q75']:,.0f})"


def show_verdict(out: Console, found: dict[str, list[str]]) -> None:
    out.print(
        f"corymb is faster in {len(found['wins'])} comparisons with plain ways, equal within 5 % "
        f"in {len(found['ties'])}, slower in {len(found['losses'])}."
    )
    for loss in found["losses"]:
        out.print("  slower: " + loss, markup=False)
