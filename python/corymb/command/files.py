# SPDX-License-Identifier: Apache-2.0
"""Writing results: whole files or nothing, and a complaint before the work instead of after it."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import corymb


def _io_error(path: Path, reason: str) -> corymb.Error:
    return corymb.Error(f"cannot write {path}: {reason}", "io")


def require_writable(name: str | None) -> None:
    """Raises if the file could not be written in the end; leaves no trace."""
    if name is None or name == "-":
        return
    path = Path(name)
    if path.is_dir():
        raise _io_error(path, "it is a directory")
    if path.exists() and not path.is_file():
        return  # a device or a pipe
    folder = path.parent
    if not folder.is_dir():
        raise _io_error(path, f"there is no directory {folder}")
    if path.exists() and not os.access(path, os.W_OK):
        raise _io_error(path, "no permission")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _io_error(path, error.strerror or str(error)) from None


def write_text(name: str, text: str) -> None:
    """Writes a file atomically, or to stdout for "-"."""
    if name == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    path = Path(name)
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        _replace(path, text)
    except OSError as error:
        raise _io_error(path, error.strerror or str(error)) from None


def _replace(path: Path, text: str) -> None:
    target = path.resolve()
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


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
