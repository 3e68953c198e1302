# SPDX-License-Identifier: Apache-2.0
"""What the subcommands print with: results on stdout, progress and errors on stderr."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

Result = TypeVar("Result")
Report = Callable[[float, str], None]

NARROWEST = 20
"""Columns that a line of output needs at least; narrower ones break names apart."""


def room() -> dict[str, Any]:
    """The size for a console where $COLUMNS or $LINES give none that can be used, such as the 0 of
    shells within editors: the terminal's, or 80 columns. Empty: the variables hold, or are not set.
    """
    size: dict[str, Any] = {}
    for name, variable, least in (("width", "COLUMNS", NARROWEST), ("height", "LINES", 1)):
        text = os.environ.get(variable)
        if text is not None and not (text.isdecimal() and int(text) >= least):
            size[name] = terminal_size()[0 if name == "width" else 1]
    return size


def terminal_size() -> tuple[int, int]:
    try:
        columns, lines = os.get_terminal_size(sys.__stdout__.fileno())  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return 80, 24
    return (columns if columns >= NARROWEST else 80), (lines or 24)


errors = Console(stderr=True, highlight=False, soft_wrap=True, **room())


class Output(Console):
    """Falls silent when its reader leaves, as `head` does: files that were asked for are written
    all the same."""

    def on_broken_pipe(self) -> None:
        with suppress(SystemExit):
            super().on_broken_pipe()


def output(quiet: bool = False) -> Console:
    """The console for people. Quiet when stdout carries JSON."""
    return Output(quiet=quiet, highlight=False, **room())


def say_error(text: str) -> None:
    """One line on stderr, whatever the text holds."""
    line = " ".join(text.split())
    errors.print("corymb:", style="bold red", end=" ")
    errors.print(line, markup=False)


def say(text: str) -> None:
    """A remark on stderr about the path that was taken."""
    errors.print(f"corymb: {text}", markup=False, style="dim")


_kept: list[str] = []


def keep(text: str) -> None:
    """A remark that is said when the command has done its work. An error is one line without it."""
    _kept.append(text)


def say_kept() -> None:
    while _kept:
        say(_kept.pop(0))


@contextmanager
def progress_bar(title: str) -> Iterator[Report]:
    """Gives a function (done 0..1, what). A bar on a terminal, one line elsewhere."""
    if not errors.is_terminal:
        say(f"{title} ...")
        yield lambda done, what: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[what]}", style="dim"),
    )
    with Progress(*columns, console=errors, transient=True) as progress:
        task = progress.add_task(title, total=1.0, what="")
        yield lambda done, what: progress.update(task, completed=done, what=what)


def busy(title: str, work: Callable[[], Result]) -> Result:
    """Runs `work`, which has no progress of its own, in a thread, so that Ctrl-C is heard at once;
    shows that something happens if it takes longer than half a second."""
    results: list[Result] = []
    failures: list[BaseException] = []

    def target() -> None:
        try:
            results.append(work())
        except BaseException as failure:  # handed to the caller below
            failures.append(failure)

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    thread.join(0.5)
    if thread.is_alive():
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        hidden = not errors.is_terminal
        with Progress(*columns, console=errors, transient=True, disable=hidden) as progress:
            progress.add_task(title, total=None)
            while thread.is_alive():
                thread.join(0.1)
    if failures:
        raise failures[0]
    return results[0]


def is_stdout(*paths: str | None) -> bool:
    return "-" in paths


def encoding_is_unicode() -> bool:
    return (sys.stdout.encoding or "ascii").lower().replace("-", "") == "utf8"
