# SPDX-License-Identifier: Apache-2.0
"""Mailboxes and broadcast rings in Python, among threads and processes, and their simulation."""

from __future__ import annotations

import doctest
import json
import multiprocessing
import os
import threading
from array import array
from pathlib import Path

import numpy as np
import pytest
from conftest import Command
from limits import LIMIT_S, is_refused, wait_for

import corymb
import corymb.mailboxes
from corymb.command import bench_messages


def test_the_examples() -> None:
    result = doctest.testmod(corymb.mailboxes)
    assert result.attempted > 5
    assert result.failed == 0


@pytest.mark.parametrize("protocol", ["ring", "nvp", "srbp"])
def test_messages_of_every_kind_of_buffer(protocol: str) -> None:
    group = corymb.MailboxGroup(2, protocol=protocol, message_bytes=64, capacity=4)
    assert (group.size, group.protocol, group.reason) == (2, protocol, f"{protocol}: as asked for")
    with group.join(0) as one, group.join(1) as other:
        assert other.receive() == []
        assert one.send(1, b"abc")
        assert one.send(1, array("i", [1]))
        assert one.send(1, np.zeros(0))
        assert one.send_batch(1, [b"x", b"y", b"z"]) == 1
        assert not one.send(1, b"no room")
        assert other.wait(0)
        assert other.receive(most=1) == [(0, b"abc")]
        seen: list[tuple[int, bytes]] = []
        assert other.probe(lambda source, message: seen.append((source, message))) == 3
        assert seen == [(0, array("i", [1]).tobytes()), (0, b""), (0, b"x")]
        assert one.send(0, b"to myself")
        assert one.receive() == [(0, b"to myself")]
        assert group.memory > 0


def test_a_sender_waits_for_room() -> None:
    group = corymb.MailboxGroup(2, capacity=2)
    one, other = group.join(0), group.join(1)
    assert one.send_batch(1, [b"a", b"b"]) == 2
    assert not one.wait_for_room(1, seconds=0.01)
    assert not one.send(1, b"c", seconds=0.01)
    received: list[tuple[int, bytes]] = []

    def receive() -> None:
        while len(received) < 4:
            assert other.wait(seconds=LIMIT_S)
            received.extend(other.receive())

    thread = threading.Thread(target=receive)
    thread.start()
    assert one.send(1, b"c", seconds=None)
    assert one.wait_for_room(1)
    assert one.send(1, b"d", seconds=LIMIT_S)
    thread.join()
    assert [message for _, message in received] == [b"a", b"b", b"c", b"d"]
    with pytest.raises(corymb.Error, match="there is no rank 2"):
        one.wait_for_room(2, seconds=0)
    with pytest.raises(corymb.Error, match="at least 0"):
        one.wait_for_room(1, seconds=-1)


def test_a_callback_must_not_close_what_calls_it() -> None:
    group = corymb.MailboxGroup(2)
    one, other = group.join(0), group.join(1)
    assert one.send_batch(1, [b"a", b"b"]) == 2
    codes: list[str] = []

    def meddle(source: int, message: bytes) -> None:
        uses = (other.close, lambda: other.probe(print))
        for use in uses:
            with pytest.raises(corymb.Error) as caught:
                use()
            codes.append(caught.value.code)

    assert other.probe(meddle) == 2
    assert codes == ["invalid_argument"] * 4
    assert not one.has_left(1)
    other.close()
    assert one.has_left(1)


def test_what_is_wrong_is_said() -> None:
    group = corymb.MailboxGroup(2)
    one = group.join(0)
    for wrong in (
        lambda: corymb.MailboxGroup(0),
        lambda: group.join(0),
        lambda: group.join(2),
        lambda: one.send(2, b""),
        lambda: one.send(1, b"x" * 57),
        lambda: one.wait(-1.0),
        lambda: group.make_descriptor(),
    ):
        with pytest.raises(corymb.Error) as caught:
            wrong()
        assert caught.value.code == "invalid_argument"
    with pytest.raises(corymb.Error, match="no mailbox protocol 'rong'"):
        corymb.MailboxGroup(2, protocol="rong")
    with pytest.raises(TypeError):
        one.send(1, "text")
    other = group.join(1)
    assert one.send(1, b"1")
    assert one.send(1, b"2")

    def fails(source: int, message: bytes) -> None:
        raise KeyError(message)

    with pytest.raises(KeyError, match="1"):
        other.probe(fails)
    assert other.receive() == [(0, b"2")]  # The first one counts as received.
    other.close()
    assert other.rank == -1
    with pytest.raises(corymb.Error, match="rank 1 has closed its mailbox") as caught:
        one.send(1, b"")
    assert list(caught.value.ranks) == [1]
    again = group.join(1)
    assert one.send(1, b"3")
    assert again.receive() == [(0, b"3")]
    with pytest.raises(corymb.Error, match="empty"):
        other.receive()


