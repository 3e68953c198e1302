# SPDX-License-Identifier: Apache-2.0
"""Limits of some calls: a deadline and a source that ends them."""

from __future__ import annotations

import threading
from array import array

import pytest
from thread_ranks import on_threads

import corymb
from corymb import Team


def alone(call: object) -> corymb.Error:
    """What rank 0 of two is told, which calls `call(team)`. The other calls nothing meanwhile."""
    is_over = threading.Event()
    told: list[corymb.Error] = []

    def body(team: Team) -> None:
        if team.rank == 1:
            is_over.wait()
            return
        try:
            call(team)  # type: ignore[operator]
        except corymb.Error as error:
            told.append(error)
        finally:
            is_over.set()

    on_threads(body, 2)
    (error,) = told
    return error


def test_a_deadline_of_some_calls() -> None:
    def call(team: Team) -> None:
        with team.limits(deadline=0.05):
            team.Barrier()

    error = alone(call)
    assert (error.code, error.ranks) == ("timeout", [1])
    assert "within 0.05 s" in str(error)


def test_a_source_ends_the_call_of_a_rank_that_waits() -> None:
    source = corymb.StopSource()

    def call(team: Team) -> None:
        timer = threading.Timer(0.1, source.request_stop)
        timer.start()
        try:
            with team.limits(stop=source):
                team.allreduce([1])
        finally:
            timer.join()

    assert not source.stop_requested
    error = alone(call)
    assert (error.code, error.ranks) == ("interrupted", [0])
    assert "was told to stop" in str(error)
    assert source.stop_requested


def test_limits_end_with_their_block() -> None:
    source = corymb.StopSource()

    def body(team: Team) -> int:
        mine, total = array("q", [team.rank]), array("q", [0])
        with team.limits(deadline=60, stop=source), team.limits(deadline=120):
            team.Allreduce(mine, total)
        team.Barrier()
        if team.rank == 0:
            source.request_stop()
        team.Barrier()
        return total[0]

    assert on_threads(body, 3) == [3, 3, 3]


def test_a_team_may_be_freed_within_its_limits() -> None:
    def body(team: Team) -> None:
        with team.limits(deadline=60):
            team.Free()

    on_threads(body, 1)


@pytest.mark.parametrize("seconds", [-1, float("nan")])
def test_what_is_no_time_is_refused(seconds: float) -> None:
    def body(team: Team) -> None:
        with pytest.raises(ValueError, match="deadline"), team.limits(deadline=seconds):
            pass

    on_threads(body, 1)
