# SPDX-License-Identifier: Apache-2.0
"""corymb compare: the choice is the best of the portfolio, and the counts are those of the plan."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from conftest import SMELT, Command

import corymb
from corymb import comparison


def test_table_and_json_agree(corymb_command: Command, tmp_path: Path) -> None:
    file = tmp_path / "compare.json"
    done = corymb_command(
        "compare", "--machines", f"{SMELT},m1-ultra-20c", "--ops", "barrier,allgather,alltoall",
        "--bytes", "8,65536", "--ranks", "8", "--json", file,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    value = json.loads(file.read_text())
    assert [row["op"] for row in value["verdicts"]] == ["barrier", "allgather", "alltoall"]
    assert len(value["cases"]) == 2 * (1 + 2 + 2)
    for row in value["cases"]:
        assert row["simulated"]
        assert row["predicted"] == pytest.approx(min(row["portfolio"].values()))
        assert row["portfolio"].get(row["best_fixed"], math.inf) >= row["predicted"] * (1 - 1e-9)
        assert row["lines_max"] == max(row["lines"]) > 0
        assert row["copied_max"] == max(row["copied"])
        assert len(row["lines"]) == len(row["copied"]) == 8
    for row in value["verdicts"]:
        assert row["algorithm"] in done.stdout
        assert 1 <= row["slowdown_mean"] <= row["slowdown_max"] < math.inf
    sizes = [(row["op"], row["bytes"]) for row in value["verdicts_by_size"]]
    assert sizes == [("barrier", 8), ("allgather", 8), ("allgather", 65536), ("alltoall", 8),
                     ("alltoall", 65536)]  # fmt: skip
    of_size = {(row["op"], row["bytes"]): row for row in value["verdicts_by_size"]}
    for row in value["cases"]:
        assert row["best_fixed_of_size"] == of_size[row["op"], row["bytes"]]["algorithm"]
    assert "Simulated on 2 machine models" in done.stdout


def test_best_fixed_is_the_best() -> None:
    def case(size: int, portfolio: dict[str, float]) -> comparison.Case:
        best = min(portfolio, key=lambda name: portfolio[name])
        return comparison.Case(
            "m", "ns", "allreduce", 4, size, best, portfolio[best], 1, 0, portfolio
        )

    cases = [
        case(8, {"ring": 90.0, "recursive-doubling": 10.0, "annealed": 5.0}),
        case(9, {"ring": 10.0, "recursive-doubling": 40.0, "annealed": 10.0}),
    ]
    found = comparison.verdict(cases)
    assert found.algorithm == "recursive-doubling"
    assert found.slowdown_mean == pytest.approx(math.sqrt(2 * 4))
    assert (found.slowdown_max, found.worst_bytes) == (4.0, 9)


def test_traffic_of_a_known_plan() -> None:
    """A ring allgather hands every rank all parts but its own, once."""
    machine = corymb.Machine.gallery(SMELT)
    choice = corymb.make_plan(
        machine, "allgather", placement=[0, 1, 2, 3], bytes=4096, algorithm="ring"
    )
    lines, copied = corymb.traffic(choice.plan, 4096)
    assert len(lines) == len(copied) == 4
    assert min(lines) >= 3 * 4096 // 64
    assert min(copied) >= 4 * 4096


@pytest.mark.parametrize(
    "arguments",
    [
        ["--ops", "allredcue"],
        ["--machines", "nowhere"],
        ["--bytes", "8,x"],
        ["--bytes", "0"],
        ["--ranks", "1"],
    ],
)
def test_wrong_input_is_one_line(corymb_command: Command, arguments: list[str]) -> None:
    done = corymb_command("compare", *arguments)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
