# SPDX-License-Identifier: Apache-2.0
"""corymb bench: corymb and its peers, measured side by side in one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import corymb
from corymb.command import (
    bench_calls,
    bench_messages,
    bench_multicast,
    bench_prediction,
    bench_program,
    bench_waiting,
    console,
    files,
    inputs,
)
from corymb.command.options import JsonFile
from corymb.study import OPERATIONS, bench_verdict

NAME = "bench"
EXAMPLES = (
    "Examples: corymb bench barrier --threads 2 | "
    "corymb bench barrier,broadcast,allreduce --threads 2,4,8 --seconds 60 --json bench.json | "
    "corymb bench allreduce --threads 2 --bytes 8,65536 | "
    "corymb bench multicast --threads 2,8 | corymb bench messages --seconds 20 | "
    "corymb bench calls --seconds 20 | "
    "corymb bench prediction --seconds 30 | "
    "corymb bench waiting --seconds 600 --json waiting.json | "
    "corymb bench waiting --only 'op=alltoall ranks=16,32 kind=threads'"
)
SECONDS = 60.0
ALONE = ("multicast", "messages", "calls", "prediction", "waiting")
REGIMES = ("alone", "oversubscribed", "neighbour", "late")


def command(
    ops: Annotated[
        str,
        typer.Argument(
            metavar="OP[,OP]",
            help="barrier, broadcast, reduce, allreduce; or multicast, messages, calls, "
            "prediction or waiting.",
        ),
    ],
    threads: Annotated[
        str | None,
        typer.Option("--threads", metavar="LIST", help="Numbers of threads, such as 2,4,8."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds", metavar="S", help="Time for everything together; 60, for waiting 600."
        ),
    ] = None,
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
    pin: Annotated[
        str, typer.Option("--pin", metavar="auto|yes|no", help="Bind threads to CPUs.")
    ] = "auto",
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="FIELD=LIST", help="Cells of waiting to keep."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", help="Draws the cells of waiting; 1 without it."),
    ] = None,
    json: JsonFile = None,
) -> None:
    """Time corymb, the raw floor and other libraries, alternating in one run."""
    lists = {"--regimes": regimes, "--contestants": contestants}
    if ops == "waiting":
        _refuse(ops, {**lists, "--threads": threads, "--bytes": sizes})
        longest = bench_waiting.SECONDS if seconds is None else seconds
        bench_waiting.command(only, longest, 1 if seed is None else seed, json)
        return
    _refuse(ops, {"--only": only, "--seed": seed})
    if ops in ALONE:
        _other_bench(ops, lists, threads, sizes, SECONDS if seconds is None else seconds, json)
        return
    request = _request(ops, threads, SECONDS if seconds is None else seconds, sizes, lists, pin)
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
    names = split(ops, "OP")
    for name in names:
        if name in ALONE:
            raise inputs.usage(f"{name} stands alone: corymb bench {name}")
        inputs.require_operation(name, (*OPERATIONS, *ALONE))
    if not 0.5 <= seconds <= 86400:
        raise inputs.usage("--seconds must be from 0.5 to 86400")
    if pin not in {"auto", "yes", "no"}:
        raise inputs.usage("--pin must be auto, yes or no")
    chosen_regimes = split(lists["--regimes"], "--regimes")
    unknown = [name for name in chosen_regimes if name not in REGIMES]
    if unknown:
        raise inputs.usage(f"unknown regime '{unknown[0]}'; there are {', '.join(REGIMES)}")
    return bench_program.Request(
        ops=names,
        threads=numbers(threads, "--threads", 2, 1024),
        seconds=seconds,
        sizes=numbers(sizes, "--bytes", 8, 2**26),
        regimes=chosen_regimes,
        contestants=split(lists["--contestants"], "--contestants"),
        pin=pin,
    )


def _other_bench(
    name: str,
    unused: dict[str, str | None],
    threads: str | None,
    sizes: str | None,
    seconds: float,
    json: str | None,
) -> None:
    """Those with rows of their own; `unused` are options that none of them has."""
    if name != "messages":
        unused["--bytes"] = sizes
    if name != "multicast":
        unused["--threads"] = threads
    _refuse(name, unused)
    if name == "messages":
        bench_messages.command(numbers(sizes, "--bytes", 8, 256), seconds, json)
    elif name == "calls":
        bench_calls.command(seconds, json)
    elif name == "prediction":
        bench_prediction.command(seconds, json)
    else:
        bench_multicast.command(numbers(threads, "--threads", 2, 1024), seconds, json)


def _refuse(name: str, unused: Mapping[str, object]) -> None:
    for option, value in unused.items():
        if value is not None:
            raise inputs.usage(f"{option} does not go with {name}")


def split(text: str | None, option: str) -> list[str]:
    if text is None:
        return []
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise inputs.usage(f"{option} '{text}': there is an empty entry")
    return parts


def numbers(text: str | None, option: str, low: int, high: int) -> list[int]:
    """A list of numbers without repetition, each from `low` to `high`."""
    found: list[int] = []
    for part in split(text, option):
        if not part.isdecimal() or not part.isascii() or len(part) > 12:
            raise inputs.usage(f"{option} '{text}': '{part}' is not a number")
        if not low <= int(part) <= high:
            raise inputs.usage(f"{option} {part} is out of range: {low} to {high}")
        if int(part) in found:
            raise inputs.usage(f"{option} '{text}': {part} occurs twice")
        found.append(int(part))
    return found


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
