# SPDX-License-Identifier: Apache-2.0
"""The adapters, built for today's MPIs, in programs of older ones, and in Fortran's.

Some of what these MPIs do wrong alone is left out: MPICH 4.0.2 ends by SIGSEGV in reductions in
place, Open MPI 4.1.4 loses errors of requests.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import OLDER, Finished, Mpi
from limits import LIMIT_S

Program = Callable[[Mpi, str], Path]
Mpirun = Callable[..., Finished]
HERE = Path(__file__).parent


def taken(run: Finished) -> set[str]:
    return {line.split()[0] for line in run.stderr.splitlines() if line.endswith("  corymb")}


def test_random_collectives(older: Mpi, program: Program, mpirun: Mpirun) -> None:
    path = program(older, "random_collectives")
    run = mpirun(older, 3, "--explain", path, 60, 7, "single")
    assert run.stdout == "60 steps, 0 differences\n", run.stderr
    assert run.returncode == 0
    assert {"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Gatherv"} <= taken(run)


def test_what_is_seldom_done(older: Mpi, program: Program, mpirun: Mpirun) -> None:
    run = mpirun(older, 2, "--explain", program(older, "unusual"))
    assert run.stdout == "0 failures\n", run.stderr
    assert {"MPI_Alltoallw", "MPI_Scatter", "MPI_Allreduce"} <= taken(run)


def test_nobody_is_held_up(program: Program, mpirun: Mpirun) -> None:
    mpi = OLDER["mpich-4.0"]
    if not mpi.compiler.exists():
        pytest.skip(f"{mpi.compiler} is not installed")
    run = mpirun(mpi, 2, "--explain", program(mpi, "held_up"))
    assert run.stdout == "0 wrong\n", run.stderr
    assert re.search(r"MPI_Iallreduce +17 .* corymb$", run.stderr, re.M), run.stderr


def test_calls_that_differ_are_named(older: Mpi, program: Program, mpirun: Mpirun) -> None:
    run = mpirun(older, 3, program(older, "failures"), "mismatch")
    assert run.returncode != 0
    assert "differ" in run.stderr


@pytest.mark.parametrize("module", ["mpi", "mpi_f08"])
def test_fortran(older: Mpi, mpirun: Mpirun, tmp_path: Path, module: str) -> None:
    """Its collectives are C's, or are passed by; with mpi_f08 requests stay with the MPI."""
    compiler = Path(str(older.compiler).replace("mpicc", "mpif90"))
    if shutil.which("gfortran") is None or not compiler.exists():
        pytest.skip(f"{compiler} or gfortran is not installed")
    define = ["-DF08"] if module == "mpi_f08" else []
    built = tmp_path / "fortran"
    words = ["-O1", "-w", *define, str(HERE / "fortran.F90"), "-o", str(built)]
    subprocess.run([str(compiler), *words], check=True, timeout=LIMIT_S)
    run = mpirun(older, 3, "--explain", built)
    assert run.stdout.split() == ["0", "wrong"], run.stderr
    assert run.returncode == 0
    if older.name == "mpich-4.0":
        assert ("MPI_Iallreduce" in taken(run)) == (module == "mpi")
        assert "MPI_Allreduce" in taken(run)
