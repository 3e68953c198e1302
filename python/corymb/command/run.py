# SPDX-License-Identifier: Apache-2.0
"""corymb run: becomes the launcher corymb-run, so that starting a team takes no Python."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import corymb


def program() -> Path | None:
    """The launcher: $CORYMB_RUN, the one in this package, or one on the PATH."""
    named = os.environ.get("CORYMB_RUN")
    if named:
        return Path(named)
    inside = Path(__file__).parent.parent / "bin" / "corymb-run"
    if inside.exists():
        return inside
    found = shutil.which("corymb-run")
    return Path(found) if found else None


def become(arguments: list[str]) -> None:
    """Replaces this process; returns only by an error."""
    path = program()
    if path is None:
        raise corymb.Error("corymb-run is not part of this installation", "io")
    try:
        os.execv(path, [str(path), *arguments])
    except OSError as error:
        raise corymb.Error(f"cannot start {path}: {error.strerror}", "io") from None
