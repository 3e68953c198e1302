# SPDX-License-Identifier: Apache-2.0
"""Collectives and messages of objects: results, sizes that differ, and what they hold in memory."""

from __future__ import annotations

import functools
import operator
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from thread_ranks import on_threads

import corymb
from corymb import Team

MB = 1 << 20
SIZES = [0, 10, 400_000]
"""Bytes of an object; the last one is beyond what a reduction gathers."""


def words(rank: int, size: int) -> str:
    return f"<{rank}>" + chr(97 + rank) * size * rank


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_results_of_objects_that_differ_in_size(n: int, size: int) -> None:
    everything = [words(rank, size) for rank in range(n)]

    def body(team: Team) -> None:
        own, here, root = everything[team.rank], team.rank == n - 1, n - 1
        assert team.bcast(own if here else None, root) == everything[root]
        assert team.gather(own, root) == (everything if here else None)
        assert team.allgather(own) == everything
        assert team.scatter(everything if here else None, root) == own
        sent = [(team.rank, rank, own) for rank in range(n)]
        assert team.alltoall(sent) == [(rank, team.rank, everything[rank]) for rank in range(n)]
        assert team.allreduce(own) == "".join(everything)
        assert team.reduce(own, corymb.SUM, root) == ("".join(everything) if here else None)
        assert team.scan(own) == "".join(everything[: team.rank + 1])
        before = "".join(everything[: team.rank]) if team.rank else None
        assert team.exscan(own) == before

    on_threads(body, n)


def test_arrays_are_combined_in_rank_order() -> None:
    """Products of matrices, small and large."""

    def matrices(size: int) -> list[Any]:
        return [np.array([[1, r + 1], [r, 1]] * size, object).reshape(-1, 2, 2) for r in range(5)]

    for size in (1, 12_000):
        given = matrices(size)
        wanted = functools.reduce(operator.matmul, given)
        results = on_threads(lambda t, g=given: t.allreduce(g[t.rank], operator.matmul), 5)
        assert all((result == wanted).all() for result in results)


@pytest.mark.parametrize("size", SIZES)
def test_what_an_operator_raises_is_raised(size: int) -> None:
    def refuse(left: Any, right: Any) -> Any:
        raise KeyError("no such sum")

    def body(team: Team) -> list[str]:
        raised = []
        for call in (team.allreduce, team.scan, team.reduce):
            try:
                call(words(team.rank, size), refuse)
            except KeyError as error:
                raised.append(str(error))
        assert team.allreduce(1) == 3
        return raised

    results = on_threads(body)
    assert results[0] in (["'no such sum'"] * 2, ["'no such sum'"] * 3)
    assert results[2] == ["'no such sum'"] * 2


def peak_of(call: Callable[[Team], Any], n: int) -> int:
    on_threads(call, n)
    tracemalloc.start()
    try:
        on_threads(call, n)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "call", "objects"),
    [
        ("gather", lambda t: t.gather(large(t.rank == 1)), 1),
        ("allgather", lambda t: t.allgather(large(t.rank == 1)), 8),
        ("scatter", lambda t: t.scatter(larges(t.rank == 0)), 1),
        ("alltoall", lambda t: t.alltoall([large(t.rank == 1 and r == 2) for r in range(8)]), 1),
        ("bcast", lambda t: t.bcast(large(t.rank == 0)), 8),
        ("allreduce", lambda t: t.allreduce(large(True), max), 16),
    ],
)
def test_memory_follows_the_objects(name: str, call: Callable[[Team], Any], objects: int) -> None:
    """One object of 4 MB among eight ranks: itself, its pickle, the room for it and the result,
    `objects` times, beside what the sender has."""
    assert peak_of(call, 8) < (3 * objects + 3) * 4 * MB


def larges(wanted: bool) -> list[bytes] | None:
    return [large(rank == 1) for rank in range(8)] if wanted else None


def large(wanted: bool) -> bytes:
    return bytes(4 * MB) if wanted else b""


def test_messages_of_objects() -> None:
    def body(team: Team) -> list[Any]:
        if team.rank == 0:
            sends = [team.isend(words(3, k), 1) for k in (0, 70_000, 5)]
            for send in sends:
                send.wait()
            assert all(send.test() == (True, None) for send in sends)
            return [team.sendrecv("ping", 1, source=1)]
        receives = [team.irecv(0) for _ in range(3)]
        later = receives[2].wait()
        got = [receives[0].wait(), receives[1].wait(), later]
        assert receives[0].test() == (True, got[0])
        return [*got, team.sendrecv("pong", 0, source=0)]

    results = on_threads(body, 2)
    assert results[1] == [words(3, 0), words(3, 70_000), words(3, 5), "ping"]
    assert results[0] == ["pong"]


def test_tags_are_refused() -> None:
    team = Team(corymb._core.ThreadTeam(1).join(0))
    for call in (lambda: team.send(1, 0, tag=2), lambda: team.irecv(0, 3)):
        with pytest.raises(corymb.Error, match="have no tags"):
            call()


def test_a_duplicate_has_messages_of_its_own() -> None:
    def body(team: Team) -> Any:
        twin = team.Dup()
        assert (twin.rank, twin.size) == (team.rank, team.size)
        if team.rank == 0:
            team.send("team", 1)
            twin.send("twin", 1)
            return None
        return [twin.recv(0), team.recv(0)]

    assert on_threads(body, 2)[1] == ["twin", "team"]
