# SPDX-License-Identifier: Apache-2.0
"""corymb cache: what is kept between programs, and how to be rid of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import corymb
from corymb.command import console, files
from corymb.command.options import JsonFile

EXAMPLES = "Examples: corymb cache | corymb cache --clear | corymb cache --json -"


def command(
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove the plans. The measured model stays.")
    ] = False,
    json: JsonFile = None,
) -> None:
    """Show what is kept for later programs: the measured model and plans that were searched for."""
    files.require_writable(json)
    model = Path(corymb.cached_model_path())
    folder = plans_folder(model)
    plans = plans_in(folder)
    bytes_ = sum(size for _, size in plans)
    out = console.output(quiet=console.is_stdout(json))
    shown = model if model.exists() else "none"
    out.print(f"Measured model: {shown}", markup=False, soft_wrap=True)
    out.print(
        f"Plans: {len(plans)}, {bytes_ / 1024:.0f} KiB, in {folder}", markup=False, soft_wrap=True
    )
    removed = 0
    if clear:
        for file, _ in plans:
            file.unlink(missing_ok=True)
            removed += 1
        out.print(f"Removed {removed} plans.")
    if json is not None:
        found = {
            "schema": "corymb-cache/1",
            "model": str(model) if model.exists() else None,
            "folder": str(folder),
            "plans": len(plans),
            "bytes": bytes_,
            "removed": removed,
        }
        files.write_json(json, found)


def plans_folder(model: Path) -> Path:
    """Beside the model; both names have the host's, since home directories are shared."""
    return model.parent / f"plans-{model.stem.removeprefix('machine-')}"


def plans_in(folder: Path) -> list[tuple[Path, int]]:
    """The files and their lengths; others may remove some meanwhile."""
    found = []
    for file in sorted(folder.glob("*.plan")):
        try:
            found.append((file, file.stat().st_size))
        except FileNotFoundError:
            continue
    return found
