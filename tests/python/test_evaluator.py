# SPDX-License-Identifier: Apache-2.0
"""What corymb predicts is what an independent evaluator computes from the exported steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import MACHINES, SMELT, Command, stdout_json
from evaluator import finish_times, latency_costs, smelt_costs

OPERATIONS = ("barrier", "broadcast", "reduce", "allreduce")
SMALL = ("ryzen-5950x-1s-32t", "m1-ultra-20c", "xeon-e5-4650v2-ivybridge-40t")


@pytest.mark.parametrize("op", OPERATIONS)
def test_prediction_on_smelts_machine(corymb_command: Command, op: str) -> None:
    plan = stdout_json(corymb_command("plan", op, "--machine", SMELT, "--json", "-"))
    send, receive = smelt_costs(MACHINES / SMELT)
    # corymb keeps costs as 32-bit floats.
    assert max(finish_times(plan, send, receive)) == pytest.approx(plan["predicted"], rel=1e-5)
    assert plan["unit"] == "cycles"
    assert plan["lower_bound"] <= plan["predicted"] * (1 + 1e-9)


@pytest.mark.parametrize("machine", SMALL)
@pytest.mark.parametrize("op", OPERATIONS)
def test_prediction_on_latency_matrices(corymb_command: Command, machine: str, op: str) -> None:
    plan = stdout_json(corymb_command("plan", op, "--machine", machine, "--json", "-"))
    send, receive = latency_costs(MACHINES / f"{machine}.csv")
    assert max(finish_times(plan, send, receive)) == pytest.approx(plan["predicted"], rel=1e-5)


def test_every_algorithm_of_the_portfolio(corymb_command: Command) -> None:
    """Every candidate's prediction, not only the winner's, is what its steps give."""
    best = stdout_json(
        corymb_command("plan", "reduce", "--machine", SMELT, "--root", "3", "--json", "-")
    )
    send, receive = smelt_costs(MACHINES / SMELT)
    for name, predicted in best["portfolio"].items():
        plan = stdout_json(
            corymb_command(
                "plan", "reduce", "--machine", SMELT, "--root", "3", "--algorithm", name,
                "--json", "-",
            )
        )  # fmt: skip
        assert plan["algorithm"] == name
        assert max(finish_times(plan, send, receive)) == pytest.approx(predicted, rel=1e-5)
        assert predicted >= best["predicted"] * (1 - 1e-9)


def test_sim_agrees_rank_by_rank(corymb_command: Command, smelt_plan: Path) -> None:
    import json

    sim = stdout_json(corymb_command("sim", smelt_plan, "--machine", SMELT, "--json", "-"))
    plan = json.loads(smelt_plan.read_text())
    send, receive = smelt_costs(MACHINES / SMELT)
    assert finish_times(plan, send, receive) == pytest.approx(sim["finish"], rel=1e-5)
    assert sim["makespan"] == pytest.approx(plan["predicted"])
    assert sim["simulated_on"] == SMELT


def test_ranks_are_cpu_numbers(corymb_command: Command) -> None:
    plan = stdout_json(
        corymb_command(
            "plan", "broadcast", "--machine", SMELT, "--ranks", "10-14,0-4", "--root", "2",
            "--json", "-",
        )
    )  # fmt: skip
    assert plan["placement"] == [10, 11, 12, 13, 14, 0, 1, 2, 3, 4]
    assert plan["root"] == 2
    send, receive = smelt_costs(MACHINES / SMELT)
    assert max(finish_times(plan, send, receive)) == pytest.approx(plan["predicted"], rel=1e-5)
