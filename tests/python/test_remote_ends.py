# SPDX-License-Identifier: Apache-2.0
"""Calls whose ends cross: waits in waits, callers that have gone, results that do not travel."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from typing import Any

import numpy as np
import pytest
import remote_things
from limits import LIMIT_S
from remote_things import NOTED, Counter, serve_as, serve_plainly_as

import corymb
from corymb.remote import RemoteCall, RemoteRank

CALLS: list[RemoteCall[Any]] = []
GONE = threading.Event()


def wait_for_it() -> Any:
    NOTED.append(CALLS[0].wait(LIMIT_S))


def first_of(row: Any) -> None:
    NOTED.append(float(row[0]))


async def wait_for_ever() -> None:
    NOTED.append("begun")
    try:
        await asyncio.Future()
    finally:
        NOTED.append("ended")


def large_after_the_caller() -> bytearray:
    GONE.wait(LIMIT_S)
    return bytearray(100_000)


@pytest.fixture(autouse=True)
def nothing_noted() -> None:
    NOTED.clear()
    CALLS.clear()


def test_a_method_that_waits_finds_what_came_with_its_call() -> None:
    group = corymb.RemoteGroup(2)
    posted = threading.Event()

    def other() -> None:
        with group.join(1) as own:
            own.post(0, wait_for_it)
            posted.set()

    with group.join(0) as own:
        CALLS.append(own.at(1, max, 3, 5))
        thread = threading.Thread(target=other)
        thread.start()
        posted.wait(LIMIT_S)
        while not NOTED:
            own.serve(LIMIT_S)
    thread.join(LIMIT_S)
    assert NOTED == [5]


def test_a_cancelled_call_has_no_other_arguments() -> None:
    group = corymb.RemoteGroup(2)
    thread = threading.Thread(target=serve_plainly_as, args=(1, group))
    thread.start()
    with group.join(0) as own:
        own.post(1, time.sleep, 0.1)
        own.at(1, first_of, np.full(20_000, 1.0)).cancel()
        own.at(1, first_of, np.full(20_000, 2.0)).wait(LIMIT_S)
    thread.join(LIMIT_S)
    assert NOTED == [2.0]


def test_posted_tasks_are_kept_and_end_with_their_rank() -> None:
    group = corymb.RemoteGroup(2)

    async def other() -> None:
        async with group.join(1) as own:
            for _ in range(3):
                own.post(0, wait_for_ever)

    async def main() -> None:
        own = group.join(0)
        async with own:
            while NOTED.count("begun") < 3:
                await asyncio.sleep(0.001)
            gc.collect()
            assert NOTED == ["begun"] * 3
        while NOTED.count("ended") < 3:
            await asyncio.sleep(0)

    thread = threading.Thread(target=lambda: asyncio.run(other()))
    thread.start()
    asyncio.run(main())
    thread.join(LIMIT_S)
    assert NOTED == ["begun"] * 3 + ["ended"] * 3


def among_two(body: Any) -> None:
    group = corymb.RemoteGroup(2)
    thread = threading.Thread(target=serve_as, args=(1, group))
    thread.start()

    async def main() -> None:
        async with group.join(0) as own:
            await body(own)

    try:
        asyncio.run(main())
    finally:
        thread.join(LIMIT_S)


def test_results_of_a_group_that_do_not_travel_are_told() -> None:
    async def body(own: RemoteRank) -> None:
        members = await own.create_group([1, 0], Counter)
        with pytest.raises(Exception, match="cannot be pickled"):
            await members.gather("lock")
        with pytest.raises(AttributeError, match="private"):
            await members.gather("_count")

    among_two(body)


def test_a_group_that_cannot_be_made_leaves_no_objects() -> None:
    async def body(own: RemoteRank) -> None:
        with pytest.raises(corymb.Error):
            await own.create_group([0, 1, 9], Counter)
        assert own.object_count == 0
        assert await own.at(1, remote_things.objects_here) == 0

    among_two(body)


def test_a_caller_that_has_gone_does_not_end_its_server() -> None:
    group = corymb.RemoteGroup(2)

    def other() -> None:
        own = group.join(1)
        own.at(0, large_after_the_caller)
        own.close()
        GONE.set()

    thread = threading.Thread(target=other)
    thread.start()
    own = group.join(0)
    assert own.serve(LIMIT_S) == 1
    own.close()
    thread.join(LIMIT_S)


def test_a_rank_that_closes_ends_its_calls() -> None:
    async def body(own: RemoteRank) -> None:
        members = await own.create_group([1, 0], Counter)
        call = members.step("slow", 3600)
        await asyncio.create_task(close(own))
        with pytest.raises(corymb.Error):
            await call
        raise KeyError

    async def close(own: RemoteRank) -> None:
        own.close()

    with pytest.raises(KeyError):
        among_two(body)
