#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many times longer than alone a process takes on this machine now, rounded up.

Spins for a fixed CPU time and prints elapsed time over CPU time: 1 on a quiet machine, 20 beside
busy neighbours of a better priority. Limits of tests are multiplied by it.
"""

from __future__ import annotations

import math
import time

SPIN_CPU_S = 0.2
# A machine where nothing else runs is a few per cent off.
TOLERANCE = 0.3


def slowness(cpu_s: float) -> int:
    """Elapsed time over CPU time of a spin that takes `cpu_s` seconds of a CPU."""
    begin, cpu_begin = time.monotonic(), time.process_time()
    while time.process_time() - cpu_begin < cpu_s:
        pass
    ratio = (time.monotonic() - begin) / (time.process_time() - cpu_begin)
    return max(1, math.ceil(ratio - TOLERANCE))


if __name__ == "__main__":
    print(slowness(SPIN_CPU_S))
