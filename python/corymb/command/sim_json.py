# SPDX-License-Identifier: Apache-2.0
"""What `corymb sim` writes as JSON, on one machine and on several."""

from __future__ import annotations

from typing import Any

import corymb


def result(
    plan: corymb.Plan, size: int, timeline: corymb.Timeline, on: dict[str, Any]
) -> dict[str, Any]:
    """`on` says what the plan was simulated on."""
    return {
        "schema": "corymb-sim/1",
        "op": plan.op,
        "algorithm": plan.algorithm,
        "ranks": len(plan),
        "root": plan.root,
        "bytes": size,
        "plan_sha256": plan.hash(),
        **on,
        "makespan": timeline.makespan,
        "finish": timeline.finish,
    }
