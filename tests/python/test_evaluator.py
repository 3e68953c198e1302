# SPDX-License-Identifier: Apache-2.0
"""What corymb predicts is what an independent evaluator computes from the exported steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import MACHINES, SMELT, Command, stdout_json
from evaluator import finish_times, latency_costs, smelt_costs

import corymb

# Operations whose messages all fit a line; the evaluator knows no other.
ONE_LINE = ("barrier", "broadcast", "reduce", "allreduce", "scan", "exscan")
SMALL = ("ryzen-5950x-1s-32t", "m1-ultra-20c", "xeon-e5-4650v2-ivybridge-40t")


def exported(name: str, op: str, **request: Any) -> dict[str, Any]:
    machine = corymb.Machine.gallery(name)
    plan: dict[str, Any] = json.loads(corymb.make_plan(machine, op, **request).to_json(machine))
    return plan


@pytest.mark.parametrize("op", ONE_LINE)
def test_every_algorithm_on_smelts_machine(op: str) -> None:
    """Every candidate's prediction, not only the winner's, is what its steps give."""
    send, receive = smelt_costs(MACHINES / SMELT)
    best = exported(SMELT, op, root=3)
    assert best["unit"] == "cycles"
    for name, predicted in best["portfolio"].items():
        plan = exported(SMELT, op, root=3, algorithm=name)
        assert plan["algorithm"] == name
        # corymb keeps costs as 32-bit floats.
        assert max(finish_times(plan, send, receive)) == pytest.approx(predicted, rel=1e-5)
        assert predicted >= best["predicted"] * (1 - 1e-9)


@pytest.mark.parametrize(
    ("algorithm", "op"),
    [
        *(("shared-line", op) for op in ("broadcast", "barrier", "allreduce")),
        *(("all-to-all", op) for op in ("barrier", "allreduce", "allgather", "scan", "exscan")),
    ],
)
def test_publications(algorithm: str, op: str) -> None:
    """Without a measured curve they never win, so that no portfolio above has them."""
    for machine, costs in (
        (SMELT, smelt_costs(MACHINES / SMELT)),
        (SMALL[0], latency_costs(MACHINES / f"{SMALL[0]}.csv")),
    ):
        plan = exported(machine, op, algorithm=algorithm)
        assert any(step["step"] == "publish" for steps in plan["steps"] for step in steps)
        assert max(finish_times(plan, *costs)) == pytest.approx(plan["predicted"], rel=1e-5)


@pytest.mark.parametrize("machine", SMALL)
@pytest.mark.parametrize("op", ONE_LINE)
def test_prediction_on_latency_matrices(machine: str, op: str) -> None:
    send, receive = latency_costs(MACHINES / f"{machine}.csv")
    scans = op in ("scan", "exscan")
    for algorithm in (
        "best",
        *(("scan-doubling", "scan-tree") if scans else ("binomial", "annealed")),
    ):
        plan = exported(machine, op, algorithm=algorithm, moves=20_000)
        finish = max(finish_times(plan, send, receive))
        assert finish == pytest.approx(plan["predicted"], rel=1e-5)


def test_sim_agrees_rank_by_rank(corymb_call: Command, smelt_plan: Path) -> None:
    sim = stdout_json(corymb_call("sim", "plan", smelt_plan, "--machine", SMELT, "--json", "-"))
    plan = json.loads(smelt_plan.read_text())
    send, receive = smelt_costs(MACHINES / SMELT)
    assert finish_times(plan, send, receive) == pytest.approx(sim["finish"], rel=1e-5)
    assert sim["makespan"] == pytest.approx(plan["predicted"])
    assert sim["simulated_on"] == SMELT


def test_ranks_are_cpu_numbers(corymb_call: Command) -> None:
    arguments = ("plan", "broadcast", "--machine", SMELT, "--ranks", "10-14,0-4", "--root", "2")
    plan = stdout_json(corymb_call(*arguments, "--json", "-"))
    assert plan["placement"] == [10, 11, 12, 13, 14, 0, 1, 2, 3, 4]
    assert plan["root"] == 2
    send, receive = smelt_costs(MACHINES / SMELT)
    assert max(finish_times(plan, send, receive)) == pytest.approx(plan["predicted"], rel=1e-5)
