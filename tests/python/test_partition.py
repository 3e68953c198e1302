# SPDX-License-Identifier: Apache-2.0
"""corymb partition as a user runs it: files in, parts and reports out."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest
from conftest import Command, stdout_json

SIDE = 30
REPORT = {
    "schema", "graph", "k", "seed", "imbalance_percent", "ranks", "vertices", "edges", "cut",
    "heaviest", "limit", "balanced", "levels", "coarsest", "read_s", "coarsen_s", "divide_s",
    "refine_s", "data_bytes", "overhead_bytes", "peak_bytes",
}  # fmt: skip

Edge = tuple[int, int]


def grid_edges() -> list[Edge]:
    right = [(v, v + 1) for v in range(SIDE * SIDE) if v % SIDE < SIDE - 1]
    return right + [(v, v + SIDE) for v in range(SIDE * (SIDE - 1))]


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    file = tmp_path / "grid.txt"
    file.write_text("# a grid\n" + "".join(f"{a} {b}\n" for a, b in grid_edges()))
    return file


def check(parts: list[int], report: dict[str, object], k: int) -> None:
    """The parts fit the report of the grid."""
    assert len(parts) == SIDE * SIDE
    assert set(parts) <= set(range(k))
    assert report["cut"] == sum(parts[a] != parts[b] for a, b in grid_edges())
    assert report["heaviest"] == max(Counter(parts).values())
    assert report["balanced"] is True


@pytest.mark.parametrize("ranks", [1, 3])
def test_parts_and_report_fit(corymb_call: Command, grid: Path, tmp_path: Path, ranks: int) -> None:
    file = tmp_path / "parts.txt"
    done = corymb_call("partition", grid, "-k", "6", "-o", file, "--ranks", ranks, "--json", "-")
    report = stdout_json(done)
    assert set(report) == REPORT
    assert (report["vertices"], report["edges"], report["ranks"]) == (900, 1740, ranks)
    assert report["limit"] == 154
    check([int(line) for line in file.read_text().splitlines()], report, 6)


def test_text_and_parts_on_standard_output(corymb_call: Command, grid: Path) -> None:
    shown = corymb_call("partition", grid, "-k", "2", "--ranks", "2")
    assert "900 vertices, 1740 edges, 2 ranks" in shown.stdout
    assert "heaviest" in shown.stdout
    parts = corymb_call("partition", grid, "-k", "2", "--ranks", "2", "-o", "-")
    assert Counter(parts.stdout.split()).keys() == {"0", "1"}


def test_seed_and_imbalance_decide(corymb_call: Command, grid: Path) -> None:
    def parts(*options: str) -> str:
        done = corymb_call("partition", grid, "-k", "7", "--ranks", "2", "-o", "-", *options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert parts("--seed", "5") == parts("--seed", "5")
    assert parts("--seed", "5") != parts("--seed", "6")
    assert max(Counter(parts("--imbalance", "0").split()).values()) == 129


def test_processes_divide_as_well(corymb_command: Command, grid: Path, tmp_path: Path) -> None:
    file, told = tmp_path / "parts.txt", tmp_path / "report.json"
    command = [sys.executable, "-m", "corymb", "partition", str(grid), "-k", "4", "-o", str(file)]
    done = corymb_command("run", "-n", "3", "--", *command, "--json", str(told))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("vertices,") == 1
    report = json.loads(told.read_text())
    assert report["ranks"] == 3
    check([int(line) for line in file.read_text().splitlines()], report, 4)


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["-k", "0"], 2, "-k 0: give 1"),
        (["-k", "2", "--ranks", "0"], 2, "--ranks 0"),
        (["-k", "2", "--imbalance", "-1"], 2, "--imbalance -1"),
        (["-k", "2", "--format", "dot"], 2, "there is no format 'dot'"),
        (["-k", "2", "--format", "metis"], 1, "grid.txt:3: "),
        (["-k", "2", "-o", "/nowhere/parts"], 1, "/nowhere/parts"),
        ([], 2, "-k"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    corymb_call: Command, grid: Path, arguments: list[str], status: int, says: str
) -> None:
    grid.write_text(grid.read_text().replace("# a grid", "% a grid"))
    done = corymb_call("partition", grid, *arguments)
    assert done.returncode == status
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_missing_file_is_named(corymb_call: Command, tmp_path: Path) -> None:
    done = corymb_call("partition", tmp_path / "none.graph", "-k", "2")
    assert done.returncode == 1
    assert "none.graph: No such file" in done.stderr
