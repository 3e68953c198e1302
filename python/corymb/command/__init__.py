# SPDX-License-Identifier: Apache-2.0
"""The command `corymb`. This module stays light: Ctrl-C must end the program quietly at any moment,
also while the rest is still being imported."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Entry point of the script; never returns. docs/reference/command.md has the statuses."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from corymb.command.app import run

    signal.signal(signal.SIGINT, signal.default_int_handler)
    status = run(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)
