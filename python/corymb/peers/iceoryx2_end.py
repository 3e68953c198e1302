# SPDX-License-Identifier: Apache-2.0
"""iceoryx2 at work, for `corymb bench messages`: run by the interpreter of an environment that has
it, which needs nothing of corymb.

Each line of the input, `{"readers": 8, "burst": 128, "bursts": 3}`, is a turn; each line of the
output is `{"ns": [...]}`, what one message took the publisher in each burst, or `{"error": text}`.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from typing import Any


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


def main() -> None:
    import iceoryx2  # type: ignore[import-not-found, unused-ignore]

    iceoryx2.set_log_level(iceoryx2.LogLevel.Fatal)
    publishing = None
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if publishing is None:
                publishing = Publishing(iceoryx2, asked["burst"], 256)
            answer: dict[str, Any] = {"ns": publishing.turn(**asked)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
