# SPDX-License-Identifier: Apache-2.0
"""The exceptions of corymb: `Error`, and a class for each code, so that `except` can select."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from corymb import troubleshooting


class Error(RuntimeError):
    """What went wrong. The text says it to people and says what to do.

    `code` is stable and for programs: "invalid_argument", "unknown_name", "invalid_model",
    "stale_model", "invalid_plan", "io", "unsupported", "timeout", "team_broken", "interrupted",
    "mismatch", "deadlock", "internal".
    `ranks` holds the ranks at fault, where there are any.
    `heading` is that of docs/troubleshooting.md to look under, or None; "" in the call is for none.
    A traceback names it.

    `Error(text, code)` makes an instance of the class of that code.

    >>> type(Error("rank 1 did not come", "timeout", [1])).__name__
    'TimeoutError'
    """

    def __new__(cls, text: str, code: str = "", *_: Any, **__: Any) -> Error:
        chosen = OF_CODES.get(code, cls) if cls is Error else cls
        # A base of the interpreter with fields of its own has to make the object.
        maker: Any = OSError if issubclass(chosen, OSError) else RuntimeError
        made: Error = maker.__new__(chosen, text)
        return made

    def __init__(
        self, text: str, code: str, ranks: Sequence[int] = (), heading: str | None = None
    ) -> None:
        super().__init__(text)
        self.code = code
        self.ranks = list(ranks)
        self.heading = troubleshooting.OF_CODES.get(code) if heading is None else heading or None
        if self.heading and hasattr(self, "add_note"):  # From Python 3.11 on.
            self.add_note(f"See {troubleshooting.place(self.heading)}")

    def __reduce__(self) -> tuple[type[Error], tuple[Any, ...]]:
        return Error, (str(self), self.code, self.ranks, self.heading)


class InvalidArgumentError(Error, ValueError):
    """An argument breaks the contract of the call."""


class UnknownNameError(Error, LookupError):
    """No operation, machine or algorithm has this name."""


class InvalidModelError(Error, ValueError):
    """A machine model is malformed; the text names the field."""


class StaleModelError(Error):
    """A model was measured on another machine, or with other CPUs allowed."""


class InvalidPlanError(Error, ValueError):
    """The checker refuses the plan; the text names the rank and the step."""


class FileError(Error, OSError):
    """A file could not be read or written; the text names it."""


class UnsupportedError(Error):
    """This machine or container does not permit it; the text says what to do."""


class TimeoutError(Error, builtins.TimeoutError):
    """A deadline has passed; `ranks` are those that did not come."""


class TeamBrokenError(Error):
    """A rank has ended, or an earlier operation of the team failed."""


class InterruptError(Error):
    """The caller asked to stop."""


class MismatchError(Error):
    """Ranks called different operations, or with other roots, sizes or types."""


class DeadlockError(Error):
    """Tasks wait for each other, and nothing else can end that."""


class InternalError(Error):
    """A mistake of corymb; the text is for a report of it."""


OF_CODES: dict[str, type[Error]] = {
    "invalid_argument": InvalidArgumentError,
    "unknown_name": UnknownNameError,
    "invalid_model": InvalidModelError,
    "stale_model": StaleModelError,
    "invalid_plan": InvalidPlanError,
    "io": FileError,
    "unsupported": UnsupportedError,
    "timeout": TimeoutError,
    "team_broken": TeamBrokenError,
    "interrupted": InterruptError,
    "mismatch": MismatchError,
    "deadlock": DeadlockError,
    "internal": InternalError,
}
"""The class of each code of the library."""


class RankError(TeamBrokenError):
    """A rank of `corymb.run` has failed: `rank` says which, `__cause__` why."""

    def __init__(self, text: str, rank: int) -> None:
        super().__init__(text, "team_broken", [rank], heading="")  # What to do, the cause says.
        self.rank = rank

    def __reduce__(self) -> tuple[type[Error], tuple[Any, ...]]:
        return RankError, (str(self), self.rank)


class RemoteTraceback(Exception):  # noqa: N818
    """Where an exception of another process was raised."""

    def __str__(self) -> str:
        return "\n" + str(self.args[0])
