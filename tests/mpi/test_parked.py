# SPDX-License-Identifier: Apache-2.0
"""Communicators of the same ranks go on with the teams of those that have been freed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Finished, Mpi

Program = Callable[[Mpi, str], Path]
Mpirun = Callable[..., Finished]


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize(
    "how",
    ["order", "crossed", "late", "pending", "persistent", "unstarted", "many", "refused", "failed"],
)
def test_results_are_right(
    mpi: Mpi, program: Program, mpirun: Mpirun, how: str, ranks: int
) -> None:
    """Also where ranks do not have the same teams to offer."""
    run = mpirun(mpi, ranks, "--explain", program(mpi, "parked"), how)
    assert run.stdout == "0 wrong\n", run.stderr
    assert ("differ in operation" in run.stderr) == (how == "failed")
    assert re.search(r"MPI_Bcast .* ms  corymb$", run.stderr, re.M), run.stderr


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="each rank needs a CPU to be tried")
def test_what_one_has_found_the_next_one_knows(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """Who is faster: no communicator here lives as long as it takes to find that out. Each trial is
    told once."""
    run = mpirun(mpi, 2, "--explain", program(mpi, "parked"), "same", 8, CORYMB_MPI="early")
    assert run.stdout == "0 wrong\n", run.stderr
    tried = re.findall(r"^  MPI_(\w+) +([1-9]\d*) +\d+ +[\d.]+ us", run.stderr, re.M)
    assert {name for name, _ in tried} == {"Allreduce", "Bcast"}, run.stderr
    assert all(int(trials) <= 4 for _, trials in tried), run.stderr