def test_waiting_lets_other_threads_run_and_is_exclusive() -> None:
    group = corymb.MailboxGroup(2)
    one, other = group.join(0), group.join(1)
    begun, found = threading.Event(), []

    def wait() -> None:
        begun.set()
        found.append(other.wait(LIMIT_S))

    waiter = threading.Thread(target=wait)
    waiter.start()
    assert begun.wait(LIMIT_S)
    wait_for(lambda: is_refused(other.receive, "another thread waits"))
    assert one.send(1, b"go")
    waiter.join(LIMIT_S)
    assert found == [True]
    assert other.receive() == [(0, b"go")]


def echo(descriptor: int) -> None:
    with corymb.MailboxGroup.open(descriptor).join(1) as box:
        while True:
            assert box.wait(LIMIT_S)
            for source, message in box.receive():
                if message == b"stop":
                    return
                assert box.send(source, message * 2)


def test_mailboxes_of_two_processes_and_one_that_is_killed() -> None:
    group = corymb.MailboxGroup(3, between_processes=True)
    descriptor = group.make_descriptor()
    box = group.join(0)
    context = multiprocessing.get_context("fork")
    child = context.Process(target=echo, args=(descriptor,))
    child.start()
    try:
        assert box.send(1, b"ab")
        assert box.wait(LIMIT_S)
        assert box.receive() == [(1, b"abab")]
        child.kill()
        child.join(LIMIT_S)
        with pytest.raises(corymb.Error, match=f"pid {child.pid}") as caught:
            box.wait(LIMIT_S)
        assert caught.value.code == "team_broken"
    finally:
        child.kill()
        child.join(LIMIT_S)
        os.close(descriptor)


def read_to_the_end(reader: corymb.BroadcastReader) -> None:
    """What is there may still be read by who was dropped; then it is told."""
    for _ in range(10):
        reader.receive()


def test_broadcast_ring() -> None:
    ring = corymb.BroadcastRing(slots=4)
    publisher, blocks = ring.publisher(), ring.reader()
    overrun = ring.reader("overrun")
    assert (blocks.policy, overrun.policy) == ("block", "overrun")
    for value in range(4):
        publisher.publish(array("i", [value]))
    assert not publisher.try_publish(b"")
    late = rf"no room within its limit: reader {blocks.number} has read 0 messages"
    with pytest.raises(corymb.Error, match=late) as caught:
        publisher.publish(b"late", seconds=0.12)
    assert caught.value.code == "timeout"
    assert ring.readers()[0].lag == 4
    publisher.drop(blocks.number)
    publisher.publish(b"on", seconds=LIMIT_S)
    assert [info.reader for info in publisher.take_dropped()] == [blocks.number]
    numbers = [(number, missed) for number, _, missed in overrun.receive()]
    assert numbers[0][1] > 0
    assert numbers[-1][0] == publisher.published == overrun.last == 5
    with pytest.raises(corymb.Error) as caught:
        read_to_the_end(blocks)
    assert caught.value.code == "timeout"
    publisher.close()
    assert not overrun.wait(LIMIT_S)
    assert overrun.at_end
    with pytest.raises(corymb.Error, match="closed"):
        publisher.publish(b"")
    with pytest.raises(corymb.Error, match="no policy"):
        ring.reader("never")
    with pytest.raises(corymb.Error, match="publisher"):
        ring.publisher()


