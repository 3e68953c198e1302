# SPDX-License-Identifier: Apache-2.0
"""corymb partition: divides the vertices of a graph into parts with few edges between them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

import corymb
from corymb import _core
from corymb.command import console, files, inputs
from corymb.command.options import JsonFile

EXAMPLES = (
    "Examples: corymb partition mesh.graph -k 16 -o parts.txt | "
    "corymb partition links.txt -k 4 --ranks 2 --imbalance 5 --json - | "
    "corymb run -n 4 -- corymb partition mesh.graph -k 16 -o parts.txt"
)


def command(
    graph: Annotated[
        str, typer.Argument(metavar="GRAPH", help="METIS, Matrix Market or a list of edges.")
    ],
    parts: Annotated[int, typer.Option("-k", "--parts", metavar="K", help="How many parts.")],
    output: Annotated[
        str | None,
        typer.Option("-o", metavar="FILE", help="The parts, one a line; - is stdout."),
    ] = None,
    ranks: Annotated[
        int | None,
        typer.Option("--ranks", metavar="N", help="Threads; as many as CPUs without it."),
    ] = None,
    imbalance: Annotated[
        float,
        typer.Option(
            "--imbalance", metavar="PERCENT", help="How much above the average a part may be."
        ),
    ] = 3.0,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the search.")] = 1,
    format: Annotated[
        str,
        typer.Option("--format", metavar="F", help="auto, metis, matrix-market or edges."),
    ] = "auto",
    json: JsonFile = None,
) -> None:
    """Divide the vertices of a graph into parts of equal weight with few edges between them."""
    among_processes = "CORYMB_TEAM" in os.environ
    if ranks is not None and among_processes:
        raise inputs.usage("corymb run says how many ranks there are: leave --ranks out")
    if ranks is not None and not 1 <= ranks <= 1024:
        raise inputs.usage(f"--ranks {ranks}: give 1 to 1024")
    if not 1 <= parts <= 2**20:
        raise inputs.usage(f"-k {parts}: give 1 to {2**20} parts")
    if not 0 <= imbalance <= 1000:
        raise inputs.usage(f"--imbalance {imbalance:g}: give 0 to 1000 percent")
    if not 0 <= seed < 2**63:
        raise inputs.usage(f"--seed {seed}: give a number from 0 on")
    files.require_writable(output, json)
    own = ranks or corymb.usable_cpus().count()
    before = _resident("VmRSS")
    found = console.busy(
        f"dividing {graph}",
        lambda: _core.partition_file(
            graph, parts, ranks=own, imbalance=imbalance / 100, seed=seed, format=format,
            wants_parts=output is not None,
        ),
    )  # fmt: skip
    if found is None:  # Rank 0 tells.
        return
    report: dict[str, Any] = dict(found)
    text = report.pop("parts")
    report["peak_bytes"] = max(_resident("VmHWM") - before, 0) // (1 if among_processes else own)
    if output is not None:
        files.write_text(output, text)
    _show(console.output(quiet=console.is_stdout(output, json)), report, parts)
    files.write_json(
        json,
        {
            "schema": "corymb-partition/1", "graph": graph, "k": parts, "seed": seed,
            "imbalance_percent": imbalance, **report,
        },
    )  # fmt: skip


def _resident(what: str) -> int:
    """Bytes of this process's memory: now (VmRSS) or at most so far (VmHWM)."""
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").split("\n"):
        name, _, rest = line.partition(":")
        if name == what:
            return int(rest.split()[0]) * 1024
    return 0


def _show(out: Console, report: dict[str, Any], parts: int) -> None:
    edges = max(report["edges"], 1)
    balance = "" if report["balanced"] else ", more than it may: vertices are too heavy to fit"
    lines = [
        f"{report['vertices']} vertices, {report['edges']} edges, {report['ranks']} ranks",
        f"cut       {report['cut']}",
        f"heaviest  {report['heaviest']} of at most {report['limit']} in {parts} parts{balance}",
        f"levels    {report['levels']}, the coarsest with {report['coarsest']} vertices",
        "seconds   "
        + ", ".join(
            f"{name} {report[name + '_s']:.2f}" for name in ("read", "coarsen", "divide", "refine")
        ),
        f"memory    {report['data_bytes'] / edges:.1f} bytes an edge and "
        f"{report['overhead_bytes'] / edges:.1f} for ghosts; "
        f"peak {report['peak_bytes'] / 1e6:.1f} MB a rank",
    ]
    for line in lines:
        out.print(line, markup=False)
