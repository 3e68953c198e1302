# SPDX-License-Identifier: Apache-2.0
"""Ranks that cannot take part in a team, on one node and on several: all go on without one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import MPIS, Finished, Mpi
from limits import LIMIT_S
from pretended_nodes import ON_NODES, on_nodes

Program = Callable[[Mpi, str], Path]
Mpirun = Callable[..., Finished]

# The rank of whom something is special, and what.
ONLY_THERE = """
rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
if [ "$rank" = %d ]; then %s; fi
"""
# Who waits for the rank that cannot come takes longer than a run may.
NEVER = f"{10 * LIMIT_S}"
PROGRAM = ("random_collectives", 20, 1)


@pytest.mark.parametrize("nodes", ["000", "0011"])
@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("export CORYMB_DEADLINE=soon", "a rank could not attach"),
        ("ulimit -v 8000000", "a rank cannot map the memory of another"),
    ],
    ids=["variable", "addresses"],
)
def test_a_rank_that_cannot_have_a_team(
    program: Program, nodes: str, rank: int, what: str, why: str
) -> None:
    mpi = MPIS["mpich"]
    script = ONLY_THERE % (rank, what) + ON_NODES
    run = on_nodes(mpi, nodes, program(mpi, PROGRAM[0]), *PROGRAM[1:], script=script,
                   CORYMB_DEADLINE=NEVER, CORYMB_PATIENCE=NEVER)  # fmt: skip
    assert run.stdout == "20 steps, 0 differences\n", run.stderr
    assert run.returncode == 0
    has_small_memory = what.startswith("ulimit") and (rank == 0 or nodes == "0011")
    if has_small_memory:  # It makes one that it has the addresses for, as have the others.
        assert "  corymb\n" in run.stderr
        return
    assert why in run.stderr


def test_ranks_that_have_not_called_mpi_init(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """They may use a session's communicator, and count its calls as the others do."""
    run = mpirun(mpi, 3, "--explain", program(mpi, "session"), CORYMB_MPI="early")
    assert run.stdout == "0 failures\n" * 3, run.stderr
    assert run.returncode == 0
