# SPDX-License-Identifier: Apache-2.0
"""Entry point of the console script. It stands beside the package, whose import takes a while:
Ctrl-C must end the program quietly at any moment, also then."""

from __future__ import annotations

import os
import signal


def main() -> None:
    """Never returns; see docs/reference/command.md for the statuses."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from corymb.command import main as command

    command()
