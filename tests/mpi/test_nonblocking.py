# SPDX-License-Identifier: Apache-2.0
"""Programs of nonblocking collectives get a team, and no call waits for another rank."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Finished, Mpi

Program = Callable[[Mpi, str], Path]
Mpirun = Callable[..., Finished]

ALL = [
    "each",
    "window",
    "ahead",
    "sleeps",
    "chained",
    "crossed",
    "grid",
    "freed",
    "few",
    "then",
]


def by_whom(run: Finished) -> dict[str, int]:
    """Calls of the communicators with the name "own" that rank 0 has made, by who did them."""
    assert run.returncode == 0, run.stderr
    assert run.stdout == "0 wrong\n", run.stderr
    counts = {"corymb": 0, "early": 0, "MPI": 0}
    own = False
    for line in run.stderr.splitlines():
        if not line.startswith(" "):
            own = line.startswith("own,")
        row = re.match(r"  MPI_I\w+ +(\d+) .*? ms  (corymb|MPI: .*)$", line)
        if own and row is not None:
            who = row[2] if row[2] == "corymb" else "early" if "first calls" in row[2] else "MPI"
            counts[who] += int(row[1])
    return counts


def run_it(
    mpi: Mpi, program: Program, mpirun: Mpirun, ranks: int, how: str, calls: int, **env: str
) -> dict[str, int]:
    return by_whom(mpirun(mpi, ranks, "--explain", program(mpi, "nonblocking"), how, calls, **env))


@pytest.mark.parametrize("how", ALL)
def test_two_ranks_get_a_team(mpi: Mpi, program: Program, mpirun: Mpirun, how: str) -> None:
    counts = run_it(mpi, program, mpirun, 2, how, 480 if how != "ahead" else 1800)
    assert counts["corymb"] > 0, counts
    if how in ("each", "window", "few", "then", "chained"):
        assert counts["early"] >= 4
        assert counts["corymb"] > 400, counts
        assert counts["MPI"] == 0, "nothing is tried"


@pytest.mark.parametrize("how", ALL)
def test_more_ranks_than_cpus(mpi: Mpi, program: Program, mpirun: Mpirun, how: str) -> None:
    counts = run_it(mpi, program, mpirun, 6, how, 240 if how != "ahead" else 1800)
    assert counts["corymb"] > 0, counts


@pytest.mark.parametrize("how", ["each", "window", "chained", "sleeps", "freed"])
def test_with_trials_results_stay_right(
    mpi: Mpi, program: Program, mpirun: Mpirun, how: str
) -> None:
    counts = run_it(mpi, program, mpirun, 2, how, 960, CORYMB_MPI="early")
    assert counts["corymb"] > 0, counts


def test_calls_take_as_long_as_a_team_first(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """With the calls that rank 1 is late to, as with others."""
    counts = run_it(mpi, program, mpirun, 2, "sleeps", 960, CORYMB_MPI="")
    assert counts["corymb"] > 0, counts
    assert counts["early"] > 5, counts


@pytest.mark.parametrize(
    ("how", "calls"),
    [*(("each", calls) for calls in (1, 4, 5, 7, 9, 12)), ("grid", 2), ("grid", 7)],
)
def test_the_program_may_end_on_the_way(
    mpi: Mpi, program: Program, mpirun: Mpirun, how: str, calls: int
) -> None:
    counts = run_it(mpi, program, mpirun, 2, how, calls)
    assert sum(counts.values()) == calls * (1 if how == "each" else 3)


@pytest.mark.parametrize("switch", ["off", "blocking"])
def test_who_wants_none_gets_none(mpi: Mpi, program: Program, mpirun: Mpirun, switch: str) -> None:
    assert run_it(mpi, program, mpirun, 2, "each", 50, CORYMB_MPI=switch)["corymb"] == 0


@pytest.mark.parametrize("how", ["window", "chained", "freed"])
def test_older_libraries(older: Mpi, program: Program, mpirun: Mpirun, how: str) -> None:
    assert run_it(older, program, mpirun, 2, how, 240)["corymb"] > 0
