# SPDX-License-Identifier: Apache-2.0
"""Drives a bench program: starts it, follows its progress, ends it whatever happens."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import corymb
from corymb.command.console import Report

GRACE_S = 2.0
ROW_KEYS = (
    "op", "contestant", "family", "ranks", "bytes", "pinned", "regime", "median_ns", "q25", "q75",
    "ratio", "cpu_ns", "first_ns", "further_root_ns", "skipped",
)  # fmt: skip
NO_PEER = "no peer could be measured"


class NoPeerError(corymb.Error):
    """The program measured corymb alone though others were to take part; `rows` is what it has."""

    def __init__(self, text: str, rows: list[dict[str, Any]]) -> None:
        super().__init__(text, "unsupported")
        self.rows = rows


@dataclass
class Request:
    """What to measure; empty lists leave the choice to the program."""

    ops: Sequence[str]
    threads: Sequence[int] = ()
    seconds: float = 20.0
    sizes: Sequence[int] = ()
    regimes: Sequence[str] = ()
    contestants: Sequence[str] = ()
    pin: str = "auto"
    extra: list[str] = field(default_factory=list)

    def arguments(self) -> list[str]:
        words = [",".join(self.ops), "--seconds", f"{self.seconds:g}", "--pin", self.pin]
        lists = {
            "--threads": self.threads,
            "--bytes": self.sizes,
            "--regimes": self.regimes,
            "--contestants": self.contestants,
        }
        for option, values in lists.items():
            if values:
                words += [option, ",".join(str(value) for value in values)]
        return words + self.extra


def program(name: str = "corymb-bench") -> Path | None:
    """A bench program: beside $CORYMB_BENCH, which names corymb-bench, else in this package, else
    on the PATH."""
    named = os.environ.get("CORYMB_BENCH")
    if named:
        return Path(named) if name == "corymb-bench" else Path(named).parent / name
    inside = Path(__file__).parent.parent / "bin" / name
    if inside.exists():
        return inside
    found = shutil.which(name)
    return Path(found) if found else None


def measure(request: Request, report: Report) -> list[dict[str, Any]]:
    """Runs corymb-bench and returns its rows; raises corymb.Error with its own words."""
    try:
        return _of_bench(run("corymb-bench", request.arguments(), report))
    except NoPeerError as error:
        error.rows = _of_bench(error.rows)
        raise


def all_rows(
    measuring: Callable[[], list[dict[str, Any]]],
) -> tuple[list[dict[str, Any]], NoPeerError | None]:
    """What was measured, and what to raise when it has been shown."""
    try:
        return measuring(), None
    except NoPeerError as error:
        return error.rows, error


def _of_bench(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: row.get(key) for key in ROW_KEYS} for row in rows]


def run(
    name: str, arguments: Sequence[str], report: Report, types: Collection[str] = ("row",)
) -> list[dict[str, Any]]:
    """Runs a bench program and returns its lines of these types; raises corymb.Error with its own
    words."""
    path = program(name)
    if path is None:
        raise corymb.Error(
            f"{name} is not part of this installation; build with CORYMB_BENCH=ON", "io"
        )
    command = [str(path), *arguments]
    try:
        # In a session of its own, so that a Ctrl-C of the terminal reaches it through us, once.
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
            text=True, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise corymb.Error(f"cannot start {path}: {error.strerror}", "io") from None
    assert process.stdout is not None
    assert process.stderr is not None
    words: list[str] = []
    follower = threading.Thread(
        target=_follow, args=(process.stderr, name, report, words), daemon=True
    )
    follower.start()
    try:
        lines = [json.loads(line) for line in process.stdout]
        status = process.wait()
    finally:
        _end(process)
    follower.join(GRACE_S)
    rows = [line for line in lines if line.get("type") in types]
    if status == 1 and words and words[-1].startswith(NO_PEER):
        raise NoPeerError(f"{name}: {words[-1]}", rows)
    if status != 0:
        raise _failure(name, status, words)
    return rows


def _follow(stream: IO[str], name: str, report: Report, words: list[str]) -> None:
    """Reads the progress lines; keeps the others, which say what went wrong."""
    for line in stream:
        kind, _, rest = line.strip().partition(" ")
        part, _, what = rest.partition(" ")
        if kind == "progress":
            try:
                report(float(part), what)
            except ValueError:
                continue
        elif line.strip():
            words.append(line.strip().removeprefix(f"{name}: "))


def _end(process: subprocess.Popen[str]) -> None:
    """Asks the program to end its children and itself, then makes sure."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _failure(name: str, status: int, words: list[str]) -> corymb.Error:
    text = words[-1] if words else f"it ended with status {status}"
    code = {2: "invalid_argument", 130: "interrupted"}.get(status, "unsupported")
    return corymb.Error(f"{name}: {text}", code)
