# SPDX-License-Identifier: Apache-2.0
"""Ranks that cannot start, that go away, or whose calls differ: nobody waits for the deadline."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from limits import LIMIT_S

import corymb

# Who waits for it takes longer than a test may.
NEVER = 10 * LIMIT_S


def test_threads_that_cannot_start_leave_none_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    start, left = threading.Thread.start, [3]

    def limited(self: threading.Thread) -> None:
        if left[0] == 0:
            raise RuntimeError("can't start new thread")
        left[0] -= 1
        start(self)

    before = threading.active_count()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", limited)
        with pytest.raises(corymb.Error, match=r"rank 4 of 9 has no thread: .*limit") as error:
            corymb.run(lambda team: team.Barrier(), 9, threads=True, deadline=NEVER)
    assert error.value.code == "unsupported"
    assert threading.active_count() == before


def own_root(team: corymb.Team) -> None:
    team.Bcast(bytearray(8), root=team.rank)


@pytest.mark.parametrize("threads", [True, False])
def test_two_roots_are_told_when_the_run_ends(threads: bool) -> None:
    with pytest.raises(corymb.Error, match=r"root 0.*root 1|root 1.*root 0") as error:
        corymb.run(own_root, 2, threads=threads, deadline=NEVER)
    assert isinstance(error.value.__cause__, corymb.Error)
    assert error.value.__cause__.code == "mismatch"


def other_lengths(team: corymb.Team, lengths: tuple[int, int]) -> Any:
    for call in range(60):
        try:
            team.Bcast(bytearray(lengths[team.rank]), 0)
        except corymb.Error as error:
            return call, error.code
    return None


@pytest.mark.parametrize("threads", [True, False])
@pytest.mark.parametrize("lengths", [(40, 64), (64, 40), (0, 8)])
def test_lengths_that_differ_are_a_mismatch(threads: bool, lengths: tuple[int, int]) -> None:
    try:
        results = corymb.run(other_lengths, 2, (lengths,), threads=threads, deadline=NEVER)
        told = [result[1] for result in results if result is not None]
    except corymb.RankError as error:  # A rank that was through with all calls, when it left.
        told = [getattr(error.__cause__, "code", None)]
    assert "mismatch" in told
