# SPDX-License-Identifier: Apache-2.0
"""corymb bench-peers: corymb and MPI libraries, alternating in one run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import corymb
from corymb.command import bench, bench_program, console, files, inputs
from corymb.command.options import JsonFile
from corymb.peers import contestant, measure, verdict

NAME = "bench-peers"
EXAMPLES = (
    "Examples: corymb bench-peers allreduce | "
    "corymb bench-peers barrier,broadcast --ranks 2,4,8 --bytes 8,65536 --json peers.json | "
    "corymb bench-peers all --modes blocking,nonblocking,persistent --seconds 600"
)
SIZE_MAX = 2**28


def command(
    ops: Annotated[
        str, typer.Argument(metavar="OP[,OP]", help="all, or " + ", ".join(measure.OPERATIONS))
    ],
    ranks: Annotated[str, typer.Option("--ranks", metavar="LIST", help="Numbers of ranks.")] = "2",
    sizes: Annotated[
        str, typer.Option("--bytes", metavar="LIST", help="Bytes of one contribution.")
    ] = "8,1024,65536,1048576",
    modes: Annotated[
        str, typer.Option("--modes", metavar="LIST", help=", ".join(measure.MODES) + ".")
    ] = "blocking",
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", help="Time for everything together.")
    ] = 60.0,
    contestants: Annotated[
        str | None, typer.Option("--contestants", metavar="NAMES", help="Those to keep, by ';'.")
    ] = None,
    peers: Annotated[
        Path | None,
        typer.Option("--peers", metavar="FOLDER", help="Where the peers are: build/peers."),
    ] = None,
    json: JsonFile = None,
) -> None:
    """Time corymb beside MPI libraries, which `make bench-peers` in the sources installs."""
    names = list(measure.OPERATIONS) if ops == "all" else bench.split(ops, "OP")
    _require_known("operation", names, measure.OPERATIONS)
    chosen_modes = bench.split(modes, "--modes")
    _require_known("mode", chosen_modes, measure.MODES)
    chosen_sizes = bench.numbers(sizes, "--bytes", 8, SIZE_MAX)
    if any(size % 8 for size in chosen_sizes):
        raise inputs.usage(f"--bytes '{sizes}': elements are double, so multiples of 8")
    if not 1 <= seconds <= 86400:
        raise inputs.usage("--seconds must be from 1 to 86400")
    request = measure.Request(
        ops=names,
        ranks=bench.numbers(ranks, "--ranks", 2, 256),
        sizes=chosen_sizes,
        modes=chosen_modes,
        seconds=seconds,
        cpus=len(os.sched_getaffinity(0)),
    )
    files.require_writable(json)
    folder = peers or Path(os.environ.get("CORYMB_PEERS", "build/peers"))
    everybody, missing = contestant.load(folder)
    chosen = _choose([own_ranks(), *everybody], contestants)
    for peer in missing:
        console.say(f"missing: {peer.name}: {peer.reason}")
    with console.progress_bar("measuring beside MPI libraries") as report:
        rows = measure.measure(request, chosen, report)
    found = verdict.comparisons(rows)
    out = console.output(quiet=console.is_stdout(json))
    show(out, rows, found)
    if json is not None:
        files.write_json(json, {
            "schema": "corymb-bench/1", "version": corymb.__version__, "rows": rows,
            "means": verdict.means(found),
            "missing": [{"name": peer.name, "reason": peer.reason} for peer in missing],
        })  # fmt: skip


def _require_known(what: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise inputs.usage(f"unknown {what} '{name}'; there are {', '.join(known)}")


def own_ranks() -> contestant.Contestant:
    """corymb's ranks, beside corymb-bench."""
    driver = bench_program.program()
    program = driver.with_name("corymb-bench-ranks") if driver else None
    if program is None or not program.exists():
        raise corymb.Error(
            "corymb-bench-ranks is not part of this installation; build with CORYMB_BENCH=ON", "io"
        )
    return contestant.own_threads(program)


def _choose(
    everybody: list[contestant.Contestant], wanted: str | None
) -> list[contestant.Contestant]:
    if wanted is None:
        return everybody
    names = [name.strip() for name in wanted.split(";")]
    known = [entry.name for entry in everybody]
    _require_known("contestant", names, known)
    return [entry for entry in everybody if entry.name in names]


def show(out: Console, rows: Sequence[dict[str, Any]], found: list[verdict.Comparison]) -> None:
    """A line a case against its best peer, then the means and the count."""
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("operation", overflow="fold")
    for title in ("ranks", "bytes", "corymb, µs", "best peer, µs", "ratio"):
        table.add_column(title, justify="right")
    table.add_column("best peer", overflow="fold")
    styles = {"win": "green", "loss": "red", "none": "dim"}
    for one in found:
        table.add_row(
            one.op, str(one.ranks), str(one.bytes), _micro(one.corymb_ns), _micro(one.peer_ns),
            "" if one.ratio is None else f"{one.ratio:.2f}", one.peer or one.note,
            style=styles.get(one.result),
        )  # fmt: skip
    out.print(table)
    for text in skipped(rows):
        out.print(text, markup=False, style="dim", soft_wrap=True)
    for mean in verdict.means(found):
        out.print(
            f"{mean['ranks']} ranks, {mean['mode']}, {mean['measure']}, {mean['band']}: the best "
            f"peer takes {mean['mean']:.2f} x our time over {mean['cases']} cases, "
            f"least {mean['least']:.2f}",
            soft_wrap=True,
        )
    count = {name: sum(one.result == name for one in found) for name in ("win", "tie", "loss")}
    out.print(
        f"Against the best peer of each case corymb wins {count['win']}, ties {count['tie']} "
        f"(within 5 %), loses {count['loss']}."
    )


def skipped(rows: Sequence[dict[str, Any]]) -> list[str]:
    """One line for each contestant and reason, with the cases that it lacks."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["skipped"] is not None and row["measure"] == "latency":
            payload = "" if row["bytes"] == 0 else f" {row['bytes']} B"
            cases = groups.setdefault((row["contestant"], row["skipped"]), [])
            cases.append(f"{row['op']}{payload} on {row['ranks']}")
    return [
        f"skipped: {name}, {reason}: "
        + ", ".join(cases[:3])
        + (f" and {len(cases) - 3} more" if len(cases) > 3 else "")
        for (name, reason), cases in groups.items()
    ]


def _micro(value: float | None) -> str:
    return "-" if value is None else f"{value / 1000:,.2f}"
