# SPDX-License-Identifier: Apache-2.0
"""Ranks on several nodes call each other, by an MPI's messages between nodes."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import MPIS, OLDER, Mpi
from limits import LIMIT_S
from test_cluster import no_namespaces, site

Program = Callable[[Mpi, str], Path]


def run(mpi: Mpi, program: Path, nodes: str, *words: str) -> subprocess.CompletedProcess[str]:
    launch = [str(mpi.compiler).replace("mpicc_abi", "mpirun").replace("mpicc", "mpirun")]
    return subprocess.run(
        [*launch, *mpi.options, "-n", str(len(nodes)), str(program), nodes, *words],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=mpi.environment,
        check=False,
    )


@pytest.mark.parametrize("nodes", ["01", "0011", "01021", "000"])
def test_calls_over_pretended_nodes(mpi: Mpi, cpp_program: Program, nodes: str) -> None:
    finished = run(mpi, cpp_program(mpi, "remote_calls"), nodes)
    expected = f"{len(nodes)} ranks on {len(set(nodes))} nodes, "
    assert finished.stdout.startswith(expected), finished.stderr
    assert finished.stdout.endswith(" calls, all right\n")


@pytest.mark.parametrize("name", OLDER)
def test_calls_with_older_mpis(cpp_program: Program, name: str) -> None:
    mpi = OLDER[name]
    if not mpi.compiler.exists():
        pytest.skip(f"{mpi.compiler} is not installed")
    finished = run(mpi, cpp_program(mpi, "remote_calls"), "0011")
    assert "4 ranks on 2 nodes, " in finished.stdout, finished.stderr


@pytest.mark.parametrize(
    ("name", "shape", "said"),
    [("mpich", "2x2", "4 ranks on 2"), ("openmpi", "2x2", "4 ranks on 2"),
     ("mpich", "4x1", "4 ranks on 4"), ("openmpi", "cyclic:1x1+1x3", "4 ranks on 2")],
)  # fmt: skip
def test_calls_in_namespaces(cpp_program: Program, name: str, shape: str, said: str) -> None:
    """On nodes that share neither memory nor processes nor a network."""
    if reason := no_namespaces():
        pytest.skip(reason)
    mpi = MPIS[name]
    text = site(mpi, shape).run([str(cpp_program(mpi, "remote_calls"))], LIMIT_S)
    assert text.startswith(f"{said} nodes, ")
    assert text.endswith(" calls, all right\n")


def test_a_death_ends_the_job(mpi: Mpi, cpp_program: Program) -> None:
    began = time.monotonic()
    finished = run(mpi, cpp_program(mpi, "remote_calls"), "0011", "3")
    assert finished.returncode != 0
    assert "all right" not in finished.stdout
    assert time.monotonic() - began < LIMIT_S / 2
