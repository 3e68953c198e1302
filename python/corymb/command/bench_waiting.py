# SPDX-License-Identifier: Apache-2.0
"""corymb bench waiting: where waiting costs more than in the simplest code that a user would write.

A cell is one operation under one load of the machine. Each cell has three runs; in each, corymb
and the plain way take turns."""

from __future__ import annotations

import itertools
import random
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import corymb
from corymb.command import bench_program, console, files, inputs
from corymb.command.options import JsonFile, Seconds

EXAMPLES = (
    "Examples: corymb bench waiting --seconds 600 --json waiting.json | "
    "corymb bench waiting --only 'op=alltoall ranks=16,32 kind=threads'"
)
PROGRAM = "corymb-bench-waiting"
Row = dict[str, Any]

SIZES = (8, 1024, 4096, 32768, 262144)
RANKS = (2, 4, 8, 16, 32, 64)
SIZES_OF = {
    "barrier": (0,),
    "broadcast": SIZES,
    "reduce": SIZES,
    "allreduce": SIZES,
    "scatter": SIZES,
    "gather": SIZES,
    "alltoall": SIZES,
    "mailbox": SIZES,
    "ring": SIZES,
    "multicast": (8,),
}
KINDS = ("threads", "processes")
NEIGHBOURS = ("none", "one", "all")
AXES = ("op", "ranks", "bytes", "cpus", "neighbours", "kind")
# What a cell's ranks may hold together: more takes seconds a call and says nothing of waiting.
BYTES_MAX = 2**25

# A run is worse from here on; a cell is if two of its three runs are.
MEDIAN_LIMIT, P99_LIMIT, RUNS_WORSE = 1.5, 3.0, 2
LARGEST_LIST = 10


@dataclass(frozen=True)
class Cell:
    """One place of the map, with the fields of a row."""

    op: str
    ranks: int
    bytes: int
    cpus: int
    neighbours: str
    kind: str

    def word(self) -> str:
        return "/".join(map(str, astuple(self)))


def cells(usable: int) -> list[Cell]:
    """The whole map of a machine with so many usable CPUs, in order."""
    found = []
    for kind, cpus in itertools.product(KINDS, sorted({1, min(2, usable), usable})):
        # On one CPU a neighbour on each is the same as one neighbour.
        for neighbours in NEIGHBOURS if cpus > 1 else NEIGHBOURS[:2]:
            for op, sizes in SIZES_OF.items():
                found += [
                    Cell(op, ranks, size, cpus, neighbours, kind)
                    for ranks, size in itertools.product(RANKS, sizes)
                    if _held(op, ranks, size) <= BYTES_MAX
                ]
    return found


def _held(op: str, ranks: int, size: int) -> int:
    return size * ranks * (ranks if op == "alltoall" else 1)


def sample(all_cells: Sequence[Cell], seed: int) -> list[Cell]:
    """The order in which cells are measured until the time is over: drawn anew for each seed."""
    return random.Random(seed).sample(list(all_cells), len(all_cells))


def parse_only(text: str | None) -> dict[str, set[str]]:
    """`op=reduce,scatter ranks=8` as the values to keep of each field."""
    kept: dict[str, set[str]] = {}
    for word in (text or "").split():
        field, equals, values = word.partition("=")
        if not equals or field not in AXES or field in kept or not all(values.split(",")):
            raise inputs.usage(
                f"--only '{text}': give FIELD=VALUE[,VALUE] for each of {', '.join(AXES)} at most"
            )
        kept[field] = set(values.split(","))
    return kept


def keep(all_cells: Iterable[Cell], kept: dict[str, set[str]]) -> list[Cell]:
    """The cells with these values. Raises corymb.Error when a value is in no cell at all."""
    known = list(all_cells)
    for field, values in kept.items():
        there = {str(getattr(cell, field)) for cell in known}
        unknown = sorted(values - there)
        if unknown:
            order = dict.fromkeys(str(getattr(cell, field)) for cell in known)
            raise inputs.usage(
                f"--only: no cell has {field}={unknown[0]}; there are {', '.join(order)}"
            )
    found = [
        cell
        for cell in known
        if all(str(getattr(cell, field)) in values for field, values in kept.items())
    ]
    if not found:
        raise inputs.usage("--only: no cell has all of these values")
    return found


def command(
    only: Annotated[
        str | None, typer.Option("--only", metavar="FIELD=LIST", help="Cells to keep.")
    ] = None,
    seconds: Seconds = 600.0,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Draws the cells.")] = 1,
    json: JsonFile = None,
) -> None:
    """Measure where waiting costs more than in the simplest code that a user would write."""
    inputs.require_seconds(seconds)
    if not 0 <= seed < 2**63:
        raise inputs.usage("--seed must be from 0 to 2^63 - 1")
    chosen = keep(cells(corymb.usable_cpus().count()), parse_only(only))
    files.require_writable(json)
    words = ["--seconds", f"{seconds:g}", "--seed", str(seed)]
    words += [cell.word() for cell in sample(chosen, seed)]
    with console.progress_bar("measuring cells of the waiting map") as report:
        rows, failure = bench_program.all_rows(
            lambda: [judged(row) for row in bench_program.run(PROGRAM, words, report)]
        )
    if failure is not None:
        rows = [judged(row) for row in rows]
    found = summary(rows, len(chosen))
    show(console.output(quiet=console.is_stdout(json)), rows, found)
    if json is not None:
        value = {
            "schema": f"{PROGRAM}/1",
            "version": corymb.__version__,
            "seed": seed,
            "rows": rows,
            "summary": found,
        }
        files.write_json(json, value)
    if failure is not None:
        raise failure


