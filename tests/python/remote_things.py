# SPDX-License-Identifier: Apache-2.0
"""Classes and functions that the tests of corymb.remote use on other ranks."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import corymb
from corymb.remote import Proxy, ProxyGroup, here


class Counter:
    def __init__(self, start: int = 0, *, step: int = 1) -> None:
        self.count = start
        self.step = step
        self.cancelled = 0
        self.started = 0

    def add(self, by: int) -> int:
        self.count += by * self.step
        return self.count

    def value(self) -> int:
        return self.count

    def text(self, mark: str) -> str:
        return f"{mark}{self.count}"

    def fail(self, text: str) -> None:
        raise ValueError(text)

    async def slow(self, seconds: float) -> int:
        self.started += 1
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return self.count

    async def add_at(self, other: Proxy[Counter], by: int) -> Any:
        return await other.add(by)

    def cancellations(self) -> tuple[int, int]:
        return self.started, self.cancelled

    def value_of(self, other: Proxy[Counter]) -> Any:
        return other.value()  # A call, which is waited for.

    async def sum_of(self, group: ProxyGroup[Counter]) -> Any:
        return await group.reduce(int.__add__, "value")

    def rank(self) -> int:
        return here().rank

    def lock(self) -> Any:
        return _thread_lock()

    def odd(self) -> bool:
        return self.count % 2 == 1

    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def _thread_lock() -> Any:
    import threading

    return threading.Lock()


class UnreadableError(Exception):
    """Cannot be unpickled: its constructor needs two arguments."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


class Refuses:
    """Cannot be unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return refuse, ()


def refuse() -> None:
    raise LookupError("no such thing here")


def raise_unreadable() -> None:
    raise UnreadableError(1, 2)


def refusing() -> Refuses:
    return Refuses()


def own_rank() -> int:
    return here().rank


def objects_here() -> int:
    return here().object_count


async def rank_later() -> int:
    await asyncio.sleep(0)
    return here().rank


def serve_as(rank: int, group: corymb.RemoteGroup) -> None:
    """The body of another thread or process."""

    async def body() -> None:
        async with group.join(rank):
            pass

    asyncio.run(body())


def serve_plainly_as(rank: int, group: corymb.RemoteGroup) -> None:
    with group.join(rank):
        pass


def serve_opened(rank: int, descriptor: int) -> None:
    serve_as(rank, corymb.RemoteGroup.open(descriptor))


def call_for_long(descriptor: int) -> None:
    """As rank 1: has rank 0 run something long, and never ends."""

    async def body() -> None:
        async with corymb.RemoteGroup.open(descriptor).join(1) as own:
            counter = await own.create(0, Counter)
            await own.at(0, note, counter)
            await counter.slow(3600)

    asyncio.run(body())


NOTED: list[Any] = []


def note(thing: Any) -> None:
    NOTED.append(thing)
