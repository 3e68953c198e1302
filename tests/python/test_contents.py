# SPDX-License-Identifier: Apache-2.0
"""Ranks whose buffers hold different things are told so, though the bytes are as many: element
types, byte orders, records, objects."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from thread_ranks import on_threads

import corymb
from corymb import Team

Move = Callable[[Team, Any], None]


def double(data: Any) -> Any:
    return np.zeros(2 * len(data), data.dtype)


MOVES: dict[str, Move] = {
    "Bcast": lambda t, d: t.Bcast(d),
    "Gather": lambda t, d: t.Gather(d, double(d)),
    "Scatter": lambda t, d: t.Scatter(double(d), d),
    "Allgather": lambda t, d: t.Allgather(d, double(d)),
    "Alltoall": lambda t, d: t.Alltoall(d, d.copy()),
    "Gatherv": lambda t, d: t.Gatherv(d, [double(d), [2, 2]]),
    "Scatterv": lambda t, d: t.Scatterv([double(d), [2, 2]], d),
    "Allgatherv": lambda t, d: t.Allgatherv(d, [double(d), [2, 2]]),
    "Alltoallv": lambda t, d: t.Alltoallv([d, [1, 1]], [d.copy(), [1, 1]]),
    "Ibcast": lambda t, d: t.Ibcast(d).Wait(),
    "Allgather_init": lambda t, d: started(t.Allgather_init(d, double(d))),
}
RECORD = [("a", "f8"), ("b", "i4"), ("c", "i4")]
PAIRS = {
    "byte order": (">f8", "<f8", "float64 of the other byte order", "float64"),
    "byte order of integers": (">i4", "<i4", "int32 of the other byte order", "int32"),
    "byte order of complex": (">c16", "c16", "complex128 of the other byte order", "complex128"),
    "type": ("f8", "i8", "float64", "int64"),
    "sign": ("u4", "i4", "uint32", "int32"),
    "record": (RECORD, "c16", "records", "complex128"),
    "records": (RECORD, [("a", "f8"), ("b", ">i4"), ("c", "i4")], "records", "records"),
    "text": ("S8", "f8", "strings of bytes", "float64"),
    "unicode": ("U2", "f8", "text", "float64"),
}


def started(request: corymb.Request) -> None:
    request.Start()
    request.Wait()


def texts_of(body: Callable[[Team], Any], n: int = 2) -> list[str]:
    """What each rank is told; "" for nothing."""

    def told(team: Team) -> str:
        try:
            body(team)
            team.Barrier()
        except corymb.Error as error:
            return f"{error.code}: {error}"
        return ""

    return on_threads(told, n)


def has_mismatch(texts: list[str], *words: str) -> None:
    """Somebody met it; whoever came later is told that the team is broken, and why."""
    assert all(texts), texts
    assert any(text.startswith("mismatch") for text in texts), texts
    for word in words:
        assert all(word in text for text in texts), (word, texts)


@pytest.mark.parametrize("name", MOVES)
def test_every_move_tells_byte_orders_apart(name: str) -> None:
    texts = texts_of(lambda t: MOVES[name](t, np.zeros(2, (">f8", "<f8")[t.rank])))
    has_mismatch(texts, "float64 of the other byte order", "rank 1 in")


@pytest.mark.parametrize("pair", PAIRS)
def test_a_broadcast_tells_elements_apart(pair: str) -> None:
    *kinds, first, second = PAIRS[pair]
    texts = texts_of(lambda t: t.Bcast(np.zeros(2, kinds[t.rank])))
    has_mismatch(texts, first, second)


@pytest.mark.parametrize(
    "kinds",
    [
        (">f8", ">f8"),
        ("f8", "=f8"),
        (np.longlong, np.int64),
        (RECORD, [("x", "f8"), ("y", "<i4"), ("z", "i4")]),
        ("g", "g"),
        ("U2", "U2"),
    ],
)
def test_equal_elements_are_moved(kinds: tuple[Any, Any]) -> None:
    def body(team: Team) -> bytes:
        data = np.arange(64, dtype="u1") if team.rank == 0 else np.zeros(64, "u1")
        view = data.view(kinds[team.rank])
        team.Bcast(view)
        return view.tobytes()

    assert on_threads(body, 2) == [bytes(range(64))] * 2


def test_one_rank_whose_buffers_differ_is_refused() -> None:
    team = Team(corymb._core.ThreadTeam(1).join(0))
    for call in (team.Allgather, team.Alltoall, team.Gatherv):
        with pytest.raises(corymb.Error, match="elements of different types"):
            call(np.zeros(2, ">f8"), np.zeros(2))


def test_messages_tell_byte_orders_and_objects_apart() -> None:
    sends: list[Move] = [
        lambda t, d: t.Send(d.astype(">f8"), 1),
        lambda t, d: t.Isend(d.astype(">f8"), 1).Wait(),
        lambda t, d: t.send(d, 1),
    ]
    for send in sends:
        texts = texts_of(
            lambda t, send=send: send(t, np.zeros(1)) if t.rank == 0 else t.Recv(np.zeros(1), 0)
        )
        has_mismatch(texts, "kinds of contents")


# Objects
# --------------------------------------------------------------------------------------------------

OBJECT_CALLS: dict[str, Callable[[Team], Any]] = {
    "broadcast": lambda t: t.bcast(1),
    "gather": lambda t: t.gather(1),
    "scatter": lambda t: t.scatter([1, 2]),
    "allgather": lambda t: t.allgather(1),
    "alltoall": lambda t: t.alltoall([1, 2]),
    "allreduce": lambda t: t.allreduce(1),
    "reduce": lambda t: t.reduce(1),
    "scan": lambda t: t.scan(1),
}


@pytest.mark.parametrize("called", OBJECT_CALLS)
def test_calls_of_objects_are_named_as_they_were_called(called: str) -> None:
    texts = texts_of(lambda t: OBJECT_CALLS[called](t) if t.rank else t.Barrier())
    has_mismatch(texts, f"rank 1 in {called} of an object", "rank 0 in barrier")


@pytest.mark.parametrize("value", [0, 5, -1, 1 << 40])
def test_a_broadcast_of_a_buffer_is_none_of_an_object(value: int) -> None:
    texts = texts_of(lambda t: t.bcast(None) if t.rank else t.Bcast(array("q", [value])))
    has_mismatch(texts, "broadcast of 8 bytes of int64", "broadcast of an object")


def test_operators_and_kin_of_object_calls_are_told_apart() -> None:
    texts = texts_of(lambda t: t.allreduce(1, (corymb.MAX, corymb.MIN)[t.rank]))
    has_mismatch(texts, "allreduce of an object with max", "allreduce of an object with min")
    has_mismatch(texts_of(lambda t: (t.allreduce, t.allgather)[t.rank](1)), "allgather of an")
