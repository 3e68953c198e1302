# SPDX-License-Identifier: Apache-2.0
"""Objects on ranks of other processes: however they are started, and killed ones."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from limits import LIMIT_S
from remote_things import NOTED, Counter, call_for_long, serve_as, serve_opened

import corymb


@contextmanager
def child(target: Any, args: tuple[Any, ...], method: str = "fork") -> Iterator[Any]:
    process = multiprocessing.get_context(method).Process(target=target, args=args)
    process.start()
    try:
        yield process
    finally:
        process.join(LIMIT_S)
        process.kill()
        process.join()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_call_each_other(method: str) -> None:
    numpy = pytest.importorskip("numpy")
    group = corymb.RemoteGroup(2, between_processes=True)
    descriptor = group.make_descriptor()
    target, args = (serve_opened, (1, descriptor)) if method == "fork" else (serve_as, (1, group))
    with child(target, args, method), group.join(0) as own:
        assert own.at(1, os.getpid).wait(LIMIT_S) != os.getpid()
        counter = own.create(1, Counter, 41).wait(LIMIT_S)
        assert counter.add(1).wait(LIMIT_S) == 42
        array = numpy.ones(12_500_000)  # 100 MB.
        assert (own.at(1, numpy.negative, array).wait(LIMIT_S) == -array).all()
    os.close(descriptor)


def test_a_killed_rank_is_named() -> None:
    group = corymb.RemoteGroup(2, between_processes=True)
    descriptor = group.make_descriptor()

    async def body() -> None:
        async with group.join(0) as own:
            counter = await own.create(1, Counter)
            slow = counter.slow(3600)
            counter.die.post()
            for call in (slow, counter.value()):
                with pytest.raises(corymb.Error) as caught:
                    await asyncio.wait_for(call, LIMIT_S)
                assert (caught.value.code, caught.value.ranks) == ("team_broken", [1])

    with child(serve_opened, (1, descriptor)):
        asyncio.run(body())
    os.close(descriptor)


def test_the_calls_of_a_killed_rank_are_cancelled() -> None:
    group = corymb.RemoteGroup(2, between_processes=True)
    descriptor = group.make_descriptor()
    NOTED.clear()

    async def body(process: Any) -> None:
        async with group.join(0) as own:
            while not NOTED:
                await asyncio.sleep(0)
            counter = own.local(NOTED[0])
            while counter.started == 0:
                await asyncio.sleep(0)
            process.kill()
            while counter.cancelled == 0:
                await asyncio.sleep(0.001)

    with child(call_for_long, (descriptor,)) as process:
        asyncio.run(asyncio.wait_for(body(process), LIMIT_S))
    os.close(descriptor)


MAIN = """
import multiprocessing
import sys

import corymb

BY = 2


class Twice:
    def times(self, number):
        return BY * number


def body(group):
    with group.join(1):
        pass


if __name__ == "__main__":
    group = corymb.RemoteGroup(2, between_processes=True)
    context = multiprocessing.get_context(sys.argv[1])
    args = (group,) if sys.argv[1] == "spawn" else (group.make_descriptor(),)
    process = context.Process(target=body, args=args)
    process.start()
    with group.join(0) as own:
        twice = own.create(1, Twice).wait(60)
        print(twice.times(21).wait(60), own.at(1, lambda x: x + BY, 5).wait(60))
    process.join()
"""


def test_what_main_has_travels_with_its_code(tmp_path: Any) -> None:
    pytest.importorskip("cloudpickle")
    script = tmp_path / "main.py"
    script.write_text(MAIN)
    ran = subprocess.run(
        [sys.executable, str(script), "spawn"], capture_output=True, text=True, timeout=LIMIT_S
    )
    assert ran.stdout == "42 7\n", ran.stderr


def test_processes_meet_by_a_name() -> None:
    name = f"corymb-test-{os.getpid()}"
    with (
        child(_join_by_name, (name,)),
        corymb.RemoteGroup(2, name=name).join(0) as own,
    ):
        assert own.at(1, os.getpid).wait(LIMIT_S) != os.getpid()


def _join_by_name(name: str) -> None:
    serve_as(1, corymb.RemoteGroup(2, name=name))
