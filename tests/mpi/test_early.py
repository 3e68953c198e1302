# SPDX-License-Identifier: Apache-2.0
"""Between nodes calls are left to the MPI until a team pays."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Mpi
from pretended_nodes import on_nodes

Program = Callable[[Mpi, str], Path]
Early = Callable[..., tuple[int, int]]


@pytest.fixture
def early(mpi: Mpi, program: Program, tmp_path: Path) -> Early:
    """Runs tests/mpi/early.c on two nodes. Returns how many barriers the MPI had because it was too
    early for a team, and the milliseconds of all. Networks that are measured are remembered until
    the test ends."""

    def run(*words: object, name: str = "first", **variables: str) -> tuple[int, int]:
        given = {"CORYMB_MPI": "", "CORYMB_CACHE_DIR": str(tmp_path)} | variables
        finished = on_nodes(mpi, "01", program(mpi, "early"), *words, **given)
        assert finished.returncode == 0, finished.stderr
        found = re.findall(
            rf"^{name}, 2 ranks\n.*\n(?:  MPI_Barrier +\d+ .* corymb\n)?"
            r"  MPI_Barrier +(\d+) .*MPI: the first calls",
            finished.stderr,
            re.M,
        )
        calls = int(found[0]) if found else 0
        says_how_long = "between nodes a communicator has a team once" in finished.stderr
        assert says_how_long == (calls > 3 or name != "first"), finished.stderr
        return calls, int(finished.stdout)

    return run


def test_a_short_program_has_no_team(early: Early) -> None:
    assert early(20, 0)[0] == 20


def test_a_network_is_measured_for_a_long_one(early: Early, tmp_path: Path) -> None:
    for _ in range(5):  # In case that the machine was busy.
        calls, took_ms = early(200, 2)
        if took_ms < 800:
            break
    assert took_ms < 800, "the machine is too busy for this test"
    assert calls == 200
    assert not list(tmp_path.iterdir())
    assert 3 < early(1200, 2)[0] < 1200
    assert list(tmp_path.iterdir())
    assert 3 < early(250, 2)[0] < 200, "it is known now"
    assert early(250, 2, "again", name="second")[0] == 3, "there is a team"


@pytest.mark.parametrize(
    "variables",
    [{"CORYMB_NETWORK": "2000,400,3,12"}, {"CORYMB_NETWORK": "measure"}, {"CORYMB_MPI": "always"}],
    ids=["given", "measure", "always"],
)
def test_who_says_so_has_one_at_once(early: Early, variables: dict[str, str]) -> None:
    assert early(20, 0, **variables)[0] == 3


def test_a_persistent_request_promises_many_calls(early: Early) -> None:
    assert early(20, 0, "persistent")[0] == 0
