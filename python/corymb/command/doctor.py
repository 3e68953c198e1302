# SPDX-License-Identifier: Apache-2.0
"""corymb doctor: what this machine or container permits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

import corymb
from corymb import troubleshooting
from corymb.command import console, files, inputs
from corymb.command.options import JsonFile

EXAMPLES = "Examples: corymb doctor | corymb doctor --json - | corymb doctor --noise --seconds 10"
RECORDED_SECONDS = 5.0


def record(seconds: float, save: str | None, json: str | None) -> None:
    """Records noise, keeps it and says in short what there is."""
    if not 0.01 <= seconds <= 3600:
        raise inputs.usage(f"--seconds {seconds:g} must be from 0.01 to 3600")
    file = save or str(corymb.cached_noise_path())
    if save is None:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
    files.require_writable(file, json)
    with console.progress_bar(f"watching the CPUs for {seconds:g} s") as report:
        trace = corymb.record_noise(seconds, progress=report)
    files.write_text(file, trace.to_json())
    summary = trace.summary
    out = console.output(quiet=console.is_stdout(file, json))
    out.print(
        f"{len(trace.recorded)} CPUs, watched for {seconds:g} s, interruptions of "
        f"{trace.threshold_ns:.0f} ns or more:",
        markup=False,
    )
    out.print(f"  time lost    {100 * summary['lost_share']:.3f} %")
    out.print(f"  rate         {summary['rate_per_s']:.0f} a second and CPU")
    out.print(f"  median       {summary['median_ns']:.0f} ns")
    out.print(f"  longest      {summary['longest_ns']:.0f} ns")
    out.print(f"wrote {file}", markup=False)
    if json is not None:
        files.write_json(
            json,
            {
                "schema": "corymb-doctor-noise/1",
                "file": file,
                "cpus": [cpu for cpu, _ in trace.recorded],
                "seconds": seconds,
                "threshold_ns": trace.threshold_ns,
                **summary,
            },
        )


def place_of_help(row: Any) -> str | None:
    """Where a page says more about what is not available, if anything can be done about it."""
    heading = None if row.available else troubleshooting.OF_PERMISSIONS.get(row.name)
    return troubleshooting.place(heading) if heading else None


def command(
    noise: Annotated[
        bool, typer.Option("--noise", help="Record what interrupts this machine's CPUs.")
    ] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", help="Of --noise: how long it records.")
    ] = RECORDED_SECONDS,
    save: Annotated[
        str | None,
        typer.Option("--save", metavar="FILE", help="Of --noise: where; else with the model."),
    ] = None,
    json: JsonFile = None,
) -> None:
    """Say what this machine or container permits, and what to do about the rest."""
    if noise:
        record(seconds, save, json)
        return
    if save is not None or seconds != RECORDED_SECONDS:
        raise inputs.usage("--seconds and --save go with --noise only")
    files.require_writable(json)
    usable = corymb.usable_cpus()
    rows = console.busy("looking around", corymb.probe_permissions)
    model = corymb.cached_model_path()
    machine, why = corymb.cached_machine()
    out = console.output(quiet=console.is_stdout(json))
    quota = "no quota" if usable.quota is None else f"quota {usable.quota:g} CPUs"
    out.print(
        f"CPUs {inputs.cpu_list(usable.allowed)}, {quota}: "
        f"{usable.count()} ranks can run at the same time."
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    table.add_column("what")
    table.add_column("found", overflow="fold")
    yes, no = ("✓", "✗") if console.encoding_is_unicode() else ("yes", "no")
    for row in rows:
        mark = f"[green]{yes}[/]" if row.available else f"[yellow]{no}[/]"
        place = place_of_help(row)
        table.add_row(mark, row.name, row.detail + (f"; {place}" if place else ""))
    out.print(table)
    out.print(f"Cached model: {model}" if machine else f"No cached model: {why}", markup=False)
    doubts = machine.doubts if machine else []
    for doubt in doubts:
        out.print(f"  {doubt}", markup=False)
    if json is not None:
        files.write_json(
            json,
            {
                "schema": "corymb-doctor/1",
                "version": corymb.__version__,
                "allowed_cpus": usable.allowed,
                "quota": usable.quota,
                "ranks_at_once": usable.count(),
                "cached_model": str(model) if machine else None,
                "doubts": doubts,
                "permissions": [
                    {"name": r.name, "available": r.available, "detail": r.detail}
                    | {"help": place_of_help(r)}
                    for r in rows
                ],
            },
        )
