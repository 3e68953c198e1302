# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks of messages and of multicast share: a native program whose rows compare
corymb with other ways, tables of them, and a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

import corymb
from corymb.command import bench_program, console, files, inputs

TIE = 0.05
Row = dict[str, Any]


class Verdict:
    """Comparisons of corymb with others: each a line of text."""

    def __init__(self) -> None:
        self.lines: dict[str, list[str]] = {"wins": [], "ties": [], "losses": []}

    def add(self, own_ns: float, other_ns: float, text: str) -> None:
        """A length of work of 0 says that no work is too small; nothing is shorter."""
        is_tie = abs(own_ns - other_ns) <= TIE * other_ns
        kind = "ties" if is_tie else "wins" if own_ns < other_ns else "losses"
        self.lines[kind].append(text)

    def show(self, out: Console, others: str) -> None:
        wins, ties, losses = (len(self.lines[kind]) for kind in ("wins", "ties", "losses"))
        out.print(
            f"corymb is faster in {wins} comparisons with {others} ways, equal within 5 % "
            f"in {ties}, slower in {losses}."
        )
        for loss in self.lines["losses"]:
            out.print("  slower: " + loss, markup=False)


def run(
    program: str,
    seconds: float,
    options: dict[str, Sequence[int]],
    json: str | None,
    judge: Callable[[Sequence[Row]], Verdict],
    show: Callable[[Console, Sequence[Row]], None],
    others: str,
    further: Callable[[Console, Sequence[Row]], Row] = lambda _out, _rows: {},
    measure_more: Callable[[], list[Row]] = list,
) -> None:
    """Runs the program with the options that name something, and tells what came out; `further`
    shows more of it and returns what else belongs in the JSON; `measure_more` adds rows."""
    inputs.require_seconds(seconds)
    arguments = ["--seconds", f"{seconds:g}"]
    for name, numbers in options.items():
        if numbers:
            arguments += [name, ",".join(map(str, numbers))]
    files.require_writable(json)
    with console.progress_bar("measuring side by side") as report:
        native, failure = bench_program.all_rows(
            lambda: bench_program.run(program, arguments, report)
        )
        rows = [*native, *measure_more()]
    verdict = judge(rows)
    out = console.output(quiet=console.is_stdout(json))
    show(out, rows)
    verdict.show(out, others)
    more = further(out, rows)
    if json is not None:
        files.write_json(
            json,
            {
                "schema": f"{program}/1",
                "version": corymb.__version__,
                "rows": rows,
                "verdict": verdict.lines,
                **more,
            },
        )
    if failure is not None:
        raise failure


def table(
    rows: Sequence[Row],
    corner: str,
    size_of: str,
    own: str,
    cell: Callable[[Row], str],
    titles: Mapping[int, str],
) -> Table:
    """A line a contestant, a column a size, which may have a title; `own` stands out."""
    made = Table(box=None, pad_edge=False, padding=(0, 1))
    made.add_column(corner, overflow="fold")
    sizes = sorted({row[size_of] for row in rows})
    for size in sizes:
        made.add_column(titles.get(size, str(size)), justify="right")
    by_name: dict[str, dict[int, Row]] = {}
    for row in rows:
        by_name.setdefault(row["contestant"], {})[row[size_of]] = row
    for name, cells in by_name.items():
        texts = [cell(cells[size]) if size in cells else "-" for size in sizes]
        made.add_row(name, *texts, style="bold" if name == own else None)
    return made
