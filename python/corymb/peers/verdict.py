# SPDX-License-Identifier: Apache-2.0
"""Who was faster: corymb against the best peer of each case, and means over sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TIE = 0.05
BANDS = ((1024, "to 1 KiB"), (65536, "to 64 KiB"), (4194304, "to 4 MiB"), (None, "above"))
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Comparison:
    """One case. `ratio` is the best peer's time over corymb's; None where one has no figures."""

    op: str
    ranks: int
    bytes: int
    mode: str
    measure: str
    corymb_ns: float | None
    peer: str | None
    peer_ns: float | None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        if not self.corymb_ns or not self.peer_ns:
            return None
        return self.peer_ns / self.corymb_ns

    @property
    def result(self) -> str:
        if self.ratio is None:
            return "none"
        return "win" if self.ratio > 1 + TIE else "loss" if self.ratio < 1 - TIE else "tie"


def comparisons(rows: Sequence[Row]) -> list[Comparison]:
    """In the order of the rows."""
    cases: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        key = (row["op"], row["ranks"], row["bytes"], row["mode"], row["measure"])
        cases.setdefault(key, []).append(row)
    found = []
    for key, members in cases.items():
        own = next((row for row in members if row["contestant"] == "corymb"), None)
        peers = [r for r in members if r["family"] != "corymb" and r["median_ns"] is not None]
        best = min(peers, key=lambda row: float(row["median_ns"]), default=None)
        note = "" if own is None or own["skipped"] is None else f"corymb: {own['skipped']}"
        found.append(
            Comparison(
                *key,
                corymb_ns=own["median_ns"] if own else None,
                peer=best["contestant"] if best else None,
                peer_ns=best["median_ns"] if best else None,
                note=note or ("" if best else "no peer has figures"),
            )
        )
    return found


def band(size: int) -> str:
    """The size band that `size` bytes belong to."""
    return next(name for limit, name in BANDS if limit is None or size <= limit)


def means(found: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Geometric mean and least ratio for each (ranks, mode, measure, band) that has any."""
    groups: dict[tuple[int, str, str, str], list[float]] = {}
    for one in found:
        if one.ratio is not None:
            key = (one.ranks, one.mode, one.measure, band(one.bytes))
            groups.setdefault(key, []).append(one.ratio)
    return [
        {
            "ranks": ranks, "mode": mode, "measure": measure, "band": name, "cases": len(ratios),
            "mean": math.exp(sum(map(math.log, ratios)) / len(ratios)), "least": min(ratios),
        }
        for (ranks, mode, measure, name), ratios in groups.items()
    ]  # fmt: skip
