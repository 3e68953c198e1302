# SPDX-License-Identifier: Apache-2.0
"""What `corymb bench peers` prints: a line a case, overlap, means beside targets, the worst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from corymb.peers import verdict
from corymb.peers.measure import Results

WORST = 10
MARKS = {"win": "+", "tie": "=", "loss": "-", "none": ""}
Row = Mapping[str, Any]


def show(out: Console, results: Results, found: Sequence[verdict.Comparison]) -> None:
    _print_cases(out, found)
    _print_overlap(out, results.overlap)
    for text in skipped(results.rows) + results.remarks:
        out.print(text, markup=False, style="dim", soft_wrap=True)
    _print_bandwidth(out, results.bandwidth, found)
    _print_means(out, "best peer's time over ours, geometric means", verdict.means(found))
    crowded = [row for row in results.rows if not row["pinned"]]
    if crowded:
        defaults = verdict.means(verdict.comparisons(crowded, defaults_only=True))
        _print_means(out, "the same against peers as they come", defaults)
    _print_worst(out, found)
    for count in verdict.counts(found):
        out.print(
            f"{count['own']}, {count['ranks']} ranks, against the best peer of each case: "
            f"{count['win']} wins, {count['tie']} ties (within 5 %), {count['loss']} losses.",
            soft_wrap=True,
        )


def _table(words: Sequence[str], numbers: Sequence[str], last: str | None = None) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    for title in words:
        table.add_column(title, overflow="fold")
    for title in numbers:
        table.add_column(title, justify="right")
    if last is not None:
        table.add_column(last, overflow="fold")
    return table


def _print_cases(out: Console, found: Sequence[verdict.Comparison]) -> None:
    tables: dict[tuple[Any, ...], list[verdict.Comparison]] = {}
    for one in found:
        key = (one.language, one.ranks, one.pinned, one.mode, one.kind)
        tables.setdefault(key, []).append(one)
    for (language, ranks, pinned, mode, kind), members in tables.items():
        bound = "pinned" if pinned else "not pinned"
        among = "Python, " if language == "python" else ""
        out.print(f"{among}{mode}, {kind}, {ranks} ranks, {bound}", style="bold", highlight=False)
        out.print(_case_table(members))
    if found:
        out.print("Ratios are the best peer's time over ours: + win, = tie, - loss.", style="dim")


def _case_table(found: Sequence[verdict.Comparison]) -> Table:
    """Each of corymb's with its ratio, then the best peer."""
    owners = list(dict.fromkeys(one.own for one in found))
    numbers = ["bytes"]
    for name in owners:
        numbers += [f"{name.removeprefix('corymb-')}, µs", ""]
    table = _table(["operation"], [*numbers, "peer, µs"], "best peer")
    cases: dict[tuple[str, int], dict[str, verdict.Comparison]] = {}
    for one in found:
        cases.setdefault((one.op, one.bytes), {})[one.own] = one
    for (op, size), members in cases.items():
        cells: list[str] = []
        for name in owners:
            mine = members[name]
            ratio = "" if mine.ratio is None else f"{mine.ratio:.2f} "
            cells += [_micro(mine.own_ns), ratio + MARKS[mine.result]]
        peer = members[owners[0]]
        table.add_row(
            op, "" if size == 0 else verdict.size_text(size), *cells, _micro(peer.peer_ns),
            peer.peer or "", style=_style(list(members.values())),
        )  # fmt: skip
    return table


def _style(members: Sequence[verdict.Comparison]) -> str | None:
    results = {one.result for one in members}
    if "loss" in results:
        return "red"
    return "green" if "win" in results else None


