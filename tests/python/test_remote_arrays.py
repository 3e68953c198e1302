# SPDX-License-Identifier: Apache-2.0
"""Arrays whose rows lie on all ranks, among threads, in event loops and among processes."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from limits import LIMIT_S

import corymb
from corymb.remote import RemoteRank, SharedArray


def among(size: int, body: Callable[[RemoteRank], None]) -> None:
    """Each rank is a thread."""
    group = corymb.RemoteGroup(size)
    failures: list[BaseException] = []

    def live(rank: int) -> None:
        try:
            with group.join(rank) as own:
                body(own)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=live, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_S)
    assert not any(thread.is_alive() for thread in threads)
    if failures:
        raise failures[0]


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 10])
@pytest.mark.parametrize("dtype", [np.float64, np.int16, np.dtype([("a", "i4"), ("b", "f8")])])
def test_rows_lie_on_all_ranks(rows: int, dtype: Any) -> None:
    def body(own: RemoteRank) -> None:
        array = own.shared_array("rows", (rows, 3), dtype).wait()
        assert array.shape == (rows, 3)
        assert len(array) == rows
        assert array.dtype == dtype
        owned = [row for rank in range(own.size) for row in array.range(rank)]
        assert owned == list(range(rows))
        assert all(array.owner(row) == own.rank for row in array.range(own.rank))
        assert array.local.shape == (len(array.range(own.rank)), 3)
        assert not array.copy().any() if dtype != [("a", "i4"), ("b", "f8")] else True
        array.sync().wait()
        array.local[:] = np.ones(3, dtype)
        array.sync().wait()
        assert (array.copy() == np.ones((rows, 3), dtype)).all()

    among(3, body)


def test_views_are_of_one_memory_and_outlive_the_array() -> None:
    kept: list[Any] = []

    def body(own: RemoteRank) -> None:
        array = own.shared_array("views", 8, int).wait()
        if own.rank == 0:
            array.part(1)[2] = 7
        array.sync().wait()
        assert array.copy()[array.range(1)[2]] == 7
        kept.append(array.part(1))

    among(2, body)
    gc.collect()
    first, second = kept
    first[0] = 1
    assert list(second) == [1, 0, 7, 0]


def test_the_memory_of_many_arrays_is_given_back() -> None:
    def body(own: RemoteRank) -> None:
        for number in range(200):  # Together more than the group has.
            array = own.shared_array(f"one of many {number}", 1 << 21, np.uint8).wait()
            array.local[:] = 1
            array.sync().wait()

    among(2, body)


def test_in_event_loops() -> None:
    async def body(own: RemoteRank) -> None:
        async with own:
            array: SharedArray = await own.shared_array("loops", (4, 2))
            array.local[:] = own.rank
            await array.sync()
            assert list(array.copy()[:, 0]) == [0, 0, 1, 1]

    async def both() -> None:
        group = corymb.RemoteGroup(2)
        await asyncio.gather(*(body(group.join(rank)) for rank in range(2)))

    asyncio.run(asyncio.wait_for(both(), LIMIT_S))


def in_a_process(group: corymb.RemoteGroup, rank: int) -> None:
    with group.join(rank) as own:
        array = own.shared_array("processes", 1000).wait()
        array.local[:] = np.array(array.range(rank))
        array.sync().wait()
        assert (array.copy() == np.arange(1000)).all()


def test_among_processes() -> None:
    group = corymb.RemoteGroup(3, between_processes=True)
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=in_a_process, args=(group, rank)) for rank in (1, 2)]
    for child in children:
        child.start()
    in_a_process(group, 0)
    for child in children:
        child.join(LIMIT_S)
        assert child.exitcode == 0


def test_ranks_that_differ_are_told() -> None:
    def body(own: RemoteRank) -> None:
        for shapes in (((4, 2), (4, 3)), ((4, 2), (8, 1))):
            with pytest.raises(corymb.Error, match="shared array") as refused:
                own.shared_array("differ", shapes[own.rank]).wait()
            assert refused.value.code == "mismatch"
        with pytest.raises(corymb.Error, match="another mapping, mark or cache"):
            own.shared_array("kinds", 4, (np.int64, np.float64)[own.rank]).wait()

    among(2, body)


def test_wrong_arguments() -> None:
    with corymb.RemoteGroup(1).join(0) as own:
        for shape in ((), (-1,), (3, -2)):
            with pytest.raises(corymb.Error, match="shape"):
                own.shared_array("wrong", shape)
        with pytest.raises(corymb.Error, match="references to objects"):
            own.shared_array("wrong", 3, object)
        array = own.shared_array("right", 3).wait()
        with pytest.raises(IndexError):
            array.owner(3)
        with pytest.raises(corymb.Error, match="no rank 1"):
            array.part(1)
    with pytest.raises(corymb.Error, match="left its group"):
        array.sync()
    assert list(array.local) == [0, 0, 0]
