# SPDX-License-Identifier: Apache-2.0
"""Acknowledged multicast in Python, among threads and among processes."""

from __future__ import annotations

import doctest
import gc
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import weakref
from array import array
from collections.abc import Callable

import pytest
from limits import LIMIT_S, is_refused, wait_for

import corymb
import corymb.multicast


def test_the_examples() -> None:
    result = doctest.testmod(corymb.multicast)
    assert result.attempted > 8
    assert result.failed == 0


def code_of(wrong: Callable[[], object]) -> str:
    with pytest.raises(corymb.Error) as caught:
        wrong()
    return caught.value.code


def reduce_of(ranks: int) -> corymb.Plan:
    machine = corymb.Machine.gallery("smelt-e5v2-2x10")
    return corymb.make_plan(
        machine, "reduce", placement=list(range(ranks)), root=0, algorithm="chain"
    ).plan


@pytest.mark.parametrize("acknowledgement", ["counters", "messages", "gather"])
def test_every_member_runs_it_once(acknowledgement: str) -> None:
    gather = reduce_of(3) if acknowledgement == "gather" else None
    group = corymb.MulticastGroup(
        3, topology="split", fan_out=1, acknowledgement=acknowledgement, gather=gather
    )
    assert (group.size, group.members) == (3, 0)
    assert "split by 1" in group.topology
    assert ("by messages" in group.topology) == (acknowledgement == "messages")
    assert ("up the tree of the plan 'chain'" in group.topology) == (acknowledgement == "gather")
    ran: list[int] = []
    joined, stop = threading.Barrier(3), threading.Event()

    def member(rank: int) -> None:
        with group.initiator(rank) as own:
            own.join()
            joined.wait(LIMIT_S)
            while not stop.is_set():
                own.sleep(0.05)
            own.leave()

    threads = [threading.Thread(target=member, args=(rank,)) for rank in (1, 2)]
    for thread in threads:
        thread.start()
    with group.initiator(0) as own:
        joined.wait(LIMIT_S)
        for number in range(50):
            token = own.call(lambda number=number: ran.append(number))
            token.wait(LIMIT_S)
            assert token.members == 2
            assert ran == sorted([*range(number + 1)] * 2)
        stop.set()
    for thread in threads:
        thread.join(LIMIT_S)
    assert group.members == 0
    assert code_of(own.poll) == "invalid_argument"  # It is closed.


def test_messages_handlers_and_exceptions() -> None:
    group = corymb.MulticastGroup(2, topology="flat")
    seen: list[bytes] = []
    me, member = group.initiator(0), group.initiator(1, seen.append)
    member.on(7, lambda message: seen.append(b"seven " + message))
    member.join()
    tokens = [me.send(b"abc"), me.send(array("i", [5]), 7), me.send(b"", 8)]
    assert member.poll() == 3
    tokens[0].wait(LIMIT_S)
    tokens[1].wait(LIMIT_S)
    assert seen == [b"abc", b"seven " + array("i", [5]).tobytes()]
    with pytest.raises(corymb.Error, match="no handler 8"):
        tokens[2].wait(LIMIT_S)
    tokens[2].wait(LIMIT_S)  # It was told.

    def fails() -> None:
        raise KeyError("no more paper")

    token = me.call(fails)
    assert member.sleep(LIMIT_S) == 1
    assert token.test()
    with pytest.raises(KeyError, match="no more paper"):
        token.wait(LIMIT_S)
    token.wait(LIMIT_S)


def test_what_is_wrong_is_said() -> None:
    assert code_of(lambda: corymb.MulticastGroup(0)) == "invalid_argument"
    assert code_of(lambda: corymb.MulticastGroup(2, topology="star")) == "unknown_name"
    assert code_of(lambda: corymb.MulticastGroup(2, acknowledgement="post")) == "unknown_name"
    assert code_of(lambda: corymb.MulticastGroup(2, acknowledgement="gather")) == "invalid_argument"
    assert code_of(lambda: corymb.MulticastGroup(2, wait="long")) == "unknown_name"
    assert code_of(lambda: corymb.MulticastGroup(2, topology="tree")) == "invalid_argument"
    assert code_of(lambda: corymb.MulticastGroup(2, calls=0)) == "invalid_argument"
    assert code_of(lambda: corymb.MulticastGroup(2, deadline=-1)) == "invalid_argument"
    group = corymb.MulticastGroup(2)
    me = group.initiator(0)
    assert code_of(lambda: group.initiator(0)) == "invalid_argument"
    assert code_of(lambda: group.initiator(2)) == "invalid_argument"
    assert code_of(group.make_descriptor) == "invalid_argument"
    assert code_of(lambda: me.send(b"x" * 57)) == "invalid_argument"
    assert code_of(lambda: me.sleep(-1.0)) == "invalid_argument"
    for no_function in (None, 5):
        with pytest.raises(TypeError):
            me.call(no_function)  # type: ignore[arg-type]
    me.close()
    me.close()
    assert code_of(me.join) == "invalid_argument"
    assert group.initiator(0).rank == 0  # It is free again.


def test_a_call_must_not_use_the_group() -> None:
    group = corymb.MulticastGroup(2)
    me = group.initiator(0)
    me.join()
    codes: list[str] = []

    def meddle() -> None:
        codes.extend(code_of(use) for use in (me.poll, me.leave, me.close, lambda: me.call(print)))

    me.call(meddle).wait(LIMIT_S)
    assert codes == ["invalid_argument"] * 4


