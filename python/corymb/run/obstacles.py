# SPDX-License-Identifier: Apache-2.0
"""Why `corymb.run` cannot start processes where it is called, and what to do instead."""

from __future__ import annotations

import errno
import multiprocessing
import os
import pickle
import resource
import sys
from collections.abc import Callable
from typing import Any

from corymb import troubleshooting
from corymb.errors import Error
from corymb.run.ranks import Task, describe


def check_start(fn: Callable[..., Any], start_method: str) -> None:
    """Raises corymb.Error (unsupported) for what would end in the middle of the start."""
    process: Any = multiprocessing.current_process()
    if process.daemon:
        raise Error(
            "this process is a daemonic one, as the workers of multiprocessing.Pool are, and may "
            "not start others; use threads=True, or concurrent.futures.ProcessPoolExecutor in "
            "place of the pool",
            "unsupported",
            heading=troubleshooting.PYTHON,
        )
    if getattr(process, "_inheriting", False):
        raise Error(
            "corymb.run was called while this process imports the script that started it; put the "
            'call under if __name__ == "__main__":',
            "unsupported",
            heading=troubleshooting.PYTHON,
        )
    if start_method != "fork" and not main_has_file() and is_of_main(fn):
        raise Error(
            f"other processes cannot import {name_of(fn)} from __main__, which has no file here (a "
            "notebook, standard input or -c); put the function into a module, or use threads=True "
            'or start_method="fork"',
            "unsupported",
            heading=troubleshooting.PYTHON,
        )


def main_has_file() -> bool:
    """Whether multiprocessing can import the main module elsewhere."""
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    file = getattr(main, "__file__", None)
    return getattr(spec, "name", None) is not None or (file is not None and os.path.isfile(file))


def is_of_main(fn: Callable[..., Any]) -> bool:
    """Whether it, or what a partial function or a bound method is of, stands in the main module."""
    inner = getattr(fn, "func", fn)  # functools.partial
    owner = type(inner) if not hasattr(inner, "__module__") else inner
    return "__main__" in (
        getattr(owner, "__module__", None),
        type(getattr(inner, "__self__", None)).__module__,
        type(inner).__module__,
    )


def name_of(fn: Callable[..., Any]) -> str:
    inner = getattr(fn, "func", fn)
    name = getattr(inner, "__qualname__", type(inner).__qualname__)
    return "a lambda" if name.endswith("<lambda>") else name


LIMITS = {
    errno.EAGAIN: ("processes and threads of the user (ulimit -u)", resource.RLIMIT_NPROC),
    errno.EMFILE: ("open descriptors (ulimit -n)", resource.RLIMIT_NOFILE),
    errno.ENOMEM: ("address space (ulimit -v)", resource.RLIMIT_AS),
}


def not_started(rank: int, error: OSError) -> Error:
    """Of a process that the system refuses."""
    text = f"the process of rank {rank} cannot be started: {error.strerror or error}"
    if error.errno in LIMITS:
        what, number = LIMITS[error.errno]
        limit = resource.getrlimit(number)[0]
        text += f"; the limit of {what} is {'none' if limit < 0 else limit}"
    return Error(text, "unsupported", heading=troubleshooting.LIMITS)


def unsendable(task: Task, error: Exception) -> Error:
    """Of a task that cannot be pickled."""
    what = "an argument"
    try:
        pickle.dumps(task.fn)
    except Exception:
        what = f"the function, {name_of(task.fn)},"
    return Error(
        f"{what} cannot be pickled for other processes ({describe(error)}); use functions of a "
        'module and arguments that pickle takes, or threads=True, or start_method="fork"',
        "invalid_argument",
        heading=troubleshooting.PYTHON,
    )
