# SPDX-License-Identifier: Apache-2.0
"""Whole programs with nothing about corymb in them: the same answers with it and without."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import HERE, Finished, Mpi
from limits import LIMIT_S

SOURCES = HERE.parents[1] / "bench" / "applications"
# Small ones that take all of a program's paths; bench/mpi/applications.py measures large ones.
SIZES = {
    "conjugate_gradient": ("24", "30", "2"),
    "transpose": ("24", "7"),
    "kmeans": ("500", "12"),
}


def answer(output: str) -> list[float]:
    lines = dict(line.split(" ", 1) for line in output.splitlines() if " " in line)
    return [float(word) for word in lines["answer"].split()]


@pytest.mark.parametrize("name", SIZES)
def test_answers_are_the_same(
    mpi: Mpi, name: str, mpirun: Callable[..., Finished], tmp_path: Path
) -> None:
    path = tmp_path / name
    words = ["-O2", "-Wall", "-Wextra", "-Werror", str(SOURCES / f"{name}.c"), "-o", str(path)]
    subprocess.run([str(mpi.compiler), *words], check=True, timeout=LIMIT_S)
    plain = mpirun(mpi, 3, path, *SIZES[name], CORYMB_MPI="off")
    corymb = mpirun(mpi, 3, path, *SIZES[name], CORYMB_MPI_EXPLAIN="1")
    assert plain.returncode == 0, plain.stderr
    assert corymb.returncode == 0, corymb.stderr
    assert "corymb" in corymb.stderr, "the table says who did what"
    expected = answer(plain.stdout)
    assert len(expected) == (16 if name == "kmeans" else 1)
    for got, wanted in zip(answer(corymb.stdout), expected, strict=True):
        assert math.isclose(got, wanted, rel_tol=1e-9)


def test_nonsense_is_usage(mpi: Mpi, mpirun: Callable[..., Finished], tmp_path: Path) -> None:
    path = tmp_path / "transpose"
    subprocess.run([str(mpi.compiler), str(SOURCES / "transpose.c"), "-o", str(path)], check=True)
    done = mpirun(mpi, 2, path, "0", "x")
    assert done.returncode != 0
    assert "a number from 1 on" in done.stderr + done.stdout
