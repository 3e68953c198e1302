# SPDX-License-Identifier: Apache-2.0
"""What corymb.Team takes for a buffer, and what it refuses."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from thread_ranks import on_threads

import corymb
from corymb import IN_PLACE, Team


class OnGpu:
    """Memory of another device."""

    def __dlpack__(self, **options: Any) -> Any:
        raise AssertionError("nobody asks for it")

    def __dlpack_device__(self) -> Any:
        return (2, 0)


class OnlyDlpack:
    """A producer without the buffer protocol."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __dlpack__(self, **options: Any) -> Any:
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.data.__dlpack_device__()


@pytest.mark.parametrize(
    "make",
    [
        lambda values: np.array(values),
        lambda values: np.array(values).reshape(2, 2),
        lambda values: np.asfortranarray(np.array(values).reshape(2, 2)),
        lambda values: array("d", values),
        lambda values: memoryview(array("d", values)),
        lambda values: memoryview(bytearray(array("d", values))).cast("d"),
        lambda values: [bytearray(array("d", values)), corymb.DOUBLE],
        lambda values: [bytearray(array("d", values)), "d"],
        lambda values: (array("d", [*values, 99.0]), 4),
        lambda values: [array("d", [*values, 99.0]), 4, corymb.DOUBLE],
        lambda values: OnlyDlpack(np.array(values)),
    ],
)
def test_what_is_a_buffer(make: Callable[[list[float]], Any]) -> None:
    def body(team: Team) -> None:
        mine, out = make([1.0, 2.0, 3.0, float(team.rank)]), make([0.0] * 4)
        team.Allreduce(mine, out)
        memory = out[0] if isinstance(out, (list, tuple)) else out
        memory = memory.data if isinstance(memory, OnlyDlpack) else memory
        values = np.frombuffer(memoryview(memory).tobytes(), "f8")
        assert values[:4].tolist() == [3.0, 6.0, 9.0, 3.0]
        assert values[4:].tolist() in ([], [99.0])

    on_threads(body)


ROOM = np.zeros(6)
NO_WRITING = np.zeros(6)
NO_WRITING.flags.writeable = False


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda t: t.Allreduce(ROOM, NO_WRITING), "read-only"),
        (lambda t: t.Allreduce(ROOM, b"\0" * 48), "read-only"),
        (lambda t: t.Recv(b"12345678", 0), "read-only"),
        (lambda t: t.Allreduce(ROOM, OnlyDlpack(NO_WRITING)), "read-only"),
        (lambda t: t.Allreduce(ROOM[::2], np.zeros(3)), "not contiguous"),
        (lambda t: t.Allreduce(OnlyDlpack(ROOM[::2]), np.zeros(3)), "not contiguous"),
        (lambda t: t.Allreduce(ROOM, np.zeros(5)), "do not fit"),
        (lambda t: t.Allreduce(ROOM, np.zeros(6, "i8")), "different types"),
        (lambda t: t.Allgather(ROOM, np.zeros(7)), "do not fit"),
        (lambda t: t.Allreduce(np.zeros(2, "S8"), np.zeros(2, "S8")), "format '8s'"),
        (lambda t: t.Allreduce(np.zeros(2, ">f8"), np.zeros(2, ">f8")), "format '>d'"),
        (lambda t: t.Allreduce(ROOM, np.zeros(6), corymb.BAND), "bitwise_and"),
        (lambda t: t.Bcast(np.array([None, 1])), "Python objects"),
        (lambda t: t.Bcast([ROOM, 7]), "fewer than"),
        (lambda t: t.Bcast([ROOM, -1]), "negative"),
        (lambda t: t.Bcast([bytearray(9), corymb.DOUBLE]), "no whole number"),
        (lambda t: t.Bcast([ROOM, [1, 2, 3]]), "end in v"),
        (lambda t: t.Gatherv(ROOM, [np.zeros(6), [6, 1]]), "as many counts"),
        (lambda t: t.Gatherv(ROOM, [np.zeros(6), [7]]), "only 6"),
        (lambda t: t.Gatherv(ROOM, [np.zeros(6), [5]]), "this rank's"),
        (lambda t: t.Gatherv(IN_PLACE, [np.zeros(6), [5], [2]]), "too few elements"),
        (lambda t: t.Gatherv(ROOM, np.zeros(6, "f4")), "different types"),
        (lambda t: t.Scatterv(IN_PLACE, ROOM), "IN_PLACE"),
        (lambda t: t.Reduce_scatter(IN_PLACE, np.zeros(6)), "recvcounts"),
        (lambda t: t.Bcast([]), "list of 0 items"),
        (lambda t: t.Bcast(IN_PLACE), "IN_PLACE"),
        (lambda t: t.Bcast(ROOM, 1), "root 1 is out of range"),
        (lambda t: t.Send(ROOM, -1), "-1"),
        (lambda t: t.Send(ROOM, 0, tag=3), "no tags"),
        (lambda t: t.Allreduce(ROOM[:4], ROOM[2:]), "overlap"),
        (lambda t: t.Bcast(np.zeros(2, "M8[s]")), "DLPack only supports .* view of it as numbers"),
        (lambda t: t.Bcast(OnGpu()), "not that of a CPU"),
        (lambda t: t.Allreduce(None, ROOM), "do not fit"),
    ],
)
def test_buffers_that_are_refused(call: Callable[[Team], None], text: str) -> None:
    team = corymb._core.ThreadTeam(1).join(0)
    with pytest.raises(corymb.Error, match=text) as caught:
        call(Team(team))
    assert caught.value.code == "invalid_argument"


@pytest.mark.parametrize("thing", [1, "text", [1.0, 2.0], object(), {"a": 1}])
def test_what_is_no_buffer_is_a_type_error(thing: Any) -> None:
    team = Team(corymb._core.ThreadTeam(1).join(0))
    with pytest.raises(TypeError, match="buf must have the buffer protocol"):
        team.Bcast(thing)
