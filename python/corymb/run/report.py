# SPDX-License-Identifier: Apache-2.0
"""What a rank's process says when its function is over, of types that every process can read.

The text and the traceback of an exception travel beside its pickle: an exception that cannot be
pickled, or whose class takes other arguments than it keeps, is still told in its own words.
"""

from __future__ import annotations

import pickle
import traceback
from multiprocessing import reduction
from typing import Any, NamedTuple

from corymb.errors import RemoteTraceback
from corymb.run.ranks import Failure, describe, is_echo


class Report(NamedTuple):
    """How the function of a rank has ended."""

    data: bytes | None
    """The pickle of what it returned or raised, if there is one."""
    kind: str
    """The type of that."""
    failure: str = ""
    """How it failed, in one line; empty: it did not."""
    trace: str = ""
    echo: bool = False
    """The rank only learnt of another's failure."""

    def to_bytes(self) -> bytes:
        return pickle.dumps(tuple(self))


def name_of(kind: type) -> str:
    return (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else (f"{kind.__module__}.{kind.__qualname__}")
    )


def report_result(rank: int, result: Any) -> Report:
    kind = name_of(type(result))
    try:
        return Report(bytes(reduction.ForkingPickler.dumps(result)), kind)
    except Exception as error:
        text = (
            f"rank {rank} has returned an object of type {kind} that cannot be pickled "
            f"({describe(error)}); return what can be, or use threads=True"
        )
        return Report(None, name_of(type(error)), text, traceback.format_exc())


def report_failure(rank: int, error: BaseException, why: str = "") -> Report:
    """`why` says in which step it failed, if that was not the rank's function."""
    try:
        data = bytes(reduction.ForkingPickler.dumps(error))
    except Exception:
        data = None
    text = f"rank {rank} failed: {why}{describe(error)}"
    return Report(data, name_of(type(error)), text, traceback.format_exc(), is_echo(error))


def result_of(rank: int, report: Report) -> tuple[Any, Failure | None]:
    """What a rank returned; how it failed, if it did."""
    try:
        thing = pickle.loads(report.data) if report.data is not None else None
    except Exception as error:
        thing = None
        if not report.failure:
            text = (
                f"rank {rank} has returned an object of type {report.kind} that cannot be "
                f"unpickled here ({describe(error)}); return what can be, or use threads=True"
            )
            return None, Failure(rank, text, error)
    if not report.failure:
        return thing, None
    if not isinstance(thing, BaseException):
        thing = RuntimeError(report.failure)
    thing.__cause__ = RemoteTraceback(f"rank {rank}:\n{report.trace}")
    return None, Failure(rank, report.failure, thing, report.echo)
