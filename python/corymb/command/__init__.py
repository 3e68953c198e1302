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
    try:
        from corymb.command.app import run
    except ModuleNotFoundError as error:
        sys.exit(_without(error, sys.argv[1:]))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    status = run(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)


def _without(error: ModuleNotFoundError, arguments: list[str]) -> int:
    """What is left without the libraries of an extra: the starters of programs need none."""
    import importlib

    import corymb
    from corymb.command.extras import remedy

    text = remedy(error)
    if text is None:
        raise error
    if arguments[:1] in (["run"], ["mpirun"]):
        try:
            importlib.import_module(f"corymb.command.{arguments[0]}").become(arguments[1:])
            return 0
        except corymb.Error as failure:
            text = str(failure)
    print(f"corymb: {text}", file=sys.stderr)
    return 1
