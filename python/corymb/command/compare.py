# SPDX-License-Identifier: Apache-2.0
"""corymb compare: the planner's choice against fixed algorithms on the machines of the gallery."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

import corymb
from corymb import comparison
from corymb.command import console, files, inputs
from corymb.command.options import JsonFile

EXAMPLES = (
    "Examples: corymb compare | corymb compare --ops allgather,alltoall --bytes 8,65536 "
    "--machines epyc-9654-2s-192c,m1-ultra-20c --ranks 32 --json compare.json"
)
RANKS_MAX = 4096


def command(
    ops: Annotated[
        str, typer.Option("--ops", metavar="OP[,OP]", help="Operations; all without it.")
    ] = "all",
    machines: Annotated[
        str,
        typer.Option("--machines", metavar="NAME[,NAME]", help="Of the gallery; all without it."),
    ] = "all",
    sizes: Annotated[
        str, typer.Option("--bytes", metavar="LIST", help="Payloads of a contribution.")
    ] = "8,1024,65536,1048576",
    ranks: Annotated[
        int, typer.Option("--ranks", metavar="N", help="The first N CPUs of each machine at most.")
    ] = 32,
    json: JsonFile = None,
) -> None:
    """Compare the choice with one algorithm for everything. All times are simulated."""
    op_names = list(corymb.OPERATIONS) if ops == "all" else ops.split(",")
    for op in op_names:
        inputs.require_operation(op)
    names = corymb.gallery_names() if machines == "all" else machines.split(",")
    for name in names:
        corymb.Machine.gallery(name)
    payloads = _payloads(sizes)
    if not 2 <= ranks <= RANKS_MAX:
        raise inputs.usage(f"--ranks {ranks}: give 2 to {RANKS_MAX}")
    files.require_writable(json)
    with console.progress_bar("planning") as report:
        cases = comparison.plan_cases(names, op_names, payloads, ranks, report)
    found = comparison.verdicts(cases)
    out = console.output(quiet=console.is_stdout(json))
    out.print(_table(found))
    sized = comparison.verdicts_by_size(cases)
    out.print(_sizes_table(sized))
    out.print(
        f"Simulated on {len(names)} machine models, at most {ranks} ranks, {len(cases)} cases. "
        "Mean and worst: simulated time of that one algorithm over that of the choice. Lines and "
        "bytes: cache lines from others and bytes copied by the busiest rank of a chosen plan."
    )
    if json is not None:
        of_op = {verdict.op: verdict.algorithm for verdict in found}
        of_size = {(verdict.op, verdict.bytes): verdict.algorithm for verdict in sized}
        rows = [
            vars(case)
            | {
                "simulated": True,
                "best_fixed": of_op[case.op],
                "best_fixed_of_size": of_size[case.op, case.bytes],
            }
            for case in cases
        ]
        value = {
            "schema": "corymb-compare/1",
            "verdicts": [verdict.to_json() for verdict in found],
            "verdicts_by_size": [verdict.to_json() for verdict in sized],
            "cases": rows,
        }
        files.write_json(json, value)


def _payloads(text: str) -> list[int]:
    try:
        sizes = [int(part) for part in text.split(",")]
    except ValueError:
        sizes = []
    if not sizes or min(sizes) < 1 or max(sizes) > 2**40:
        raise inputs.usage(f"--bytes {text}: give sizes such as 8,65536")
    return sizes


def _table(found: list[comparison.Verdict]) -> Table:
    table = Table(title="One fixed algorithm for all, against the planner's choice (simulated)")
    table.add_column("operation", no_wrap=True)
    table.add_column("fixed algorithm", no_wrap=True)
    table.add_column("mean", justify="right", no_wrap=True)
    table.add_column("worst", justify="right", no_wrap=True)
    table.add_column("where", overflow="fold")
    for row in found:
        table.add_row(
            row.op,
            row.algorithm,
            f"{row.slowdown_mean:.2f} x",
            f"{row.slowdown_max:.2f} x",
            f"{row.worst_machine}, {row.worst_bytes} B",
        )
    return table


def _sizes_table(found: list[comparison.Verdict]) -> Table:
    table = Table(title="The best fixed algorithm of each size, against the choice (simulated)")
    table.add_column("operation", no_wrap=True)
    for heading in ("bytes", "fixed algorithm", "mean", "worst", "lines", "bytes copied"):
        table.add_column(heading, justify="right", overflow="fold")
    for row in found:
        table.add_row(
            row.op,
            str(row.bytes),
            row.algorithm,
            f"{row.slowdown_mean:.2f} x",
            f"{row.slowdown_max:.2f} x",
            str(row.lines_max),
            str(row.copied_max),
        )
    return table
