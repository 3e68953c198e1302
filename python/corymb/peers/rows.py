# SPDX-License-Identifier: Apache-2.0
"""The results of one case as rows, in the form of `corymb bench` and more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from corymb.peers.cases import KINDS, STYLES, Case, least_copies
from corymb.peers.contestant import Contestant
from corymb.peers.turn import Entry

Row = dict[str, Any]


def _middle(values: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """Median and quartiles."""
    if not values:
        return None, None, None
    low, middle, high = np.percentile(values, [25, 50, 75]).tolist()
    return middle, low, high


def _who(case: Case, contestant: Contestant, pinned: bool) -> Row:
    return {
        "op": case.op, "mode": case.mode, "contestant": contestant.name,
        "family": contestant.family, "language": contestant.language,
        "default": contestant.is_default, "ranks": case.ranks, "bytes": case.bytes,
        "pinned": pinned, "regime": "alone" if pinned else "oversubscribed",
    }  # fmt: skip


def _sorted(entries: Sequence[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda e: (not e.contestant.is_own, e.contestant.name))


def rows_of(
    case: Case, entries: Sequence[Entry], pinned: bool, copy_ns: float | None = None
) -> list[Row]:
    """One row a contestant and kind. `ratio` is to the best of corymb's contestants of the same
    language; `share` to the least time that memory permits, when the ranks copy the size of a
    contribution in `copy_ns`."""
    rows: list[Row] = []
    for kind in KINDS:
        found: list[Row] = []
        for entry in _sorted(entries):
            turns = entry.turns[kind] if entry.is_measured else []
            middle, low, high = _middle(turns)
            skipped = None if turns else entry.skipped or "not measured"
            found.append(_who(case, entry.contestant, pinned) | {
                "kind": kind, "median_ns": middle, "q25": low, "q75": high, "turns": len(turns),
                "ratio": None, "share": None, "skipped": skipped,
            })  # fmt: skip
        for row in found:
            if row["median_ns"] is not None:
                best = _best_own(found, row["language"])
                row["ratio"] = row["median_ns"] / best if best else None
                if copy_ns is not None:
                    least = least_copies(case.op, case.ranks) * copy_ns / case.ranks
                    row["share"] = least / row["median_ns"]
        rows += found
    return rows


def _best_own(rows: Sequence[Row], language: str) -> float | None:
    own = [
        row["median_ns"]
        for row in rows
        if row["family"] == "corymb" and row["language"] == language
    ]
    return min((float(each) for each in own if each is not None), default=None)


def overlap_of(case: Case, entries: Sequence[Entry], pinned: bool) -> list[Row]:
    """One row a contestant and style; `percent` is of the communication that is hidden."""
    rows: list[Row] = []
    for style in STYLES:
        for entry in _sorted(entries):
            taken = entry.overlap[style] if entry.is_measured else []
            middle, low, high = _middle([each.percent for each in taken])
            rows.append(_who(case, entry.contestant, pinned) | {
                "style": style, "percent": middle, "q25": low, "q75": high,
                "pure_ns": _middle([each.pure for each in taken])[0],
                "work_ns": _middle([each.work for each in taken])[0],
                "total_ns": _middle([each.total for each in taken])[0],
                "skipped": None if taken else entry.skipped or "not measured",
            })  # fmt: skip
    return rows


def bandwidth(rows: list[Row], case: Case, copies: Sequence[float], pinned: bool) -> float | None:
    """Adds these measurements of the copy bandwidth to its rows. Returns the median time in which
    all ranks copy the case's bytes, over all measurements of its ranks and size."""
    row = next(
        (r for r in rows if r["ranks"] == case.ranks and r["bytes"] == case.bytes),
        None,
    )
    if row is None and not copies:
        return None
    if row is None:
        row = {"ranks": case.ranks, "bytes": case.bytes, "pinned": pinned, "copy_ns": []}
        rows.append(row)
    row["copy_ns"] += copies
    middle, low, high = _middle(row["copy_ns"])
    assert middle is not None
    assert low is not None
    assert high is not None
    copied = case.ranks * case.bytes * 1e9
    row |= {"median": copied / middle, "q25": copied / high, "q75": copied / low}
    return middle
