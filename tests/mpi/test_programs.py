# SPDX-License-Identifier: Apache-2.0
"""Programs whose MPI is not plain to see: behind other words, in scripts, opened by themselves."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import HERE, MPIS, OLDER, Finished, Mpi
from limits import LIMIT_S

from corymb.command.mpi_libraries import mpi_library, version_fits

Program = Callable[[Mpi, str], Path]
Mpirun = Callable[..., Finished]

BY_CORYMB = re.compile(r"^ *MPI_Barrier .* corymb$", re.M)


def folder_of(mpi: Mpi) -> Path:
    return mpi.compiler.parents[1] / "lib"


def library_of(mpi: Mpi) -> Path:
    name = {"mpich": "libmpi.so.12", "openmpi": "libmpi.so.40", "standard": "libmpi_abi.so.1"}
    return folder_of(mpi) / name[mpi.name]


@pytest.mark.parametrize("before", [["env", "A=1"], ["nice", "-n", "1"], ["timeout", "90"]])
def test_words_before_the_program(
    mpi: Mpi, program: Program, mpirun: Mpirun, before: list[str]
) -> None:
    run = mpirun(mpi, 2, "--explain", *before, program(mpi, "waiting"), 5)
    assert run.stdout == "5 rounds, 0 wrong\n", run.stderr
    assert " corymb\n" in run.stderr, run.stderr


def test_the_tutorials_program(mpi: Mpi, mpirun: Mpirun, tmp_path: Path) -> None:
    """docs/start/mpi.md: with corymb and with it switched off."""
    dots = tmp_path / "dots"
    source = HERE.parent.parent / "examples" / "mpi" / "dots.c"
    subprocess.run([mpi.compiler, "-O2", source, "-o", dots], check=True, timeout=LIMIT_S)
    on = mpirun(mpi, 2, "--explain", dots, 20000)
    assert on.stdout.startswith("2 ranks: a . b = 400, "), on.stderr
    assert re.search(r"^ *MPI_Allreduce .* corymb$", on.stderr, re.M), on.stderr
    off = mpirun(mpi, 2, "--explain", "env", "CORYMB_MPI=off", dots, 20000)
    assert off.stdout.startswith("2 ranks: a . b = 400, "), off.stderr
    assert "MPI: CORYMB_MPI=off" in off.stderr
    assert not re.search(r" corymb$", off.stderr, re.M), off.stderr


def test_a_script_runs_by_the_name_of_its_abi(
    mpi: Mpi, program: Program, mpirun: Mpirun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\n{program(mpi, 'waiting')} 5\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(mpi.compiler.parent), prepend=":")
    run = mpirun(mpi, 2, script)
    assert run.returncode == 2
    assert "is a script; if it starts an MPI program, say of which ABI: --abi" in run.stderr
    for option in (["--abi", mpi.name], [f"--abi={mpi.name}"]):
        run = mpirun(mpi, 2, *option, "--explain", script)
        assert run.stdout == "5 rounds, 0 wrong\n", run.stderr
        assert " corymb\n" in run.stderr, run.stderr


def test_an_unknown_abi_is_refused(mpirun: Mpirun) -> None:
    run = mpirun(MPIS["mpich"], 2, "--abi", "lam", "ls")
    assert run.returncode == 2
    assert "--abi lam: there is no such ABI; it may be openmpi, mpich, standard" in run.stderr


@pytest.mark.parametrize("name", ["mpich", "standard"])
def test_a_program_opens_a_library_of_another_name(
    name: str, program: Program, mpirun: Mpirun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As bindings do, and packages that bring copies of a library."""
    mpi = MPIS[name]
    for entry in folder_of(mpi).iterdir():
        (tmp_path / entry.name).symlink_to(entry)
    other = tmp_path / "other.so"
    shutil.copy(library_of(mpi), other)
    monkeypatch.setenv("PATH", str(mpi.compiler.parent), prepend=":")
    run = mpirun(mpi, 2, "--abi", name, "--explain", program(mpi, "opened"), other)
    assert run.stdout.count("ended") == 2, run.stderr  # The launcher may mix their lines.
    assert BY_CORYMB.search(run.stderr), run.stderr


def test_libraries_are_known_by_what_they_define(mpi: Mpi, tmp_path: Path) -> None:
    copy = tmp_path / "some-name"
    shutil.copy(library_of(mpi), copy)
    found = mpi_library(copy)
    assert found is not None
    assert (found.abi, found.name) == (mpi.name, library_of(mpi).name)
    assert version_fits(found)


def test_what_is_no_mpi_library(tmp_path: Path) -> None:
    text = tmp_path / "libmpi.so.12"
    for content in (
        b"",
        b"INPUT(libmpi.so.12)",
        b"\x7fELF\x02\x01",
        b"\x7fELF\x02\x01" + b"\xff" * 99,
    ):
        text.write_bytes(content)
        assert mpi_library(text) is None
    assert mpi_library(tmp_path) is None
    assert mpi_library(Path(shutil.which("sh") or "/bin/sh")) is None


@pytest.mark.parametrize("name", OLDER)
def test_libraries_of_the_distribution(name: str) -> None:
    files = {"mpich-4.0": "libmpich.so.12", "openmpi-4.1": "libmpi.so.40"}
    path = next(Path("/usr/lib").glob(f"*/{files[name]}"), None)
    if path is None:
        pytest.skip("not installed")
    found = mpi_library(path)
    assert found is not None
    assert found.abi == name.split("-")[0]
