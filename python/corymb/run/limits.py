# SPDX-License-Identifier: Apache-2.0
"""What the machine or the container permits, for the text of an error."""

from __future__ import annotations

import contextlib
import resource
from pathlib import Path

from corymb.errors import Error


def first_word(path: Path) -> str | None:
    """None where there is no such file, as in most containers for some of them."""
    with contextlib.suppress(OSError, IndexError):
        return path.read_text().split()[0]
    return None


def cgroup_limit(name: str) -> str | None:
    """Of the group of this process (version 2), as it sees it; None: none is known."""
    group = first_word(Path("/proc/self/cgroup"))
    folder = group.rpartition(":")[2].lstrip("/") if group is not None else ""
    for path in (Path("/sys/fs/cgroup") / folder / name, Path("/sys/fs/cgroup") / name):
        limit = first_word(path)
        if limit is not None and limit != "max":
            return limit
    return None


def limits() -> str:
    """The limits that a rank which is about to start can meet."""
    unlimited = resource.RLIM_INFINITY
    known = {
        "RLIMIT_NPROC (threads and processes of this user)": resource.RLIMIT_NPROC,
        "RLIMIT_NOFILE (descriptors)": resource.RLIMIT_NOFILE,
        "RLIMIT_AS (addresses, in bytes)": resource.RLIMIT_AS,
    }
    texts = [
        f"{name}: {soft}"
        for name, which in known.items()
        if (soft := resource.getrlimit(which)[0]) != unlimited
    ]
    for name, what in (("pids.max", "threads and processes"), ("memory.max", "bytes")):
        if (limit := cgroup_limit(name)) is not None:
            texts.append(f"{name} of this container or service ({what}): {limit}")
    return "; ".join(texts) if texts else "no limit of this process is known"


def cannot_start(what: str, rank: int, ranks: int, error: BaseException) -> Error:
    """The error of a run whose ranks could not all start."""
    return Error(
        f"rank {rank} of {ranks} has no {what}: {error}; start fewer ranks, or raise the limit "
        f"that is reached ({limits()})",
        "unsupported",
        [rank],
    )