def _print_overlap(out: Console, rows: Sequence[Row]) -> None:
    """corymb's and the best peer of each case; the others are in the JSON."""
    rows = [row for row in rows if row["percent"] is not None and row["language"] == "c"]
    cases: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        cases.setdefault((row["op"], row["bytes"], row["ranks"], row["style"]), []).append(row)
    if not cases:
        return
    owners = sorted({row["contestant"] for row in rows if row["family"] == "corymb"})
    out.print("Communication hidden behind computation, percent", style="bold")
    titles = [name.removeprefix("corymb-") for name in owners]
    table = _table(["operation", "style"], ["ranks", "bytes", *titles, "peer"], "best peer")
    for (op, size, ranks, style), members in cases.items():
        own = {row["contestant"]: f"{row['percent']:.0f}" for row in members}
        peers = [row for row in members if row["family"] != "corymb"]
        best = max(peers, key=lambda row: float(row["percent"]), default=None)
        table.add_row(
            op, style, str(ranks), verdict.size_text(size), *(own.get(n, "-") for n in owners),
            f"{best['percent']:.0f}" if best else "-", best["contestant"] if best else "",
        )  # fmt: skip
    out.print(table)


def _print_bandwidth(
    out: Console, rows: Sequence[Row], found: Sequence[verdict.Comparison]
) -> None:
    for row in rows:
        out.print(
            f"Memory: {row['ranks']} ranks copy {verdict.size_text(row['bytes'])} each at "
            f"{row['median'] / 1e9:.2f} GB/s together.",
            soft_wrap=True,
        )
    for share in verdict.shares(found):
        out.print(
            f"{share['own']}, {share['ranks']} ranks, {share['kind']} from 1 MiB on: "
            f"{100 * share['median']:.0f} % of what memory permits in the median case, least "
            f"{100 * share['least']:.0f} %; {share['reached']} of {share['cases']} cases reach "
            f"{100 * share['target']:.0f} %.",
            soft_wrap=True,
        )


def _print_means(out: Console, title: str, means: Sequence[Row]) -> None:
    bands = [name for _, name in verdict.BANDS] + [verdict.ALL]
    for own in dict.fromkeys(mean["own"] for mean in means):
        lines: dict[tuple[Any, ...], dict[str, Row]] = {}
        for mean in means:
            if mean["own"] == own:
                key = (mean["mode"], mean["kind"], mean["ranks"])
                lines.setdefault(key, {})[mean["band"]] = mean
        out.print(f"{own}: {title} (wanted)", style="bold", markup=False)
        table = _table(["mode", "kind"], ["ranks", *bands])
        for (mode, kind, ranks), cells in lines.items():
            shown = [_mean(cells[name]) if name in cells else "" for name in bands]
            table.add_row(mode, kind, str(ranks), *shown)
        out.print(table)


def _mean(mean: Row) -> str:
    text = f"{mean['mean']:.2f}"
    if mean["target"] is None:
        return text
    colour = "green" if mean["mean"] >= mean["target"] else "red"
    return f"[{colour}]{text} ({mean['target']:g})[/]"


def _print_worst(out: Console, found: Sequence[verdict.Comparison]) -> None:
    worst = verdict.worst(found, WORST)
    if not worst:
        return
    out.print("The greatest losses", style="bold")
    for one in worst:
        out.print(
            f"  {one.own}: {one.name}: {_micro(one.own_ns)} µs, {one.peer} {_micro(one.peer_ns)} "
            f"µs, ratio {one.ratio:.2f}",
            markup=False, soft_wrap=True,
        )  # fmt: skip


def skipped(rows: Sequence[Row]) -> list[str]:
    """One line for each contestant and reason, with the cases that it lacks."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["skipped"] is not None and row["kind"] == "latency":
            payload = "" if row["bytes"] == 0 else f" {row['bytes']} B"
            how = "" if row["mode"] == "blocking" else f" {row['mode']}"
            found = groups.setdefault((row["contestant"], row["skipped"]), [])
            found.append(f"{row['op']}{how}{payload} on {row['ranks']}")
    return [
        f"skipped: {name}, {reason}: "
        + ", ".join(found[:3])
        + (f" and {len(found) - 3} more" if len(found) > 3 else "")
        for (name, reason), found in groups.items()
    ]


def _micro(value: float | None) -> str:
    return "-" if value is None else f"{value / 1000:,.2f}"
