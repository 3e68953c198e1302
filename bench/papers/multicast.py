# SPDX-License-Identifier: Apache-2.0
"""Dynamic multicasts over static topologies (Kuban, Rotta, Nolte, 2017): latency over the size of
the group, on 60 cores of the successor of the paper's processor. All times are simulated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from record import Data, rounded

import corymb
from corymb.command import sim_multicast

Report = Callable[[float, str], Any]

MACHINE = "xeonphi-7210-knl-1s-64c"
RANKS = 60
SIZES = (1, 2, 4, 6, 8, 12, 16, 20, 25, 30, 35, 40, 45, 50, 55, 59)


def study(report: Report) -> Data:
    report(0.0, MACHINE)
    machine = corymb.Machine.gallery(MACHINE)
    rows, choice = sim_multicast.simulate(machine, range(RANKS), SIZES)
    latency: dict[str, list[float]] = {}
    for row in rows:
        latency.setdefault(row["variant"], []).append(rounded(row["latency"]))
    return {
        "machine": MACHINE,
        "ranks": RANKS,
        "unit": machine.unit,
        "draws": sim_multicast.DRAWS,
        "members": list(SIZES),
        "choice": choice.reason,
        "latency": latency,
    }
