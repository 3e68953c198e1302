# SPDX-License-Identifier: Apache-2.0
"""iceoryx2 at work, for `corymb bench messages`: run by the interpreter of an environment that has
it, which needs nothing of corymb.

Each line of the input is a turn, `{"readers": 8, "burst": 128, "bursts": 3}` or `{"trips": 1000}`;
each line of the output is `{"ns": [...]}`, what one message took the publisher in each burst, or a
round trip between two processes, or it is `{"error": text}`.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

PATIENCE_S = 20.0  # Of the round trips of a turn, and of the start of a process.
LOOKS = 1000  # In vain, until somebody who echoes looks whether it is still wanted.


def echo(take: Callable[[], bool]) -> None:
    """`take()` sends a message back, if there is one, and says so; until the input ends."""
    print("ready", flush=True)
    idle = 0
    while True:
        if take():
            continue
        os.sched_yield()
        idle += 1
        if idle % LOOKS == 0 and select.select([sys.stdin], [], [], 0)[0]:
            return


def trip_ns(trips: int, send: Callable[[], object], take: Callable[[], bool]) -> float:
    """What one round trip takes, of many."""
    end = time.monotonic() + PATIENCE_S
    begin = time.perf_counter_ns()
    for _ in range(trips):
        send()
        while not take():
            os.sched_yield()
            if time.monotonic() > end:
                raise RuntimeError("a message has not come back")
    return (time.perf_counter_ns() - begin) / trips


class Echoing:
    """A process that runs `echo`, and ends with this one at the latest."""

    def __init__(self, command: list[str], descriptors: tuple[int, ...] = ()) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # Ctrl-C reaches it, too.
            pass_fds=descriptors,
        )
        stdout = self._process.stdout
        if (
            stdout is None
            or not select.select([stdout], [], [], PATIENCE_S)[0]
            or not stdout.readline()
        ):
            self.close()
            raise RuntimeError("the process at the other end has not begun")

    def close(self) -> None:
        try:
            self._process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


class Publishing:
    """One publisher and many subscribers, in memory shared by processes."""

    def __init__(self, iox: Any, burst: int, readers_max: int) -> None:
        name = iox.ServiceName.new(f"corymb/bench/{os.getpid()}")
        self._node = iox.NodeBuilder.new().create(iox.ServiceType.Ipc)
        service = self._node.service_builder(name).publish_subscribe(ctypes.c_uint64)
        service = service.max_subscribers(readers_max).subscriber_max_buffer_size(burst)
        self._service = service.enable_safe_overflow(False).create()
        self._publisher = self._service.publisher_builder().create()

    def turn(self, readers: int, burst: int, bursts: int) -> list[float]:
        ends = [self._service.subscriber_builder().create() for _ in range(readers)]
        message = ctypes.c_uint64(7)
        send = self._publisher.send_copy
        times = []
        for _ in range(bursts + 1):
            begin = time.perf_counter_ns()
            for _ in range(burst):
                send(message)
            times.append((time.perf_counter_ns() - begin) / burst)
            for end in ends:
                count = 0
                while end.receive() is not None:
                    count += 1
                if count != burst:
                    raise RuntimeError(f"a subscriber got {count} of {burst} messages")
        for end in ends:
            end.delete()
        return times[1:]  # The first one made the connections.


class Line:
    """One end of two services, there and back, that two processes share."""

    def __init__(self, iox: Any, name: str, is_first: bool) -> None:
        self._node = iox.NodeBuilder.new().create(iox.ServiceType.Ipc)
        services = []
        for way in ("there", "back"):
            service = self._node.service_builder(iox.ServiceName.new(f"{name}/{way}"))
            service = service.publish_subscribe(ctypes.c_uint64)
            services.append(service.create() if is_first else service.open())
        self._services = services if is_first else services[::-1]
        self._publisher = self._services[0].publisher_builder().create()
        self._subscriber = self._services[1].subscriber_builder().create()
        self._message = ctypes.c_uint64(7)

    def send(self) -> None:
        self._publisher.send_copy(self._message)

    def take(self) -> bool:
        return self._subscriber.receive() is not None

    def take_and_send(self) -> bool:
        found = self.take()
        if found:
            self.send()
        return found


class Trips:
    """Round trips with a process that echoes."""

    def __init__(self, iox: Any) -> None:
        name = f"corymb/trips/{os.getpid()}"
        self._line = Line(iox, name, True)
        self._other = Echoing([sys.executable, __file__, name])

    def turn(self, trips: int) -> list[float]:
        trip_ns(1, self._line.send, self._line.take)  # Makes the connections.
        return [trip_ns(trips, self._line.send, self._line.take)]

    def close(self) -> None:
        self._other.close()


def serve(iox: Any) -> None:
    publishing = None
    line_of_trips = None
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if "trips" in asked:
                line_of_trips = line_of_trips or Trips(iox)
                answer: dict[str, Any] = {"ns": line_of_trips.turn(**asked)}
            else:
                publishing = publishing or Publishing(iox, asked["burst"], 256)
                answer = {"ns": publishing.turn(**asked)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
    if line_of_trips is not None:
        line_of_trips.close()


def main() -> None:
    import iceoryx2  # type: ignore[import-not-found, unused-ignore]

    iceoryx2.set_log_level(iceoryx2.LogLevel.Fatal)
    if len(sys.argv) > 1:
        echo(Line(iceoryx2, sys.argv[1], False).take_and_send)
    else:
        serve(iceoryx2)


if __name__ == "__main__":
    main()
