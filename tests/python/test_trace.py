# SPDX-License-Identifier: Apache-2.0
"""corymb trace: groups of other processes, whom it must not disturb, and who has none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from limits import LIMIT_S, wait_for

import corymb

# Prints its pid when its groups are there, and does what it is told, a line each.
PROGRAM = """
import sys, corymb
multicast = corymb.MulticastGroup(4, topology="split", between_processes=True)
ring = corymb.BroadcastRing(slots=8, between_processes=True)
mail = corymb.MailboxGroup(3, protocol=sys.argv[1], between_processes=True)
me, idle = multicast.initiator(0), multicast.initiator(2, lambda message: None)
away = multicast.initiator(3)
idle.join()
publisher, block, drop = ring.publisher(), ring.reader(), ring.reader("drop")
one, other = mail.join(0), mail.join(2)
token = me.send(b"abc")
for number in range(5):
    publisher.publish(b"price")
block.receive(most=2)
for number in range(3):
    one.send(2, b"letter")
print("ready", flush=True)
for line in sys.stdin:
    other.receive()
    publisher.publish(b"last", seconds=30)
    idle.poll()
    token.wait(30)
    print("done", flush=True)
"""


class Traced:
    def __init__(self, protocol: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, protocol],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self.process.pid
        self.hear("ready")

    def hear(self, line: str) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == line + "\n"

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.hear("done")


@pytest.fixture
def traced(request: pytest.FixtureRequest) -> Iterator[Traced]:
    program = Traced(getattr(request, "param", "ring"))
    yield program
    program.process.kill()
    program.process.communicate()


def by_kind(pid: int) -> dict[str, corymb.TracedGroup]:
    return {group.kind: group for group in corymb.trace_process(pid)}


def lines(group: corymb.TracedGroup) -> list[tuple[int, str, int, int]]:
    return [(one.rank, one.state, one.sequence, one.behind) for one in group.members]


@pytest.mark.parametrize("traced", ["ring", "srbp"], indirect=True)
def test_a_look_and_another(traced: Traced) -> None:
    groups = by_kind(traced.pid)
    assert set(groups) == {"multicast", "broadcast", "mailboxes"}
    multicast = groups["multicast"]
    assert lines(multicast) == [
        (0, "quiescent", 0, 0),
        (2, "polling", 0, 1),
        (3, "quiescent", 0, 0),
    ]
    assert {one.pid for one in multicast.members} == {traced.pid}
    assert {one.process for one in multicast.members} == {"running"}
    (call,) = multicast.calls
    assert (call.initiator, call.number, call.members) == (0, 1, 1)
    (late,) = call.late
    assert (late.rank, late.pid, late.state) == (2, traced.pid, "told")
    assert late.seconds > 0
    assert "split by 4" in multicast.about or "flat" in multicast.about
    ring = groups["broadcast"]
    assert ring.sequence == 5
    assert lines(ring) == [(-1, "publishing", 5, 0), (0, "block", 2, 3), (1, "drop", 0, 5)]
    mail = groups["mailboxes"]
    assert lines(mail) == [(0, "open", 0, 0), (2, "open", 0, 3)]

    os.kill(traced.pid, signal.SIGSTOP)
    wait_for(lambda: by_kind(traced.pid)["mailboxes"].members[0].process == "stopped")
    os.kill(traced.pid, signal.SIGCONT)
    traced.go_on()
    groups = by_kind(traced.pid)
    assert groups["multicast"].calls == []
    assert groups["multicast"].sequence == 1
    assert groups["broadcast"].sequence == 6
    assert lines(groups["mailboxes"]) == [(0, "open", 0, 0), (2, "open", 3, 0)]


def test_own_groups_and_a_member_that_is_killed() -> None:
    group = corymb.MulticastGroup(2, between_processes=True)
    descriptor = group.make_descriptor()
    code = f"""
import corymb, time
own = corymb.MulticastGroup.open({descriptor}).initiator(1)
own.join()
print("ready", flush=True)
time.sleep({2 * LIMIT_S})
"""
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, pass_fds=[descriptor], text=True
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        seen = {found.id: found for found in corymb.trace_process(os.getpid())}
        of_child = corymb.trace_process(child.pid)
        assert len(of_child) == 1  # One group, whatever the descriptors.
        assert seen[of_child[0].id].members[0].pid == child.pid
        child.kill()
        child.wait(LIMIT_S)
        (member,) = seen[of_child[0].id].members
        again = {found.id: found for found in corymb.trace_process(os.getpid())}
        (member,) = again[of_child[0].id].members
        assert (member.rank, member.process) == (1, "gone")
    finally:
        child.kill()
        child.communicate()
        os.close(descriptor)


def test_who_cannot_be_traced() -> None:
    for pid in (0, -1, 2**22 + 1):
        with pytest.raises(corymb.Error, match="no process") as caught:
            corymb.trace_process(pid)
        assert caught.value.code == "invalid_argument"


def write_memory(first: bytes) -> int:
    descriptor = os.memfd_create("corymb")
    os.write(descriptor, first)
    return descriptor


def test_another_version_is_said() -> None:
    before = {group.id for group in corymb.trace_process(os.getpid())}
    descriptor = write_memory(b"corymb\x09\x00" + bytes(8192))
    try:
        found = [one for one in corymb.trace_process(os.getpid()) if one.id not in before]
        assert [(one.kind, one.members) for one in found] == [("unknown", [])]
    finally:
        os.close(descriptor)


def test_the_command(traced: Traced, corymb_call: Command, tmp_path: Path) -> None:
    out = tmp_path / "trace.json"
    result = corymb_call("trace", str(traced.pid), "--json", str(out))
    assert result.returncode == 0
    for part in ("1 late: rank 2", "publisher", "5 <-", "3 <-", "mailboxes"):
        assert part in result.stdout
    written: dict[str, Any] = json.loads(out.read_text())
    assert written["schema"] == "corymb-trace/1"
    (look,) = written["looks"]
    assert {group["kind"] for group in look["groups"]} == {"multicast", "broadcast", "mailboxes"}
    result = corymb_call("trace", str(traced.pid), "--watch", "0.01", "--count", "3", "--json", "-")
    assert [len(look["groups"]) for look in json.loads(result.stdout)["looks"]] == [3, 3, 3]
    everywhere = corymb_call("trace")
    assert f" {traced.pid} " in everywhere.stdout
    for wrong in (["--count", "2"], ["--watch", "0"], ["--watch", "1", "--count", "0"]):
        assert corymb_call("trace", str(traced.pid), *wrong).returncode == 2
    parent = corymb_call("trace", "1" if os.getpid() != 1 else "2")
    assert parent.returncode in {1, 2}
    assert corymb_call("trace", str(2**22 + 1)).returncode == 2


def test_ctrl_c_ends_it(traced: Traced, environment: dict[str, str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "corymb", "trace", str(traced.pid), "--watch", "0.05"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in errors
