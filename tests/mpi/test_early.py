# SPDX-License-Identifier: Apache-2.0
"""Between nodes calls are left to the MPI until a team pays."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import Mpi
from pretended_nodes import on_nodes

Program = Callable[[Mpi, str], Path]


@dataclass(frozen=True)
class Barriers:
    early: int  # Left to the MPI because it was too early for a team.
    corymbs: int
    took_ms: int


@dataclass(frozen=True)
class Job:
    """tests/mpi/early.c on nodes."""

    mpi: Mpi
    program: Path

    def run(
        self, cache: Path, *words: object, nodes: str = "01", name: str = "first", **variables: str
    ) -> Barriers:
        """What became of barriers on communicators of that name."""
        given = {"CORYMB_MPI": "", "CORYMB_CACHE_DIR": str(cache)} | variables
        finished = on_nodes(self.mpi, nodes, self.program, *words, **given)
        assert finished.returncode == 0, finished.stderr
        _, found, rows = finished.stderr.partition(f"\n{name}, {len(nodes)} ranks\n")
        assert found, finished.stderr
        counts = {"early": 0, "corymb": 0}
        for line in rows.splitlines()[1:]:
            row = re.match(r"  MPI_Barrier +(\d+) .*?(corymb|MPI: .*)$", line)
            if row is None:
                break
            key = "early" if "the first calls" in row[2] else row[2]
            counts[key] = counts.get(key, 0) + int(row[1])
        return Barriers(counts["early"], counts["corymb"], int(finished.stdout))


@pytest.fixture
def job(mpi: Mpi, program: Program) -> Job:
    return Job(mpi, program(mpi, "early"))


def short(job: Job, folder: Path, calls: int, *words: object, **more: str) -> tuple[int, Barriers]:
    """As many barriers, or fewer, as do not take the second after which a network is measured."""
    while True:
        cache = folder / str(calls)
        found = job.run(cache, calls, *words, **more)
        if found.took_ms < 800:
            return calls, found
        calls //= 2  # The machine is busy.
        assert calls > 3


def test_a_short_program_has_no_team(job: Job, tmp_path: Path) -> None:
    calls, found = short(job, tmp_path, 20, 0)
    assert found.early == calls


def test_what_a_part_of_the_ranks_has_makes_nobody_hurry(job: Job, tmp_path: Path) -> None:
    """A team of each node, which is kept."""
    calls, found = short(job, tmp_path, 20, 0, "halves", nodes="0011")
    assert found.early == calls


def test_on_one_node_calls_take_as_long_as_a_team_first(job: Job, tmp_path: Path) -> None:
    found = job.run(tmp_path, 400, 1, nodes="00")
    assert 3 <= found.early < 400
    assert found.corymbs > 0
    for calls in (20, 8, 5):
        found = job.run(tmp_path, calls, 0, nodes="00")
        assert found.early == calls or found.took_ms >= 7  # Or the machine is busy.
    assert job.run(tmp_path, 20, 0, nodes="00", CORYMB_MPI="early").early == 3


def test_a_network_is_measured_for_a_long_one(job: Job, tmp_path: Path) -> None:
    calls, found = short(job, tmp_path, 200, 2)
    assert found.early == calls
    cache = tmp_path / str(calls)
    assert not list(cache.glob("network-*"))

    first = job.run(cache, 1000, 2)
    assert 3 < first.early < 1000
    assert first.corymbs > 0
    assert list(cache.glob("network-*"))
    assert 3 < job.run(cache, 200, 2).early < 200, "it is known now"
    assert job.run(cache, 200, 2, "again", name="second").early == 3, "there is a team"


def test_short_phases_count_together(job: Job, tmp_path: Path) -> None:
    found = job.run(tmp_path, 1000, 2, "often")
    assert found.early < 1000
    assert found.corymbs > 0


@pytest.mark.parametrize(
    "variables",
    [
        {"CORYMB_NETWORK": "2000,400,3,12"},
        {"CORYMB_NETWORK": "measure"},
        {"CORYMB_MPI": "always"},
        {"CORYMB_MPI": "early"},
    ],
    ids=["given", "measure", "always", "early"],
)
def test_who_says_so_has_one_at_once(job: Job, tmp_path: Path, variables: dict[str, str]) -> None:
    found = job.run(tmp_path, 20, 0, **variables)
    assert found.early == 3
    assert found.corymbs > 0


def test_another_transport_is_measured_for_itself(job: Job, tmp_path: Path) -> None:
    for transport, known in [("", 1), ("ofi", 2), ("ofi", 2)]:
        job.run(tmp_path, 20, 0, CORYMB_MPI="always", MPIR_CVAR_CH4_NETMOD=transport)
        assert len(list(tmp_path.glob("network-*"))) == known


def test_a_persistent_request_promises_many_calls(job: Job, tmp_path: Path) -> None:
    found = job.run(tmp_path, 20, 0, "persistent")
    assert found.early == 20 or found.took_ms > 800  # A busy machine has paid for a team by then.
    assert found.corymbs > 0


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)  # Others' ranks keep their CPU.
def test_a_costly_plan_is_made_once_calls_have_taken_as_long(
    mpi: Mpi, program: Program, tmp_path: Path
) -> None:
    given = {"CORYMB_CACHE_DIR": str(tmp_path), "OMPI_MCA_mpi_yield_when_idle": "1"}
    nodes = "".join(str(rank // 8) for rank in range(64))
    finished = on_nodes(mpi, nodes, program(mpi, "costly"), 1000, CORYMB_MPI="", **given)
    assert finished.stdout == "0\n", finished.stderr
    for name in ["MPI_Alltoall", "MPI_Alltoallv"]:
        rows = re.findall(rf"  {name} +(\d+) .*?(corymb|MPI: .*)$", finished.stderr, re.M)
        calls = {how: int(count) for count, how in rows}
        assert sum(calls.values()) == 500
        # Ranks agree in the call behind 8, and behind 16, 32 and so on that follow.
        postponed = calls["MPI: first for about as long as it takes to make a plan"]
        assert postponed in (8, 25, 58, 123)
        assert calls.get("corymb", 0) >= 16  # Of a trial.


def test_who_wants_none_is_not_told_of_one(mpi: Mpi, program: Program) -> None:
    finished = on_nodes(mpi, "01", program(mpi, "early"), 20, 0, CORYMB_MPI="off")
    assert "has a team once" not in finished.stderr
    assert re.search(r"MPI_Barrier +17 .* MPI: CORYMB_MPI=off$", finished.stderr, re.M)


def test_the_summary_says_how_long(mpi: Mpi, program: Program) -> None:
    finished = on_nodes(mpi, "01", program(mpi, "early"), 20, 0, CORYMB_MPI="")
    assert "between nodes a communicator has a team once" in finished.stderr
