# SPDX-License-Identifier: Apache-2.0
"""Ranks that fail, leave or come late; handles that are freed or shared."""

from __future__ import annotations

import threading
import time
from array import array

import pytest
from limits import LIMIT_S
from thread_ranks import on_threads

import corymb
from corymb import Team


def test_a_team_that_was_freed_is_empty() -> None:
    team = Team(corymb._core.ThreadTeam(1).join(0))
    request = team.Iallreduce(array("q", [1]), array("q", [0]))
    team.Free()
    request.Wait()
    assert (team.rank, team.size) == (-1, 0)
    team.Free()
    for call in (team.Barrier, team.shrink, lambda: team.Bcast(bytearray(8)), team.Ibarrier):
        with pytest.raises(corymb.Error, match="empty"):
            call()


def test_the_deadline_names_who_is_missing() -> None:
    def body(team: Team) -> None:
        if team.rank == 1:
            here.wait(LIMIT_S)
            return
        try:
            team.Barrier()
        finally:
            here.set()

    here = threading.Event()
    with pytest.raises(corymb.RankError) as caught:
        on_threads(body, 2, deadline=0.2)
    cause = caught.value.__cause__
    assert isinstance(cause, corymb.Error)
    assert (cause.code, cause.ranks) == ("timeout", [1])


def test_the_first_failure_is_raised_and_names_its_rank() -> None:
    def body(team: Team) -> None:
        if team.rank == 2:
            raise ValueError("no luck")
        team.Barrier()

    with pytest.raises(corymb.RankError, match="rank 2 failed: ValueError: no luck") as caught:
        on_threads(body)
    assert (caught.value.rank, caught.value.ranks) == (2, [2])
    assert isinstance(caught.value.__cause__, ValueError)


def test_survivors_go_on() -> None:
    def body(team: Team) -> int:
        if team.rank == 1:
            team.abandon("tired")
            team.Free()
            return 0
        with pytest.raises(corymb.Error, match="rank 1 gave up: tired") as caught:
            team.Barrier()
        assert caught.value.code == "team_broken"
        rest = team.shrink()
        return int(rest.allreduce(10 + team.rank))

    assert on_threads(body) == [22, 0, 22]


def test_one_thread_at_a_time() -> None:
    """Whoever comes second is refused before anything has begun, so both try until they are in.

    They pause between two tries: who asks again at once holds the team whenever the other looks.
    """

    def body(team: Team) -> None:
        if team.rank == 0:
            threading.Thread(target=intrude, args=(team,)).start()
        else:
            refused.wait(60)
        while True:
            try:
                return team.Barrier()
            except corymb.Error:
                time.sleep(0.001)

    def intrude(team: Team) -> None:
        while not refused.wait(0.001):
            try:
                team.progress()
            except corymb.Error as error:
                texts.append(str(error))
                refused.set()

    texts: list[str] = []
    refused = threading.Event()
    on_threads(body, 2)
    assert "in use by another thread" in texts[0]


def test_leaving_a_block_by_an_exception_tells_the_others() -> None:
    def body(team: Team) -> None:
        with team:
            if team.rank == 0:
                raise KeyError("lost")
            team.Barrier()

    with pytest.raises(corymb.RankError, match="rank 0 failed: KeyError"):
        on_threads(body)
