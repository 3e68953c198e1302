# SPDX-License-Identifier: Apache-2.0
"""corymb doctor: what this machine or container permits."""

from __future__ import annotations

from rich.table import Table

import corymb
from corymb.command import console, files, inputs
from corymb.command.options import JsonFile

NAME = "doctor"
EXAMPLES = "Examples: corymb doctor | corymb doctor --json -"


def command(json: JsonFile = None) -> None:
    """Say what this machine or container permits, and what to do about the rest."""
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
        table.add_row(mark, row.name, row.detail)
    out.print(table)
    out.print(f"Cached model: {model}" if machine else f"No cached model: {why}", markup=False)
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
                "permissions": [
                    {"name": r.name, "available": r.available, "detail": r.detail} for r in rows
                ],
            },
        )
