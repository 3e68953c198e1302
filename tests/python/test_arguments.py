# SPDX-License-Identifier: Apache-2.0
"""Groups, descriptors and models as arguments of other processes; texts of objects; counts and
types as numpy has them."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from limits import LIMIT_S, wait_for
from thread_ranks import on_threads

import corymb
from corymb import Team

# Arguments of processes
# --------------------------------------------------------------------------------------------------


def receive(group: corymb.MailboxGroup | int) -> None:
    if isinstance(group, int):
        group = corymb.MailboxGroup.open(group)
    box = group.join(1)
    box.wait(seconds=LIMIT_S)
    (_, message), *_ = box.receive()
    box.send(0, message.upper())


def read(ring: corymb.BroadcastRing) -> None:
    reader = ring.reader()
    reader.wait(seconds=LIMIT_S)
    assert reader.receive()[0][1] == b"hello"


def be_called(group: corymb.MulticastGroup) -> None:
    got: list[bytes] = []
    place = group.initiator(1, got.append)
    place.join()
    while not got:
        place.sleep(1)
        place.poll()
    place.close()


def attach(descriptor: int, rank: int) -> None:
    assert corymb.attach(rank=rank, descriptor=descriptor).allreduce(1) == 2


def open_memory() -> int:
    links = []
    for link in Path("/proc/self/fd").iterdir():
        try:
            links.append(os.readlink(link))
        except OSError:
            continue
    return sum("memfd" in link for link in links)


@pytest.mark.parametrize(
    ("method", "what"),
    [("spawn", "group"), ("forkserver", "group"), ("spawn", "number"), ("fork", "number")],
)
def test_a_group_or_its_descriptor_is_an_argument(method: str, what: str) -> None:
    before = open_memory()
    group = corymb.MailboxGroup(2, between_processes=True)
    number = group.make_descriptor()
    box = group.join(0)
    argument = group if what == "group" else number
    child = multiprocessing.get_context(method).Process(target=receive, args=(argument,))
    child.start()
    box.send(1, b"hello")
    assert box.wait(seconds=LIMIT_S)
    assert box.receive() == [(1, b"HELLO")]
    child.join()
    assert child.exitcode == 0
    child.close()
    os.close(number)
    del group, argument, box, child
    assert open_memory() <= before


@pytest.mark.parametrize("kind", ["ring", "multicast"])
def test_other_groups_are_arguments(kind: str) -> None:
    context = multiprocessing.get_context("spawn")
    if kind == "ring":
        ring = corymb.BroadcastRing(between_processes=True)
        child = context.Process(target=read, args=(ring,))
        publisher = ring.publisher()
        child.start()
        wait_for(lambda: bool(ring.readers()))
        publisher.publish(b"hello")
    else:
        group = corymb.MulticastGroup(2, between_processes=True)
        child = context.Process(target=be_called, args=(group,))
        place = group.initiator(0, lambda message: None)
        child.start()
        wait_for(lambda: group.members > 0)
        place.send(b"hello").wait(seconds=LIMIT_S)
    child.join()
    assert child.exitcode == 0


def receive_by_name(name: str) -> None:
    receive(corymb.MailboxGroup(2, name=name))


def test_groups_meet_by_name() -> None:
    name = f"corymb-test-{os.getpid()}-python"
    group = corymb.MailboxGroup(2, name=name)
    child = multiprocessing.get_context("spawn").Process(target=receive_by_name, args=(name,))
    child.start()
    box = group.join(0)
    box.send(1, b"hello")
    assert box.wait(seconds=LIMIT_S)
    assert box.receive() == [(1, b"HELLO")]
    child.join()
    assert child.exitcode == 0
    with pytest.raises(corymb.Error, match="of a group of mailboxes"):
        corymb.BroadcastRing(name=name)
    ring = corymb.BroadcastRing(name=f"{name}-ring")
    with ring.publisher() as publisher:
        reader = corymb.BroadcastRing(name=f"{name}-ring").reader()
        publisher.publish(b"hello")
        assert reader.receive()[0][1] == b"hello"
    places = corymb.MulticastGroup(2, name=f"{name}-multicast")
    got: list[bytes] = []
    member = corymb.MulticastGroup(2, name=f"{name}-multicast").join(1, got.append)
    token = places.initiator(0).send(b"hello")
    member.poll()
    token.wait(seconds=LIMIT_S)
    assert got == [b"hello"]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_descriptor_of_a_team_is_an_argument(method: str) -> None:
    descriptor = corymb.make_team_descriptor(2)
    context = multiprocessing.get_context(method)
    children = [context.Process(target=attach, args=(descriptor, rank)) for rank in (0, 1)]
    for child in children:
        child.start()
    for child in children:
        child.join()
        assert child.exitcode == 0
    os.close(descriptor)


def take(queue: Any, answers: Any) -> None:
    box = queue.get().join(1)
    box.wait(seconds=LIMIT_S)
    answers.put(box.receive())


def test_a_group_goes_through_a_queue() -> None:
    context = multiprocessing.get_context("spawn")
    queue, answers = context.Queue(), context.Queue()
    child = context.Process(target=take, args=(queue, answers))
    child.start()
    group = corymb.MailboxGroup(2, between_processes=True)
    group.join(0).send(1, b"late")
    queue.put(group)
    assert answers.get(timeout=LIMIT_S) == [(0, b"late")]
    child.join()


def test_a_group_of_threads_says_why_not() -> None:
    with pytest.raises(corymb.Error, match="between_processes"):
        pickle.dumps(corymb.MailboxGroup(2))


def test_models_are_pickled_and_copied() -> None:
    machine = corymb.Machine.gallery("scc-48c")
    choice = corymb.make_plan(machine, "broadcast", root=0)
    for thing in (machine, choice.plan):
        for twin in (pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing)):
            assert twin.to_json() == thing.to_json()


# Texts
# --------------------------------------------------------------------------------------------------


def test_every_public_class_has_a_text() -> None:
    named = [getattr(corymb, name) for name in corymb.__all__]
    kinds = [value for value in named if isinstance(value, type)]
    assert len(kinds) > 30
    assert [kind for kind in kinds if kind.__repr__ is object.__repr__] == []


def test_texts_say_what_objects_are() -> None:
    group = corymb.MailboxGroup(2)
    box = group.join(1)
    assert "corymb.MailboxGroup size=2" in repr(group)
    assert "corymb.Mailbox rank=1" in repr(box)
    box.close()
    assert repr(box).startswith("<corymb.Mailbox")
    team = Team(corymb._core.ThreadTeam(1).join(0))
    assert repr(team.Ibarrier()).startswith("<corymb.Request active=")
    machine = corymb.Machine.gallery("scc-48c")
    assert "predicted=" in repr(corymb.make_plan(machine, "broadcast", root=0))


# Counts and types
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [list, tuple, np.array, lambda c: array("i", c), lambda c: np.array(c, "u2"), iter]
)
def test_counts_of_any_sequence(make: Any) -> None:
    def body(team: Team) -> list[float]:
        out, placed, spread = np.zeros(3), np.zeros(4), np.zeros(3)
        mine = np.full(team.rank + 1, float(team.rank))
        team.Allgatherv(mine, [out, make([1, 2])])
        team.Allgatherv(mine, [placed, make([1, 2]), make([3, 0])])
        team.Allgatherv(mine, [spread, (make([1, 2]), make([2, 0])), corymb.DOUBLE])
        return [*out, *placed, *spread]

    if make is iter:
        with pytest.raises(corymb.RankError, match="neither a count nor a sequence of counts"):
            on_threads(body, 2)
        return
    wanted = [0.0, 1, 1, 1, 1, 0, 0, 1, 1, 0]
    assert on_threads(body, 2) == [wanted] * 2


def test_counts_that_are_no_integers() -> None:
    team = Team(corymb._core.ThreadTeam(1).join(0))
    with pytest.raises(corymb.Error, match=r"recvbuf has a count .* no integer, .*1\.5"):
        team.Allgatherv(np.zeros(1), [np.zeros(1), np.array([1.5])])
    with pytest.raises(corymb.Error, match="negative"):
        team.Allgatherv(np.zeros(1), [np.zeros(1), np.array([-1])])
    team.Bcast([np.zeros(3), np.int64(2)])


@pytest.mark.parametrize("kind", [np.dtype("f8"), np.float64, np.dtype("=f8"), "d", corymb.DOUBLE])
def test_types_as_numpy_has_them(kind: Any) -> None:
    def body(team: Team) -> list[float]:
        data, out = np.full(2, team.rank + 1.0), np.zeros(2)
        team.Allreduce([data.view("u1"), kind], [out.view("u1"), 2, kind])
        return out.tolist()

    assert on_threads(body, 2) == [[3.0, 3.0]] * 2


def test_types_of_numpy_that_are_refused() -> None:
    team = Team(corymb._core.ThreadTeam(1).join(0))
    with pytest.raises(corymb.Error, match="Python objects"):
        team.Bcast([np.zeros(8, "u1"), np.dtype(object)])
    with pytest.raises(corymb.Error, match="no whole number of elements of 8 bytes"):
        team.Bcast([np.zeros(9, "u1"), np.dtype("f8")])
    with pytest.raises(corymb.Error, match="no operator combines"):
        team.Allreduce([np.zeros(8, "u1"), np.dtype(">f8")], [np.zeros(8, "u1"), np.dtype(">f8")])
