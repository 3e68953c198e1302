# SPDX-License-Identifier: Apache-2.0
"""Active messages and global addresses in Python, among threads and processes."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import weakref
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from limits import LIMIT_S, is_refused, wait_for

import corymb

SQUARE, FAIL, STOP = 1, 2, 3


def square(source: int, argument: bytes) -> bytes:
    return (int.from_bytes(argument, "little") ** 2).to_bytes(8, "little")


def fail(source: int, argument: bytes) -> None:
    raise ValueError(f"no more {argument.decode()}")


def pair(**options: int) -> tuple[corymb.ActiveMessages, corymb.ActiveMessages]:
    group = corymb.MailboxGroup(2, **options)  # type: ignore[arg-type]
    return corymb.ActiveMessages(group.join(0)), corymb.ActiveMessages(group.join(1))


@contextmanager
def serving(active: corymb.ActiveMessages) -> Iterator[None]:
    stop = threading.Event()

    def serve() -> None:
        while not stop.is_set():
            active.serve(0.05)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(LIMIT_S)


def code_of(wrong: Callable[[], object]) -> str:
    with pytest.raises(corymb.Error) as caught:
        wrong()
    return caught.value.code


def test_a_handler_runs_there_and_its_answer_comes_back() -> None:
    one, other = pair()
    assert (one.rank, other.rank, one.size, one.bytes_max) == (0, 1, 2, 40)
    other.on(SQUARE, square)
    call = one.call(1, SQUARE, (12).to_bytes(2, "little"))
    assert not call.test()
    with pytest.raises(corymb.Error, match="rank 1 has not answered") as caught:
        call.wait(0.02)
    assert (caught.value.code, list(caught.value.ranks)) == ("timeout", [1])
    assert other.poll() == 1
    assert call.test()
    assert call.wait(LIMIT_S) == (144).to_bytes(8, "little")
    assert code_of(lambda: call.wait(LIMIT_S)) == "invalid_argument"  # The answer comes once.


def test_what_a_handler_raises_reaches_the_caller() -> None:
    one, other = pair()
    other.on(FAIL, fail)
    other.on(4, lambda source, argument: "no buffer")
    other.on(5, lambda source, argument: b"x" * 41)
    with serving(other):
        with pytest.raises(RuntimeError, match="rank 1: ValueError: no more ink"):
            one.call(1, FAIL, b"ink").wait(LIMIT_S)
        with pytest.raises(RuntimeError, match="rank 1: answer must have"):
            one.call(1, 4).wait(LIMIT_S)
        assert code_of(lambda: one.call(1, 5).wait(LIMIT_S)) == "invalid_argument"
        assert code_of(lambda: one.call(1, 6).wait(LIMIT_S)) == "invalid_argument"


def test_what_is_wrong_is_said() -> None:
    short = corymb.MailboxGroup(1, message_bytes=16).join(0)
    assert code_of(lambda: corymb.ActiveMessages(short)) == "invalid_argument"
    assert short.send(0, b"still open")
    box = corymb.MailboxGroup(2).join(0)
    assert code_of(lambda: corymb.ActiveMessages(box, deadline=-1)) == "invalid_argument"
    own = corymb.ActiveMessages(box, deadline=0.05)
    assert box.rank == -1  # It is taken over.
    assert code_of(lambda: own.call(2, 1)) == "invalid_argument"
    assert code_of(lambda: own.call(1, 1, b"x" * 41)) == "invalid_argument"
    assert code_of(lambda: own.serve(-1)) == "invalid_argument"
    assert code_of(lambda: own.on(0xFF00, square)) == "invalid_argument"
    with pytest.raises(TypeError):
        own.on(1, None)  # type: ignore[arg-type]

    def call_for_ever() -> None:
        while True:
            own.call(1, 1)

    assert code_of(call_for_ever) == "timeout"  # Nobody makes room.
    own.close()
    own.close()
    assert code_of(own.poll) == "invalid_argument"


def test_a_handler_may_begin_calls_but_not_wait_or_close() -> None:
    one, other = pair()
    codes: list[str] = []

    def meddle(source: int, argument: bytes) -> None:
        codes.extend(code_of(use) for use in (other.poll, other.close))
        codes.append(code_of(lambda: other.on(STOP, square)))
        other.call(0, SQUARE, b"\2")

    seen: list[bytes] = []
    one.on(SQUARE, lambda source, argument: seen.append(argument))
    other.on(STOP, meddle)
    with serving(other):
        for _ in range(2):  # The handler is still there.
            one.call(1, STOP).wait(LIMIT_S)
    while len(seen) < 2:
        one.serve(LIMIT_S)
    assert (codes, seen) == (["invalid_argument"] * 6, [b"\2"] * 2)


def test_two_threads_cannot_use_a_rank_at_once() -> None:
    one, other = pair()
    call = one.call(1, STOP)
    with serving(other):
        wait_for(lambda: is_refused(other.poll, "another thread"))
        dropped = [one.call(1, SQUARE) for _ in range(20)]
        del dropped
        assert code_of(lambda: call.wait(LIMIT_S)) == "invalid_argument"  # No such handler.


def test_memory_is_used_through_addresses() -> None:
    one, other = pair()
    numbers = array("i", [1, 2, 3])
    first = other.offer(numbers)
    at = first + 2 * numbers.itemsize
    assert first
    assert not corymb.GlobalAddress()
    assert corymb.GlobalAddress.from_bytes(bytes(at)) == at != first
    assert len({at, corymb.GlobalAddress.from_bytes(bytes(at)), first}) == 2
    assert first < at
    three, five = array("i", [3]).tobytes(), array("i", [5]).tobytes()
    with serving(other):
        assert one.get(at, 4) == three
        assert one.compare_exchange(at, five, three) == three
        assert one.compare_exchange(at, three, five) == three
        one.put(first, five)
        assert list(numbers) == [5, 2, 5]
        assert code_of(lambda: one.get(at, 5)) == "invalid_argument"
        assert code_of(lambda: one.put(at, b"x" * 25)) == "invalid_argument"
        assert code_of(lambda: one.get(corymb.GlobalAddress(), 1)) == "invalid_argument"
        assert code_of(lambda: one.compare_exchange(at, b"x", b"")) == "invalid_argument"
    assert code_of(lambda: one.withdraw(first)) == "invalid_argument"
    with pytest.raises(BufferError):
        numbers.append(4)
    other.withdraw(first)
    numbers.append(4)
    with serving(other):
        with pytest.raises(corymb.Error, match="withdrawn"):
            one.get(at, 4)
        with pytest.raises((TypeError, corymb.Error)):
            one.offer(b"read-only")
    assert code_of(lambda: corymb.GlobalAddress.from_bytes(b"short")) == "mismatch"


def test_an_owner_whose_method_is_a_handler_is_collected() -> None:
    class Worker:
        def __init__(self, box: corymb.Mailbox) -> None:
            self.own = corymb.ActiveMessages(box)
            self.own.on(SQUARE, self.work)
            self.own.on(SQUARE, self.work)

        def work(self, source: int, argument: bytes) -> bytes:
            return b"done"

    group = corymb.MailboxGroup(2)
    worker, one = Worker(group.join(1)), corymb.ActiveMessages(group.join(0))
    gone = weakref.ref(worker)
    gc.collect()
    call = one.call(1, SQUARE)
    worker.own.poll()
    assert call.wait(LIMIT_S) == b"done"
    late = one.call(1, SQUARE)
    del worker
    gc.collect()
    assert gone() is None
    with pytest.raises(corymb.Error, match="rank 1 has closed"):
        late.wait(LIMIT_S)


def serve_until_killed(descriptor: int) -> None:
    own = corymb.ActiveMessages(corymb.MailboxGroup.open(descriptor).join(1))
    own.on(SQUARE, square)
    while True:
        own.serve(1)


def test_a_rank_of_another_process_that_is_killed() -> None:
    group = corymb.MailboxGroup(2, between_processes=True)
    descriptor = group.make_descriptor()
    child = multiprocessing.get_context("fork").Process(
        target=serve_until_killed, args=(descriptor,)
    )
    child.start()
    try:
        own = corymb.ActiveMessages(group.join(0))
        assert own.call(1, SQUARE, b"\3").wait(LIMIT_S)[0] == 9
        assert child.pid is not None
        os.kill(child.pid, signal.SIGSTOP)
        call = own.call(1, SQUARE, b"\3")
        child.kill()
        with pytest.raises(corymb.Error, match=f"pid {child.pid}") as caught:
            call.wait(LIMIT_S)
        assert (caught.value.code, list(caught.value.ranks)) == ("team_broken", [1])
    finally:
        child.kill()
        child.join(LIMIT_S)
        os.close(descriptor)


def test_ctrl_c_ends_a_wait() -> None:
    one, _other = pair()
    call = one.call(1, SQUARE)
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        call.wait(LIMIT_S)
    timer.join()