def test_the_choice_by_the_model() -> None:
    scc = corymb.Machine.gallery("scc-48c")
    assert scc.has_access_model
    choice = corymb.choose_mailbox(scc, 48)
    group = corymb.MailboxGroup(48, machine=scc)
    assert group.protocol == choice.protocol == "srbp"
    assert group.reason == choice.reason
    assert "simulated on scc-48c" in choice.reason
    assert corymb.choose_mailbox(scc, 48, with_srbp=False).protocol == "nvp"
    with pytest.raises(corymb.Error, match="tickets"):
        corymb.simulate_mailbox(scc, "srbp", tickets="free")


def test_round_trips_are_foreseen_where_there_is_a_model() -> None:
    def row(op: str, contestant: str, size: int) -> dict[str, object]:
        return {"op": op, "contestant": contestant, "size": size, "median_ns": 1000.0}

    rows = [
        row("round_trip", "mailbox ring", 8),
        row("round_trip", "mailbox srbp", 256),
        row("round_trip", "mailbox ring, processes", 8),
        row("round_trip", "boost spsc_queue", 8),
        row("stream", "mailbox ring", 8),
    ]
    machine = corymb.Machine.gallery("m1-ultra-20c")
    short, long = bench_messages.predictions(rows, machine)
    assert (short["protocol"], short["bytes"], short["measured_ns"]) == ("ring", 8, 1000.0)
    assert 0 < short["predicted_ns"] < long["predicted_ns"]
    assert bench_messages.predictions(rows, corymb.Machine.gallery("scc-48c")) == []


def test_sim_messages(corymb_call: Command, tmp_path: Path) -> None:
    out = tmp_path / "messages.json"
    result = corymb_call("sim", "messages", "--machine", "scc-48c", "--json", str(out))
    assert result.returncode == 0
    assert "DISAGREES" in result.stdout
    written = json.loads(out.read_text())
    assert written["schema"] == "corymb-sim-messages/1"
    assert written["simulated_on"] == "scc-48c"
    assert len(written["rows"]) == 10
    claims = {claim["claim"]: claim["agrees"] for claim in written["claims"]}
    assert claims["round trips below 2,000 cycles"] == "yes"
    assert claims["SRBP slower than NVP in collectives"] == "partly"
    assert len(claims) == 6
    few = corymb_call("sim", "messages", "--machine", "m1-ultra-20c", "--peers", "3")
    assert "4 ranks" in few.stdout
    assert "claimed" not in few.stdout
    for wrong in (["--members", "3"], ["--peers", "48"], ["--peers", "0"]):
        assert corymb_call("sim", "messages", "--machine", "scc-48c", *wrong).returncode == 2


def test_a_late_reader_starts_with_the_last_message() -> None:
    ring = corymb.BroadcastRing(slots=4)
    with ring.publisher() as publisher:
        with ring.reader(start="last") as first:
            assert first.receive() == []
            publisher.publish(b"one")
            assert first.receive() == [(1, b"one", 0)]
        publisher.publish(b"two")
        with ring.reader("overrun", start="last") as late:
            publisher.publish(b"three")
            assert late.last == 1
            assert late.receive() == [(2, b"two", 0), (3, b"three", 0)]
        with pytest.raises(corymb.Error, match="there are next and last"):
            ring.reader(start="first")


def publish_and_end(descriptor: int) -> None:
    ring = corymb.BroadcastRing.open(descriptor)
    publisher = ring.publisher()
    publisher.publish(b"one")
    os._exit(0)


def test_another_publisher_follows_one_whose_process_has_ended() -> None:
    ring = corymb.BroadcastRing(between_processes=True)
    descriptor = ring.make_descriptor()
    reader = ring.reader()
    child = multiprocessing.get_context("fork").Process(target=publish_and_end, args=(descriptor,))
    child.start()
    child.join(LIMIT_S)
    os.close(descriptor)
    assert reader.receive() == [(1, b"one", 0)]
    with pytest.raises(corymb.Error, match=f"pid {child.pid}") as caught:
        reader.wait(LIMIT_S)
    assert caught.value.code == "team_broken"
    publisher = ring.publisher()
    publisher.publish(b"two")
    assert reader.receive() == [(2, b"two", 0)]
