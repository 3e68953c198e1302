# SPDX-License-Identifier: Apache-2.0
"""The loops of bench/mpi/loops.c: every operation in every mode, with the results checked."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import HERE, Finished, Mpi
from limits import LIMIT_S

SOURCES = [HERE.parents[1] / "bench" / "mpi" / name for name in ("loops.c", "plain_calls.c")]
OPERATIONS = (
    "broadcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall",
    "reduce_scatter", "scan", "exscan",
)  # fmt: skip


@pytest.fixture
def loops(mpi: Mpi, tmp_path: Path) -> Path:
    path = tmp_path / "loops"
    # MPI_Testall of MPICH 5.0 refuses persistent requests in the standard ABI.
    define = [] if mpi.name == "standard" else ["-DCORYMB_PEER_PERSISTENT"]
    words = [*define, "-O1", "-Wall", "-Wextra", "-Werror", *map(str, SOURCES), "-o", str(path)]
    subprocess.run([str(mpi.compiler), *words], check=True, timeout=LIMIT_S)
    return path


@pytest.mark.parametrize("ranks", [2, 3])
def test_results_are_right(
    mpi: Mpi, loops: Path, mpirun: Callable[..., Finished], ranks: int
) -> None:
    modes = ["blocking", "nonblocking"] + (["persistent"] if mpi.name != "standard" else [])
    done = mpirun(
        mpi, ranks, loops, "0.1", ",".join(modes), ",".join(OPERATIONS), "8,24,1024,70000"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert len(rows) == len(modes) * len(OPERATIONS) * 4
    assert all(0 < float(alone) < float(with_barrier) for *_, alone, with_barrier, _ in rows)
    assert all(float(in_a_row) > 0 for *_, in_a_row in rows)


def test_both_take_turns(mpi: Mpi, loops: Path, mpirun: Callable[..., Finished]) -> None:
    words = ("0.1", "blocking,nonblocking", "scan,allgather", "8,70000", "both")
    done = mpirun(mpi, 2, "--explain", loops, *words)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert len(rows) == 2 * 2 * 2
    assert all(float(number) > 0 for row in rows for number in row[3:])
    assert all(len(row) == 3 + 9 for row in rows)
    assert re.search(r" MPI_Iallgather .*  corymb$", done.stderr, re.M)


@pytest.mark.parametrize("words", [("blocking", "nonsense"), ("nonsense", "broadcast")])
def test_nonsense_is_refused(
    mpi: Mpi, loops: Path, mpirun: Callable[..., Finished], words: tuple[str, str]
) -> None:
    done = mpirun(mpi, 2, loops, "1", *words, "8")
    assert done.returncode != 0
    assert "nonsense" in done.stderr + done.stdout
