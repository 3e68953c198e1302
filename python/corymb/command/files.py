# SPDX-License-Identifier: Apache-2.0
"""Writing results: whole files or nothing, and a complaint before the work instead of after it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import corymb
from corymb import _core


def require_writable(*names: str | None) -> None:
    """Raises if one of the outputs could not be written in the end; changes nothing."""
    given = [name for name in names if name is not None]
    if given.count("-") > 1:
        raise corymb.Error("standard output (-) can take one result", "invalid_argument")
    for name in given:
        _core.require_writable(name)


def write_text(name: str, text: str) -> None:
    """Writes a whole result to a file, a device or a pipe; "-" is standard output."""
    _core.write_text(name, text)


def clean(value: Any) -> Any:
    """JSON has no NaN: a missing number becomes null."""
    if isinstance(value, dict):
        return {str(key): clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    if hasattr(value, "tolist"):
        return clean(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def write_json(name: str | None, value: Any) -> None:
    """Writes `value` where --json says; does nothing without --json."""
    if name is not None:
        write_text(name, json.dumps(clean(value), indent=1) + "\n")


def read_text(name: str, what: str) -> str:
    """The text of an input file; errors name it. Files above 1 GB are refused."""
    path = Path(name)
    try:
        if path.is_file() and path.stat().st_size > 1_000_000_000:
            raise corymb.Error(f"cannot read {what} {path}: larger than 1 GB", "io")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise corymb.Error(f"cannot read {what} {path}: {reason}", "io") from None
    except UnicodeDecodeError:
        raise corymb.Error(f"cannot read {what} {path}: it is not UTF-8 text", "io") from None
