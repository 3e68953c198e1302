# SPDX-License-Identifier: Apache-2.0
"""corymb bench multicast: latency of an acknowledged multicast over the size of the group."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from corymb.command import inputs, side_by_side
from corymb.command.options import JsonFile, Seconds, Threads
from corymb.command.side_by_side import Row, Verdict

EXAMPLES = "Example: corymb bench multicast --threads 2,8"
NO_CALL = "membarrier, no call"  # It runs nothing on the members: shown, not compared.
REGIMES = {
    "polling": "members run and look at safe points",
    "asleep": "members sleep until they are called",
}


def command(threads: Threads = None, seconds: Seconds = 60.0, json: JsonFile = None) -> None:
    """Time acknowledged multicast beside plain ways, over the size of the group."""
    sizes = inputs.numbers(threads, "--threads", 2, 1024)
    side_by_side.run(
        "corymb-bench-multicast", seconds, {"--threads": sizes}, json, verdict, show, "plain"
    )


def verdict(rows: Sequence[Row]) -> Verdict:
    """corymb, as it is without options, against each plain way in each case."""
    found = Verdict()
    for case, members in cases(rows).items():
        own = next((row for row in members if row["contestant"] == "corymb"), None)
        for row in members:
            if own is None or row["family"] == "corymb" or row["contestant"] == NO_CALL:
                continue
            found.add(
                own["median_ns"],
                row["median_ns"],
                f"{title(case)}: {own['median_ns']:,.0f} ns, {row['contestant']} "
                f"{row['median_ns']:,.0f} ns",
            )
    return found


def cases(rows: Sequence[Row]) -> dict[tuple[str, int, int], list[Row]]:
    found: dict[tuple[str, int, int], list[Row]] = {}
    for row in rows:
        found.setdefault((row["regime"], row["ranks"], row["members"]), []).append(row)
    return found


def title(case: tuple[str, int, int]) -> str:
    regime, ranks, members = case
    return f"{members} of {ranks - 1} others, {regime}"


def show(out: Console, rows: Sequence[Row]) -> None:
    """One table a regime and number of threads: a line a contestant, a column a group size. The
    last column is what a broadcast to all would take."""
    shown: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        shown.setdefault((row["regime"], row["ranks"]), []).append(row)
    for (regime, ranks), members in shown.items():
        cpus = members[0]["cpus"]
        out.print(
            f"[bold]{ranks} threads[/] on {cpus} CPUs, {REGIMES[regime]}: median, ns (quartiles)"
        )
        titles = {ranks - 1: "all"}
        out.print(side_by_side.table(members, "members", "members", "corymb", _cell, titles))


def _cell(row: Row) -> str:
    return f"{row['median_ns']:,.0f} ({row['q25']:,.0f}-{row['q75']:,.0f})"
