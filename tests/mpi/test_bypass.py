# SPDX-License-Identifier: Apache-2.0
"""Programs that come by the adapter: by other names of MPI's functions, by a tool before it, or
when MPI_Finalize has begun."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ADAPTERS, Finished, Mpi
from limits import LIMIT_S

Program = Callable[[Mpi, str], Path]
Mpirun = Callable[..., Finished]
SOURCE = Path(__file__).with_name("passed_by.c")


def compiled(mpi: Mpi, path: Path, *words: str) -> Path:
    command = [str(mpi.compiler), "-Wall", "-Werror", *words, str(SOURCE), "-o", str(path)]
    if "-DF08" in words and "-DTOOL" not in words:
        command += [str(path.parent / "libf08.so"), f"-Wl,-rpath,{path.parent}"]
    subprocess.run(command, check=True, timeout=LIMIT_S)
    return path


def test_requests_of_fortran_2008_are_left_to_the_mpi(
    mpi: Mpi, mpirun: Mpirun, tmp_path: Path
) -> None:
    """Its module starts them by functions that the adapter has, and completes them by others."""
    compiled(mpi, tmp_path / "libf08.so", "-DTOOL", "-DF08", "-shared", "-fPIC")
    run = mpirun(mpi, 2, "--explain", compiled(mpi, tmp_path / "program", "-DF08"))
    assert run.stdout == "0 failures\n", run.stderr
    assert run.returncode == 0
    assert "completed past corymb" in lines_of(run, "MPI_Iallreduce")
    assert "  corymb\n" in lines_of(run, "MPI_Barrier")


@pytest.mark.parametrize("is_first", [True, False])
def test_a_tool_that_replaces_functions(mpi: Mpi, tmp_path: Path, is_first: bool) -> None:
    """One behind the adapter is not called."""
    abi = {"mpich": "mpich", "standard": "standard", "openmpi": "openmpi"}[mpi.name]
    adapter = ADAPTERS / f"libcorymb-mpi-{abi}.so"
    tool = compiled(mpi, tmp_path / "libtool.so", "-DTOOL", "-shared", "-fPIC")
    built = compiled(mpi, tmp_path / "program")
    before = f"{tool}:{adapter}" if is_first else f"{adapter}:{tool}"
    launcher = mpi.compiler.with_name("mpirun")
    command = [str(launcher), *mpi.options, "-n", "2", "env", f"LD_PRELOAD={before}", str(built)]
    variables = {"CORYMB_MPI": "always", "CORYMB_MPI_EXPLAIN": "1"}
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT_S, env=mpi.environment | variables
    )
    assert run.stdout == "0 failures\n", run.stderr
    assert run.returncode == 0
    assert ("completed past corymb" in lines_of(run, "MPI_Iallreduce")) == is_first


@pytest.mark.parametrize("how", ["callback", "session"])
def test_collectives_while_mpi_ends(mpi: Mpi, program: Program, mpirun: Mpirun, how: str) -> None:
    run = mpirun(mpi, 3, "--explain", program(mpi, "at_the_end"), how)
    assert run.stdout == "0 failures\n" * 3, run.stderr
    assert run.returncode == 0
    assert "freeing inactive persistent request" not in run.stderr
    assert "  corymb\n" in lines_of(run, "MPI_Allreduce_init")


def lines_of(run: Finished, operation: str) -> str:
    """What the summary says of an operation."""
    lines = [line for line in run.stderr.splitlines() if line.split()[:1] == [operation]]
    assert lines, run.stderr
    return "".join(f"{line}\n" for line in lines)
