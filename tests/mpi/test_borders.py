# SPDX-License-Identifier: Apache-2.0
"""What programs do at the borders of the standard, or beyond, and MPI libraries put up with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import MPIS, Finished, Mpi

Program = Callable[[Mpi, str], Path]
Mpirun = Callable[..., Finished]


@pytest.mark.parametrize("ranks", [2, 3])
def test_equal_calls_have_equal_answers(
    mpi: Mpi, program: Program, mpirun: Mpirun, ranks: int
) -> None:
    """Whoever does them: reductions of NaN, signed zeros and infinities are not tried."""
    run = mpirun(mpi, ranks, program(mpi, "equal_answers"), 40, CORYMB_MPI="early")
    assert run.stdout == "0 wrong\n", run.stderr
    assert run.returncode == 0


@pytest.mark.parametrize("ranks", [2, 3])
def test_buffers_with_common_memory_and_data_of_no_type(
    mpi: Mpi, program: Program, mpirun: Mpirun, ranks: int
) -> None:
    run = mpirun(mpi, ranks, "--explain", program(mpi, "borders"))
    assert run.stdout == "0 wrong\n", run.stderr
    assert run.returncode == 0
    assert "arguments that MPI refuses" not in run.stderr


def test_a_switch_permits_aliased_buffers(program: Program, mpirun: Mpirun) -> None:
    run = mpirun(MPIS["mpich"], 2, program(MPIS["mpich"], "borders"), "aliased",
                 MPIR_CVAR_COLL_ALIAS_CHECK="0")  # fmt: skip
    assert run.stdout == "0 wrong\n", run.stderr


@pytest.mark.parametrize("ranks", [2, 3])
def test_lists_that_name_more_than_comes(
    mpi: Mpi, program: Program, mpirun: Mpirun, ranks: int
) -> None:
    """Ranks find that out in the first calls; then those are the MPI's."""
    run = mpirun(mpi, ranks, "--explain", program(mpi, "bounds"))
    assert run.stdout == "0 wrong\n", run.stderr
    assert run.returncode == 0
    assert "a rank's lists name more than the others send" in run.stderr


def test_a_rank_in_the_mpi_contradicts_one_in_corymb(
    mpi: Mpi, program: Program, mpirun: Mpirun
) -> None:
    """Without a deadline."""
    run = mpirun(mpi, 2, program(mpi, "bounds"), "differ")
    assert run.returncode != 0
    assert "ended" not in run.stdout
    assert (
        "rank 1 is in MPI_Barrier, which corymb performs, and rank 0 in MPI_Alltoallv of 64 bytes,"
        " which the MPI performs"
    ) in run.stderr


@pytest.mark.parametrize("how", ["nonblocking", "persistent"])
def test_a_request_completed_past_corymb_is_an_error(
    mpi: Mpi, program: Program, mpirun: Mpirun, how: str
) -> None:
    if how == "persistent" and not mpi.has_persistent:
        pytest.skip("no persistent collectives")
    path = program(mpi, "completed_past")
    run = mpirun(mpi, 2, path, how)
    assert run.returncode != 0
    assert "sum" not in run.stdout
    assert "was completed past it" in run.stderr
    left = mpirun(mpi, 2, path, how, CORYMB_MPI="blocking")
    assert left.stdout == "sum 3\nsum 3\n", left.stderr


def test_a_persistent_request_may_be_freed_past_corymb(
    mpi: Mpi, program: Program, mpirun: Mpirun
) -> None:
    """The MPI then uses its value for other requests."""
    if not mpi.has_persistent:
        pytest.skip("no persistent collectives")
    run = mpirun(mpi, 2, program(mpi, "completed_past"), "freed")
    assert run.stdout == "0 wrong\n0 wrong\n", run.stderr
    assert run.returncode == 0