def judged(row: Row) -> Row:
    """A row of the program with medians over its runs, and whether the cell is worse."""
    runs = row["runs"]
    times = {
        f"{who}{what}_us": statistics.median(run[f"{who}{what}_us"] for run in runs)
        if runs
        else None
        for who, what in itertools.product(("", "peer_"), ("first", "median", "p99"))
    }
    at_median = _worse_runs(runs, "median_us", MEDIAN_LIMIT)
    at_p99 = _worse_runs(runs, "p99_us", P99_LIMIT)
    return {
        **{axis: row[axis] for axis in AXES},
        **times,
        "ratio": _middle(runs, "median_us"),
        "p99_ratio": _middle(runs, "p99_us"),
        "worse_median": at_median >= RUNS_WORSE,
        "worse_p99": at_p99 >= RUNS_WORSE,
        "skipped": row["skipped"],
        "runs": runs,
    }


def _ratio(run: Row, what: str) -> float:
    return float(run[what]) / max(float(run[f"peer_{what}"]), 1e-3)


def _worse_runs(runs: Sequence[Row], what: str, limit: float) -> int:
    return sum(_ratio(run, what) > limit for run in runs)


def _middle(runs: Sequence[Row], what: str) -> float | None:
    return statistics.median(_ratio(run, what) for run in runs) if runs else None


def is_worse(row: Row) -> bool:
    return bool(row["worse_median"] or row["worse_p99"])


def excess(row: Row) -> float:
    """How far a cell is beyond its limits: 1 is on the limit."""
    return float(max(row["ratio"] / MEDIAN_LIMIT, row["p99_ratio"] / P99_LIMIT))


def _shared(row: Row) -> tuple[Any, ...]:
    return tuple(row[axis] for axis in ("op", "kind", "cpus", "neighbours"))


def summary(rows: Sequence[Row], cells_all: int) -> Row:
    """Counts, the worst cells, and the worse ones grouped by what they share."""
    measured = [row for row in rows if row["skipped"] is None]
    worse = [row for row in measured if is_worse(row)]
    groups = []
    for key in dict.fromkeys(map(_shared, worse)):
        members = [row for row in worse if _shared(row) == key]
        op, kind, cpus, neighbours = key
        groups.append(
            {
                "op": op,
                "kind": kind,
                "cpus": cpus,
                "neighbours": neighbours,
                "worse": len(members),
                "cells": sum(_shared(row) == key for row in measured),
                "ranks": sorted({row["ranks"] for row in members}),
                "bytes": sorted({row["bytes"] for row in members}),
                "ratio_max": max(row["ratio"] for row in members),
                "p99_ratio_max": max(row["p99_ratio"] for row in members),
            }
        )
    groups.sort(key=lambda group: (-group["worse"], -group["ratio_max"]))
    worst = sorted(worse, key=excess, reverse=True)[:LARGEST_LIST]
    return {
        "cells": cells_all,
        "measured": len(measured),
        "skipped": len(rows) - len(measured),
        "worse": len(worse),
        "worse_median": sum(row["worse_median"] for row in measured),
        "worse_p99": sum(row["worse_p99"] for row in measured),
        "ratio_median": statistics.median(row["ratio"] for row in measured) if measured else None,
        "worst": [{axis: row[axis] for axis in (*AXES, "ratio", "p99_ratio")} for row in worst],
        "groups": groups,
    }


def show(out: Console, rows: Sequence[Row], found: Row) -> None:
    out.print(
        f"{found['measured']} of {found['cells']} cells measured, {found['skipped']} failed. "
        f"Worse in two of three runs: {found['worse']} "
        f"({found['worse_median']} above {MEDIAN_LIMIT:g} x at the median, "
        f"{found['worse_p99']} above {P99_LIMIT:g} x at the 99th percentile)."
    )
    if found["ratio_median"] is not None:
        out.print(
            f"In half of the cells corymb takes less than {found['ratio_median']:.2f} x the time."
        )
    if found["groups"]:
        out.print(_groups_table(found["groups"]))
        out.print(_worst_table(found["worst"]))
    for row in rows:
        if row["skipped"] is not None:
            name = "/".join(str(row[axis]) for axis in AXES)
            out.print(f"{name} failed: {row['skipped']}", markup=False)


def _groups_table(groups: Sequence[Row]) -> Table:
    table = Table(
        title="worse cells by what they share, and their greatest ratios",
        box=None,
        padding=(0, 1, 0, 0),  # So that 80 columns hold every name whole.
    )
    for title in ("op", "kind", "CPUs", "neighbours"):
        table.add_column(title, no_wrap=True)
    for title in ("worse", "ranks", "bytes", "median", "99 %"):
        table.add_column(title, justify="right", overflow="fold")
    for group in groups:
        table.add_row(
            group["op"],
            group["kind"],
            str(group["cpus"]),
            group["neighbours"],
            f"{group['worse']} of {group['cells']}",
            _span(group["ranks"]),
            _span(group["bytes"]),
            f"{group['ratio_max']:.2f} x",
            f"{group['p99_ratio_max']:.2f} x",
        )
    return table


def _span(values: Sequence[int]) -> str:
    return str(values[0]) if len(values) == 1 else f"{values[0]}-{values[-1]}"


def _worst_table(worst: Sequence[Row]) -> Table:
    table = Table(title="the worst cells", box=None, padding=(0, 1))
    for axis in AXES:
        table.add_column(axis, justify="right" if axis in {"ranks", "bytes", "cpus"} else "left")
    table.add_column("median", justify="right")
    table.add_column("99 %", justify="right")
    for row in worst:
        names = [str(row[axis]) for axis in AXES]
        table.add_row(*names, f"{row['ratio']:.2f} x", f"{row['p99_ratio']:.2f} x")
    return table
