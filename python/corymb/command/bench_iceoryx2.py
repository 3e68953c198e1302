# SPDX-License-Identifier: Apache-2.0
"""The part of corymb bench messages that compares with iceoryx2: Python with Python."""

from __future__ import annotations

import json
import os
import select
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import corymb
from corymb.peers import iceoryx2_end, mailbox_echo

Row = dict[str, Any]

OP = "publish_python"
OWN = "broadcast ring, Python"
TRIP_OP = "round_trip_python"
TRIP_OWN = "mailbox, Python, processes"
TRIPS = 1000
TRIP_BYTES = 8
PEER = "iceoryx2, Python"
READERS = (1, 8, 64, 200)
BURST = 128
BURSTS = 3
PATIENCE_S = 60.0  # Of one turn.
GOING_S = 5.0


class SkippedError(Exception):
    """There is no iceoryx2; the text says why, and what to do."""


class Iceoryx2:
    """A process of the environment that `make bench-peers` makes for it."""

    def __init__(self, folder: Path) -> None:
        python = folder / "iceoryx2" / "bin" / "python"
        if not python.exists():
            raise SkippedError(f"it is not in {folder}; make bench-peers installs it")
        self._process = subprocess.Popen(
            [str(python), iceoryx2_end.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def turn(self, readers: int) -> list[float]:
        return self._ask({"readers": readers, "burst": BURST, "bursts": BURSTS})

    def trips(self) -> list[float]:
        return self._ask({"trips": TRIPS})

    def _ask(self, asked: dict[str, int]) -> list[float]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(json.dumps(asked) + "\n")
            stdin.flush()
        except BrokenPipeError:
            raise SkippedError("its process has ended") from None
        if not select.select([stdout], [], [], PATIENCE_S)[0]:
            raise SkippedError(f"no answer within {PATIENCE_S:.0f} s")
        line = stdout.readline()
        answer = json.loads(line) if line else {"error": "its process has ended"}
        if "error" in answer:
            raise SkippedError(answer["error"])
        return [float(ns) for ns in answer["ns"]]

    def close(self) -> None:
        """At the end of its input it removes its files; one that is killed would leave them."""
        try:
            self._process.communicate(timeout=GOING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


def own_turn(readers: int) -> list[float]:
    """The same with a broadcast ring in memory shared by processes."""
    ring = corymb.BroadcastRing(
        message_bytes=8, slots=2 * BURST, readers=readers, between_processes=True
    )
    publisher = ring.publisher()
    ends = [ring.reader() for _ in range(readers)]
    message = bytes(8)
    times = []
    for _ in range(BURSTS + 1):
        begin = time.perf_counter_ns()
        for _ in range(BURST):
            publisher.publish(message)
        times.append((time.perf_counter_ns() - begin) / BURST)
        for end in ends:
            count = len(end.receive())
            if count != BURST:
                raise RuntimeError(f"a reader got {count} of {BURST} messages")
    return times[1:]


class OwnTrips:
    """Round trips through a mailbox with a process that echoes."""

    def __init__(self) -> None:
        group = corymb.MailboxGroup(2, message_bytes=TRIP_BYTES, between_processes=True)
        descriptor = group.make_descriptor()
        try:
            self._box = group.join(0)
            self._other = iceoryx2_end.Echoing(
                [sys.executable, mailbox_echo.__file__, str(descriptor)], (descriptor,)
            )
        finally:
            os.close(descriptor)

    def trips(self) -> list[float]:
        message = bytes(TRIP_BYTES)
        return [
            iceoryx2_end.trip_ns(
                TRIPS, lambda: self._box.send(1, message), lambda: bool(self._box.receive())
            )
        ]

    def close(self) -> None:
        self._other.close()


def rows(rounds: int, folder: Path | None = None) -> tuple[list[Row], list[Row]]:
    """Both in turns, and what was skipped, as `name` and `reason`."""
    place = folder or Path(os.environ.get("CORYMB_PEERS", "build/peers"))
    try:
        peer = Iceoryx2(place)
    except SkippedError as why:
        return measured(rounds, None), [{"name": PEER, "reason": str(why)}]
    try:
        return measured(rounds, peer), []
    except SkippedError as why:
        return measured(rounds, None), [{"name": PEER, "reason": str(why)}]
    finally:
        peer.close()


def measured(rounds: int, peer: Iceoryx2 | None) -> list[Row]:
    return [*round_trips(rounds, peer), *publishing(rounds, peer)]


def round_trips(rounds: int, peer: Iceoryx2 | None) -> list[Row]:
    own: list[float] = []
    other: list[float] = []
    ends = OwnTrips()
    try:
        ends.trips()
        for _ in range(rounds):
            own += ends.trips()
            if peer is not None:
                other += peer.trips()
    finally:
        ends.close()
    found = [_row(TRIP_OP, TRIP_BYTES, TRIP_OWN, "corymb", own)]
    if other:
        found.append(_row(TRIP_OP, TRIP_BYTES, PEER, "peer", other))
    return found


def publishing(rounds: int, peer: Iceoryx2 | None) -> list[Row]:
    found = []
    for readers in READERS:
        own: list[float] = []
        other: list[float] = []
        for _ in range(rounds):
            own += own_turn(readers)
            if peer is not None:
                other += peer.turn(readers)
        found.append(_row(OP, readers, OWN, "corymb", own))
        if other:
            found.append(_row(OP, readers, PEER, "peer", other))
    return found


def _row(op: str, size: int, contestant: str, family: str, times: list[float]) -> Row:
    many = times if len(times) > 1 else 2 * times
    q25, median, q75 = statistics.quantiles(many, n=4, method="inclusive")
    return {
        "type": "row",
        "op": op,
        "size": size,
        "contestant": contestant,
        "family": family,
        "median_ns": median,
        "q25": q25,
        "q75": q75,
    }
