# SPDX-License-Identifier: Apache-2.0
"""Cheetah's motive: phases of computing and a barrier under interruptions, in each form of call, at
the sizes of the paper's clusters. All times are simulated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from record import Data, rounded

import corymb
from corymb.command import clusters, sim_noise

Report = Callable[[float, str], Any]

# A made-up noise: one interruption of 25 us a millisecond, at random.
NOISE = "random:1e6:25000"
SIZES = (96, 960, 9600, 49152)  # The last one is that of the paper's Cray XT5.
RANKS_OF_NODE = 12


def study(report: Report) -> Data:
    asked = sim_noise.Study(corymb.Noise.from_text(NOISE))
    wanted = clusters.Wanted(None, None, RANKS_OF_NODE, None, None, None, None)
    some = [sim_noise.cluster_of(wanted, size) for size in SIZES]
    scheme = sim_noise.scheme_for(wanted, some, asked)
    rows = []
    for done, cluster in enumerate(some):
        report(done / len(some), f"{len(cluster):,} ranks")
        rows += [
            {
                "form": row["form"],
                "ranks": row["ranks"],
                **{name: rounded(row[name]) for name in ("quiet_ns", "median_ns", "p99_ns",
                                                         "slowdown", "seen_by_others")},
            }
            for row in sim_noise.simulate(cluster, scheme, asked)
        ]  # fmt: skip
    return {
        "noise": NOISE,
        "op": asked.op,
        "scheme": scheme,
        "compute_ns": asked.compute_ns,
        "phases": asked.phases,
        "ranks_of_node": RANKS_OF_NODE,
        "rows": rows,
    }
