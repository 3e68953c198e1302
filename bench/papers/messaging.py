# SPDX-License-Identifier: Apache-2.0
"""In-memory communication mechanisms for many-cores (Rotta and others, 2012): mailboxes on a model
of its machine, and over the ranks of the Xeon E7 of its appendix. All times are simulated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from record import Data, rounded

import corymb
from corymb.command import sim_messages

Report = Callable[[float, str], Any]

SCC = sim_messages.CLAIMED_OF
SCC_RANKS = 48
XEON = "xeon-e7-haswell-4s-96t-mctop-cycles"
RANKS = (2, 4, 8, 12, 16, 24, 32, 48, 64, 80, 96)
MESSAGE_BYTES = 8
SHOWN = ("round_trip", "idle_probe", "gather", "collective")


def on_the_xeon(report: Report) -> dict[str, Any]:
    machine = corymb.Machine.gallery(XEON)
    curves: dict[str, dict[str, list[float]]] = {}
    for done, ranks in enumerate(RANKS):
        report(done / len(RANKS), f"{XEON}, {ranks} ranks")
        for row in sim_messages.simulate(machine, range(ranks), MESSAGE_BYTES):
            curve = curves.setdefault(row["protocol"], {name: [] for name in SHOWN})
            for name in SHOWN:
                curve[name].append(rounded(row[name]))
    return {
        "machine": XEON,
        "unit": machine.unit,
        "ranks": list(RANKS),
        "curves": curves,
        "choices": [corymb.choose_mailbox(machine, ranks).protocol for ranks in RANKS],
    }


def study(report: Report) -> Data:
    machine = corymb.Machine.gallery(SCC)
    rows = sim_messages.simulate(machine, range(SCC_RANKS), MESSAGE_BYTES)
    kept = [
        {name: rounded(value) if isinstance(value, float) else value for name, value in row.items()}
        for row in rows
    ]
    return {
        "bytes": MESSAGE_BYTES,
        "scc": {"machine": SCC, "ranks": SCC_RANKS, "unit": machine.unit, "rows": kept,
                "claims": sim_messages.claims(rows)},
        "xeon": on_the_xeon(report),
    }  # fmt: skip
