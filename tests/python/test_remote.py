# SPDX-License-Identifier: Apache-2.0
"""Objects on other ranks in Python, among threads: with event loops and without."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from limits import LIMIT_S
from remote_things import (
    Counter,
    Refuses,
    own_rank,
    raise_unreadable,
    rank_later,
    refusing,
    serve_as,
    serve_plainly_as,
)

import corymb
from corymb.errors import RemoteTraceback
from corymb.remote import Proxy, RemoteCall, RemoteRank, here


@contextmanager
def beside(
    size: int, body: Callable[[int, corymb.RemoteGroup], None] = serve_as, **options: Any
) -> Iterator[RemoteRank]:
    """Rank 0 of threads that serve, without an event loop of its own."""
    group = corymb.RemoteGroup(size, **options)
    threads = [threading.Thread(target=body, args=(rank, group)) for rank in range(1, size)]
    for thread in threads:
        thread.start()
    try:
        with group.join(0) as own:
            yield own
    finally:
        for thread in threads:
            thread.join(LIMIT_S)


def in_loops(*bodies: Callable[[RemoteRank], Awaitable[None]], **options: Any) -> None:
    """Each body is a rank; all are tasks of one event loop."""

    async def everything() -> None:
        group = corymb.RemoteGroup(len(bodies), **options)

        async def one(rank: int) -> None:
            async with group.join(rank) as own:
                await bodies[rank](own)

        await asyncio.wait_for(asyncio.gather(*map(one, range(len(bodies)))), LIMIT_S)

    asyncio.run(everything())


async def serves(own: RemoteRank) -> None:
    pass


def code_of(wrong: Callable[[], object]) -> str:
    with pytest.raises(corymb.Error) as caught:
        wrong()
    return caught.value.code


@pytest.mark.parametrize("body", [serve_as, serve_plainly_as])
def test_objects_are_made_and_called(body: Callable[[int, corymb.RemoteGroup], None]) -> None:
    with beside(3, body) as own:
        assert (own.rank, own.size) == (0, 3)
        counter = own.create(1, Counter, 40, step=2).wait(LIMIT_S)
        assert counter.add(1).wait(LIMIT_S) == 42
        assert own.call(counter, Counter.add, by=1).wait(LIMIT_S) == 44
        assert counter.rank().wait(LIMIT_S) == 1
        assert own.at(2, own_rank).wait(LIMIT_S) == 2
        assert own.at(0, own_rank).wait(LIMIT_S) == 0  # Its own rank serves while it waits.
        assert own.at(2, max, [1, 5], key=lambda x: -x).wait(LIMIT_S) == 1
        with pytest.raises(AttributeError, match="no_such"):
            counter.no_such().wait(LIMIT_S)
        with pytest.raises(AttributeError, match="private"):
            counter._hidden()
        own.destroy(counter).wait(LIMIT_S)
        assert code_of(lambda: counter.value().wait(LIMIT_S)) == "invalid_argument"
    with pytest.raises(LookupError):
        here()


def test_calls_begin_at_once_and_are_waited_for_in_any_order() -> None:
    with beside(2) as own:
        counter = own.create(1, Counter).wait(LIMIT_S)
        calls = [counter.add(1) for _ in range(200)]
        assert [call.wait(LIMIT_S) for call in reversed(calls)] == list(range(200, 0, -1))
        assert all(call.done() for call in calls)
        late = counter.slow(3600)
        assert code_of(lambda: late.wait(0.02)) == "timeout"
        late.cancel()
        assert code_of(late.wait) == "interrupted"
        while counter.cancellations().wait(LIMIT_S) != (1, 1):
            pass


def test_asynchronous_methods_are_tasks_that_may_call_back() -> None:
    async def calls(own: RemoteRank) -> None:
        mine = own.offer(Counter(1))
        there = await own.create(1, Counter, 10)
        slow = there.slow(0.05)
        assert await there.add(5) == 15  # While the slow one waits.
        assert await slow == 15
        assert await there.add_at(mine, 3) == 4
        assert own.local(mine) is not None
        assert own.local(there) is None
        assert await own.at(1, rank_later) == 1
        assert await asyncio.gather(*(there.add(1) for _ in range(50))) == list(range(16, 66))

    in_loops(calls, serves)


def test_a_cancelled_task_cancels_the_method() -> None:
    async def calls(own: RemoteRank) -> None:
        there = await own.create(1, Counter)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(there.slow(3600), 0.02)
        while await there.cancellations() != (1, 1):
            pass
        if sys.version_info >= (3, 11):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await there.slow(3600)
        assert await there.value() == 0

    in_loops(calls, serves)


def test_exceptions_come_with_the_traceback_of_their_rank() -> None:
    with beside(2) as own:
        counter = own.create(1, Counter).wait(LIMIT_S)
        with pytest.raises(ValueError, match="no ink") as caught:
            counter.fail("no ink").wait(LIMIT_S)
        assert isinstance(caught.value.__cause__, RemoteTraceback)
        assert "in fail" in str(caught.value.__cause__)
        with pytest.raises(RuntimeError, match="UnreadableError: 1 and 2"):
            own.at(1, raise_unreadable).wait(LIMIT_S)


def test_what_cannot_be_pickled_is_said() -> None:
    with beside(2) as own:
        counter = own.create(1, Counter).wait(LIMIT_S)
        with pytest.raises(pickle.PicklingError, match=r"the call of add cannot be pickled.*lock"):
            counter.add(threading.Lock())
        with pytest.raises(pickle.PicklingError, match="result of the call cannot be pickled"):
            counter.lock().wait(LIMIT_S)
        with pytest.raises(corymb.Error, match=r"rank 1 cannot unpickle a call of rank 0.*no such"):
            counter.add(Refuses()).wait(LIMIT_S)
        with pytest.raises(corymb.Error, match="cannot be unpickled: LookupError") as caught:
            own.at(1, refusing).wait(LIMIT_S)
        assert caught.value.code == "mismatch"
        assert counter.value().wait(LIMIT_S) == 0


def test_code_travels_by_cloudpickle_if_it_must(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cloudpickle")
    by = 3

    class Local:
        def times(self, number: int) -> int:
            return number * by

    with beside(2) as own:
        assert own.at(1, lambda x: x + by, 4).wait(LIMIT_S) == 7
        assert own.create(1, Local).wait(LIMIT_S).times(5).wait(LIMIT_S) == 15
        monkeypatch.setitem(sys.modules, "cloudpickle", None)
        with pytest.raises(pickle.PicklingError, match="pip install cloudpickle"):
            own.at(1, lambda x: x + by, 4)


def test_tells_are_finished_and_posts_are_not() -> None:
    with beside(2) as own:
        counter = own.create(1, Counter).wait(LIMIT_S)
        for _ in range(20):
            counter.add.tell(1)
        own.tell(1, own_rank)
        own.finish().wait(LIMIT_S)
        assert counter.value().wait(LIMIT_S) == 20
        counter.fail.tell("told")
        with pytest.raises(ValueError, match="told"):
            own.finish().wait(LIMIT_S)
        counter.fail.post("nobody learns of it")
        own.post(1, own_rank)
        counter.add.post(1)
        assert counter.value().wait(LIMIT_S) == 21  # Calls of one rank come in their order.
    with pytest.raises(ValueError, match="at the end"), beside(2) as own:
        own.create(1, Counter).wait(LIMIT_S).fail.tell("at the end")


def test_arrays_are_copied_once_into_memory_of_their_own() -> None:
    numpy = pytest.importorskip("numpy")
    before = len(os.listdir("/proc/self/fd"))
    array = numpy.arange(1 << 20, dtype="f8")
    with beside(2) as own:
        assert own.at(1, numpy.sum, array).wait(LIMIT_S) == array.sum()
        doubled = own.at(1, numpy.add, array, array).wait(LIMIT_S)
        assert (doubled == 2 * array).all()
        doubled[0] = 7  # It is the caller's.
        small = own.at(1, numpy.add, array[:10], 1).wait(LIMIT_S)
        assert (small == array[:10] + 1).all()
        text = "x" * 300_000
        assert own.at(1, str.upper, text).wait(LIMIT_S) == text.upper()
        own.post(1, numpy.sum, array)
    del doubled
    assert len(os.listdir("/proc/self/fd")) <= before


def test_functions_with_names_take_and_give_bytes() -> None:
    async def offers(own: RemoteRank) -> None:
        async def later(source: int, argument: bytes) -> bytes:
            await asyncio.sleep(0)
            return bytes([source]) + argument

        own.offer_function("later", later)
        own.offer_function("upper", lambda source, argument: argument.upper())
        own.offer_function("nothing", lambda source, argument: None)
        own.offer_function("wrong", lambda source, argument: 1 / 0)
        own.offer_function("gone", later)
        own.withdraw_function("gone")

    async def calls(own: RemoteRank) -> None:
        await asyncio.sleep(0)  # The other one offers first.
        assert await own.call_function(0, "upper", bytearray(b"abc")) == b"ABC"
        assert await own.call_function(0, "later", b"!") == b"\1!"
        assert await own.call_function(0, "nothing") == b""
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            await own.call_function(0, "wrong")
        for name in ("gone", "uper"):
            with pytest.raises(corymb.Error, match="rank 0 offers no function") as caught:
                await own.call_function(0, name)
            assert (caught.value.code, caught.value.ranks) == ("unknown_name", [0])

    in_loops(offers, calls)


def test_proxies_travel_and_foreign_ones_are_refused() -> None:
    with beside(3) as own, beside(2) as other:
        counter = own.create(1, Counter, 5).wait(LIMIT_S)
        adder = own.create(2, Counter).wait(LIMIT_S)
        assert adder.add_at(counter, 4).wait(LIMIT_S) == 9
        back = own.at(2, lambda proxy: proxy, counter).wait(LIMIT_S)
        assert back == counter
        assert len({back, counter, adder}) == 2
        foreign: Proxy[Counter] = Proxy(other, *pickle_place(counter))
        assert code_of(lambda: foreign.value().wait(LIMIT_S)) == "invalid_argument"
    data = pickle.dumps(counter)
    with pytest.raises(corymb.Error, match="on a rank of its group only"):
        pickle.loads(data)


def pickle_place(proxy: Proxy[Any]) -> tuple[int, int]:
    place: tuple[int, int] = proxy.__reduce__()[1]
    return place


def test_mistakes_are_refused() -> None:
    with beside(2, serve_plainly_as) as own:
        counter = own.create(1, Counter).wait(LIMIT_S)
        with pytest.raises(corymb.Error, match="no event loop") as caught:
            counter.slow(0).wait(LIMIT_S)
        assert (caught.value.code, caught.value.ranks) == ("unsupported", [1])
        assert code_of(lambda: own.at(2, own_rank)) == "invalid_argument"
        assert code_of(lambda: counter.value().wait(-1)) == "invalid_argument"

    async def waits(own: RemoteRank) -> None:
        call = own.at(0, own_rank)
        with pytest.raises(corymb.Error, match="await the call"):
            call.wait()
        assert await call == 0

    in_loops(waits)
    assert code_of(lambda: own.at(1, own_rank)) == "invalid_argument"  # It has left.


def test_a_rank_that_leaves_by_an_exception_is_named() -> None:
    group = corymb.RemoteGroup(2)

    def leave() -> None:
        with suppress(ZeroDivisionError), group.join(1) as own:
            own.serve(LIMIT_S)
            raise ZeroDivisionError

    thread = threading.Thread(target=leave)
    thread.start()
    with group.join(0) as own:
        own.post(1, own_rank)
        thread.join(LIMIT_S)
        with pytest.raises(corymb.Error) as caught:
            own.at(1, own_rank).wait(LIMIT_S)
        assert (caught.value.code, caught.value.ranks) == ("team_broken", [1])


def test_ctrl_c_ends_a_wait() -> None:
    with beside(2) as own:
        call: RemoteCall[int] = own.create(1, Counter).wait(LIMIT_S).slow(3600)
        timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            call.wait(LIMIT_S)
        timer.join()
        call.cancel()


def test_the_package_loads_neither_asyncio_nor_numpy() -> None:
    text = (
        "import sys, corymb\n"
        "assert not {'asyncio', 'numpy'} & sys.modules.keys()\n"
        "assert corymb.RemoteGroup is corymb.remote.RemoteGroup\n"
        "assert {'RemoteGroup', 'remote'} <= set(dir(corymb))\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
