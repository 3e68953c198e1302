# SPDX-License-Identifier: Apache-2.0
"""corymb bench collectives: corymb and its peers, measured side by side in one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import corymb
from corymb.command import bench_program, console, files, inputs
from corymb.command.options import JsonFile, Seconds, Threads
from corymb.study import OPERATIONS, bench_verdict

EXAMPLES = (
    "Examples: corymb bench collectives barrier --threads 2 | "
    "corymb bench collectives --threads 2,4,8 --seconds 60 --json bench.json | "
    "corymb bench collectives allreduce --threads 2 --bytes 8,65536"
)
REGIMES = ("alone", "oversubscribed", "neighbour", "late")


class Pin(str, Enum):
    """Whether the threads are bound to CPUs."""

    auto = "auto"
    yes = "yes"
    no = "no"


def command(
    ops: Annotated[
        str,
        typer.Argument(metavar="[OP[,OP]]", help="barrier, broadcast, reduce, allreduce."),
    ] = ",".join(OPERATIONS),
    threads: Threads = None,
    seconds: Seconds = 60.0,
    sizes: Annotated[
        str | None, typer.Option("--bytes", metavar="LIST", help="Payloads, multiples of 8.")
    ] = None,
    regimes: Annotated[
        str | None, typer.Option("--regimes", metavar="LIST", help=", ".join(REGIMES) + ".")
    ] = None,
    contestants: Annotated[
        str | None,
        typer.Option("--contestants", metavar="LIST", help="Names or families to keep."),
    ] = None,
    pin: Annotated[Pin, typer.Option("--pin", help="Bind threads to CPUs.")] = Pin.auto,
    json: JsonFile = None,
) -> None:
    """Time corymb, the raw floor and other libraries, alternating in one run."""
    lists = {"--regimes": regimes, "--contestants": contestants}
    request = _request(ops, threads, seconds, sizes, lists, pin.value)
    files.require_writable(json)
    with console.progress_bar("measuring side by side") as report:
        rows, failure = bench_program.all_rows(lambda: bench_program.measure(request, report))
    out = console.output(quiet=console.is_stdout(json))
    show(out, rows)
    if json is not None:
        files.write_json(
            json, {"schema": "corymb-bench/1", "version": corymb.__version__, "rows": rows}
        )
    if failure is not None:
        raise failure


def _request(
    ops: str,
    threads: str | None,
    seconds: float,
    sizes: str | None,
    lists: Mapping[str, str | None],
    pin: str,
) -> bench_program.Request:
    """What corymb-bench is to do; raises corymb.Error for what it cannot."""
    names = inputs.split(ops, "OP")
    for name in names:
        inputs.require_operation(name, OPERATIONS)
    inputs.require_seconds(seconds)
    chosen_regimes = inputs.split(lists["--regimes"], "--regimes")
    unknown = [name for name in chosen_regimes if name not in REGIMES]
    if unknown:
        raise inputs.usage(f"unknown regime '{unknown[0]}'; there are {', '.join(REGIMES)}")
    return bench_program.Request(
        ops=names,
        threads=inputs.numbers(threads, "--threads", 2, 1024),
        seconds=seconds,
        sizes=inputs.numbers(sizes, "--bytes", 8, 2**26),
        regimes=chosen_regimes,
        contestants=inputs.split(lists["--contestants"], "--contestants"),
        pin=pin,
    )


def show(out: Console, rows: Sequence[dict[str, Any]]) -> None:
    """One table a case, fastest first, then wins, ties and losses."""
    cases: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        key = (row["op"], row["regime"], row["ranks"], row["bytes"], row["pinned"])
        cases.setdefault(key, []).append(row)
    for (op, regime, ranks, size, pinned), members in cases.items():
        payload = "" if op == "barrier" else f", {size} B"
        bound = "pinned" if pinned else "not pinned"
        out.print(f"[bold]{op}[/], {ranks} ranks{payload}, {regime}, {bound}")
        out.print(_case_table(members, with_cpu=regime != "alone"))
    show_verdict(out, rows)


def _case_table(members: Sequence[dict[str, Any]], with_cpu: bool) -> Table:
    """The CPU time that all ranks burn says something where they could sleep meanwhile."""
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("contestant", overflow="fold")
    titles = ("median, ns", "quartiles, ns", "of corymb", "first, us", *(["CPU, ns"] * with_cpu))
    for title in titles:
        table.add_column(title, justify="right")
    measured = [row for row in members if row["median_ns"] is not None]
    for row in sorted(measured, key=lambda row: row["median_ns"]):
        ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f} x"
        first = "" if row["first_ns"] is None else f"{row['first_ns'] / 1e3:,.1f}"
        cells = [f"{row['median_ns']:,.1f}", f"{row['q25']:,.0f}-{row['q75']:,.0f}", ratio, first]
        if with_cpu:
            cells.append("" if row["cpu_ns"] is None else f"{row['cpu_ns']:,.0f}")
        style = "bold" if row["contestant"] == "corymb" else None
        table.add_row(row["contestant"], *cells, style=style)
    for row in members:
        if row["median_ns"] is None:
            table.add_row(row["contestant"], "-", f"skipped: {row['skipped']}", "", style="dim")
    return table


def show_verdict(out: Console, rows: Sequence[dict[str, Any]]) -> None:
    verdict = bench_verdict(rows)
    out.print(
        f"corymb is faster in {len(verdict['wins'])} comparisons with peers, equal within 5 % in "
        f"{len(verdict['ties'])}, slower in {len(verdict['losses'])}."
    )
    for loss in verdict["losses"]:
        out.print("  slower: " + loss, markup=False)
