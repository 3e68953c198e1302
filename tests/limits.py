# SPDX-License-Identifier: Apache-2.0
"""How long a test waits for what should come: LIMIT_S, and no other number.

The limit ends a test that hangs and measures nothing. It grows with the factor by which processes
take longer than on a quiet machine. tools/test.sh has measured that factor; else it is measured
here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import corymb

MEASURE = Path(__file__).parent.parent / "tools/slowness.py"
if not os.environ.get("CORYMB_TEST_SLOWNESS"):
    told = subprocess.run([sys.executable, str(MEASURE)], capture_output=True, text=True)
    os.environ["CORYMB_TEST_SLOWNESS"] = told.stdout.strip() or "1"
SLOWNESS = int(os.environ["CORYMB_TEST_SLOWNESS"])
# Below the limit of a whole test (pyproject.toml), which ends all of them.
LIMIT_S = 120.0 * SLOWNESS


def scaled(seconds: float) -> float:
    """So many seconds of a quiet machine."""
    return seconds * SLOWNESS


def comes_true(condition: Callable[[], object], pause_s: float = 0.02) -> bool:
    """Whether `condition()` holds within the limit."""
    end = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(pause_s)
    return True


def wait_for(condition: Callable[[], object]) -> None:
    assert comes_true(condition), "it has not come"


def is_refused(call: Callable[[], object], *words: str) -> bool:
    """Whether an error with one of the words comes of it: another thread, say, is in a call."""
    try:
        call()
    except corymb.Error as error:
        return any(word in str(error) for word in words)
    return False