def test_late_members_and_monitors() -> None:
    group = corymb.MulticastGroup(3)
    me, member = group.initiator(0), group.initiator(2)
    member.join()
    token = me.call(lambda: None)
    (call,) = group.under_way()
    assert (call.initiator, call.members, [late.rank for late in call.late]) == (0, 1, [2])
    with pytest.raises(corymb.Error, match="rank 2 has not polled") as caught:
        token.wait(0.01)
    assert (caught.value.code, list(caught.value.ranks)) == ("timeout", [2])
    assert not token.test()
    (late,) = token.late()
    assert (late.state, late.pid) == ("told", 0)
    assert 0.01 <= late.seconds < LIMIT_S
    assert member.poll() == 1
    token.wait(LIMIT_S)
    assert (group.under_way(), token.late()) == ([], [])


def test_two_threads_cannot_use_a_rank_at_once() -> None:
    group = corymb.MulticastGroup(2)
    member, me = group.initiator(1), group.initiator(0)
    member.join()
    ran: list[int] = []
    sleeper = threading.Thread(target=lambda: ran.append(member.sleep(LIMIT_S)))
    sleeper.start()
    wait_for(lambda: is_refused(member.poll, "in use"))
    me.call(lambda: None).wait(LIMIT_S)
    sleeper.join(LIMIT_S)
    assert ran == [1]


def test_functions_are_let_go() -> None:
    class Kept:
        def __call__(self, *arguments: object) -> None:
            pass

    group = corymb.MulticastGroup(2)
    handler, function = Kept(), Kept()
    gone = [weakref.ref(handler), weakref.ref(function)]
    me = group.initiator(0, handler)
    token = me.call(function)
    token.wait(LIMIT_S)
    del function, handler
    me.close()
    del token
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_an_owner_whose_methods_are_handlers_is_collected() -> None:
    class Worker:
        def __init__(self, group: corymb.MulticastGroup) -> None:
            self.seen: list[bytes] = []
            self.place = group.initiator(1, self.handle)
            self.place.on(7, self.handle)
            self.place.join()

        def handle(self, message: bytes) -> None:
            seen.append(message)
            self.seen.append(message)

    group = corymb.MulticastGroup(2)
    seen: list[bytes] = []
    worker = Worker(group)
    gone = weakref.ref(worker)
    me = group.initiator(0)
    gc.collect()
    token = me.send(b"before", 7)
    assert worker.place.poll() == 1
    token.wait(LIMIT_S)
    token = me.send(b"last", 7)  # Who leaves still runs it.
    del worker
    gc.collect()
    assert gone() is None
    token.wait(LIMIT_S)
    assert (seen, group.members) == ([b"before", b"last"], 0)
    assert group.initiator(1).rank == 1  # It is free again.


def test_a_program_may_end_with_all_it_holds() -> None:
    program = """
import corymb
op = corymb.Op.Create(lambda one, other, kind: None)
group = corymb.MulticastGroup(2)
me = group.initiator(0, lambda message: None)
me.join()
token = me.call(lambda: None)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_in_a_function_is_raised_in_its_thread() -> None:
    group = corymb.MulticastGroup(2)
    me, member = group.initiator(0), group.initiator(1)
    member.join()

    def interrupted() -> None:
        raise KeyboardInterrupt

    def poll_and_go_on() -> None:
        member.poll()
        time.sleep(LIMIT_S)

    token = me.call(interrupted)
    with pytest.raises(KeyboardInterrupt):
        poll_and_go_on()
    assert code_of(lambda: token.wait(LIMIT_S)) == "interrupted"


def serve(descriptor: int) -> None:
    with corymb.MulticastGroup.open(descriptor).initiator(1) as own:
        messages: list[bytes] = []
        own.on(1, messages.append)

        def fails(message: bytes) -> None:
            raise ValueError(f"no more {message.decode()}")

        own.on(2, fails)
        own.join()
        wait_for(lambda: own.sleep(0.1) >= 0 and b"stop" in messages)


def idle(descriptor: int) -> None:
    with corymb.MulticastGroup.open(descriptor).initiator(1) as own:
        own.join()
        time.sleep(2 * LIMIT_S)


def child_member(
    group: corymb.MulticastGroup, work: Callable[[int], None], descriptor: int
) -> multiprocessing.process.BaseProcess:
    child = multiprocessing.get_context("fork").Process(target=work, args=(descriptor,))
    child.start()
    wait_for(lambda: group.members)
    return child


def test_members_of_other_processes_and_one_that_is_killed() -> None:
    group = corymb.MulticastGroup(2, between_processes=True)
    descriptor = group.make_descriptor()
    me = group.initiator(0)
    assert code_of(lambda: me.call(print)) == "invalid_argument"
    child = child_member(group, serve, descriptor)
    try:
        with pytest.raises(RuntimeError, match=rf"pid {child.pid}.*ValueError: no more ink"):
            me.send(b"ink", 2).wait(LIMIT_S)
        me.send(b"stop", 1).wait(LIMIT_S)
        child.join(LIMIT_S)
        assert child.exitcode == 0
        child = child_member(group, idle, descriptor)
        token = me.send(b"", 1)
        with pytest.raises(corymb.Error, match=f"pid {child.pid}"):
            token.wait(0.02)
        child.kill()
        child.join(LIMIT_S)
        with pytest.raises(corymb.Error, match=f"pid {child.pid}. has ended") as caught:
            token.wait(LIMIT_S)
        assert (caught.value.code, list(caught.value.ranks)) == ("team_broken", [1])
    finally:
        child.kill()
        child.join(LIMIT_S)
        os.close(descriptor)
