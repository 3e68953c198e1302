# SPDX-License-Identifier: Apache-2.0
"""Who was faster: each of corymb's contestants against the best peer of each case, and means over
sizes beside what they should be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TIE = 0.05
BANDS = ((1024, "to 1 KiB"), (65536, "to 64 KiB"), (4194304, "to 4 MiB"), (None, "above"))
ALL = "all"
SHARE_TARGET = 0.8
CASE = ("op", "mode", "kind", "ranks", "bytes", "pinned")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Comparison:
    """One case. `ratio` is the best peer's time over corymb's; None where one has no figures."""

    op: str
    mode: str
    kind: str
    ranks: int
    bytes: int
    pinned: bool
    own: str
    language: str
    own_ns: float | None
    share: float | None
    peer: str | None
    peer_ns: float | None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        if not self.own_ns or not self.peer_ns:
            return None
        return self.peer_ns / self.own_ns

    @property
    def result(self) -> str:
        if self.ratio is None:
            return "none"
        return "win" if self.ratio > 1 + TIE else "loss" if self.ratio < 1 - TIE else "tie"

    @property
    def name(self) -> str:
        payload = "" if self.bytes == 0 else f" {size_text(self.bytes)}"
        return f"{self.op}{payload}, {self.mode}, {self.kind}, {self.ranks} ranks"


def comparisons(rows: Sequence[Row], defaults_only: bool = False) -> list[Comparison]:
    """In the order of the rows, each of corymb's against the peers of its language; with
    `defaults_only` against those that need no setting."""
    cases: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        key = tuple(row[name] for name in CASE)
        cases.setdefault(key, []).append(row)
    found = []
    for key, members in cases.items():
        peers = [r for r in members if r["family"] != "corymb" and r["median_ns"] is not None]
        for row in members:
            if row["family"] != "corymb":
                continue
            able = [
                peer
                for peer in peers
                if peer["language"] == row["language"] and (peer["default"] or not defaults_only)
            ]
            best = min(able, key=lambda peer: float(peer["median_ns"]), default=None)
            note = "" if row["skipped"] is None else f"{row['contestant']}: {row['skipped']}"
            found.append(
                Comparison(
                    **dict(zip(CASE, key, strict=True)),
                    own=row["contestant"],
                    language=row["language"],
                    own_ns=row["median_ns"],
                    share=row["share"],
                    peer=best["contestant"] if best else None,
                    peer_ns=best["median_ns"] if best else None,
                    note=note or ("" if best else "no peer has figures"),
                )
            )
    return found


def size_text(size: int) -> str:
    """Bytes as people write them: 8 B, 1 KiB, 16 MiB."""
    for unit, name in ((2**20, "MiB"), (2**10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def band(size: int) -> str:
    """The size band that `size` bytes belong to."""
    return next(name for limit, name in BANDS if limit is None or size <= limit)


def target(own: str, mode: str, pinned: bool, name: str) -> float | None:
    """What the geometric mean of a band is to reach at least; of blocking operations by size, of
    the others and with more ranks than CPUs over all sizes."""
    if own == "corymb-python":
        return None
    if not pinned:
        return 3.0 if name == ALL else None
    if mode != "blocking":
        return 2.0 if name == ALL else None
    return dict(zip((name for _, name in BANDS), (3.0, 2.0, 1.2, 1.0), strict=True)).get(name)


def means(found: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Geometric mean and least ratio for each (own, ranks, mode, kind, band) that has any, and over
    all bands."""
    groups: dict[tuple[str, int, bool, str, str, str], list[float]] = {}
    for one in found:
        if one.ratio is not None:
            for name in (band(one.bytes), ALL):
                key = (one.own, one.ranks, one.pinned, one.mode, one.kind, name)
                groups.setdefault(key, []).append(one.ratio)
    return [
        {
            "own": own, "ranks": ranks, "pinned": pinned, "mode": mode, "kind": kind, "band": name,
            "cases": len(ratios), "mean": math.exp(sum(map(math.log, ratios)) / len(ratios)),
            "least": min(ratios), "target": target(own, mode, pinned, name),
        }
        for (own, ranks, pinned, mode, kind, name), ratios in groups.items()
    ]  # fmt: skip


def counts(found: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Wins, ties and losses of each of corymb's contestants and number of ranks."""
    groups: dict[tuple[str, int], list[Comparison]] = {}
    for one in found:
        groups.setdefault((one.own, one.ranks), []).append(one)
    return [
        {"own": own, "ranks": ranks}
        | {name: sum(one.result == name for one in members) for name in ("win", "tie", "loss")}
        for (own, ranks), members in groups.items()
    ]


def worst(found: Sequence[Comparison], most: int) -> list[Comparison]:
    """The losses, the greatest first."""
    losses = [one for one in found if one.result == "loss"]
    return sorted(losses, key=lambda one: one.ratio or 0)[:most]


def shares(found: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Of each of corymb's contestants with large messages: how near it comes to what memory
    permits."""
    groups: dict[tuple[str, int, str], list[Comparison]] = {}
    for one in found:
        if one.share is not None:
            groups.setdefault((one.own, one.ranks, one.kind), []).append(one)
    return [
        {
            "own": own, "ranks": ranks, "kind": kind, "cases": len(members),
            "median": sorted(one.share or 0 for one in members)[len(members) // 2],
            "least": min(one.share or 0 for one in members), "target": SHARE_TARGET,
            "reached": sum((one.share or 0) >= SHARE_TARGET for one in members),
        }
        for (own, ranks, kind), members in groups.items()
    ]  # fmt: skip
