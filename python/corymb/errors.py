# SPDX-License-Identifier: Apache-2.0
"""The one exception type of corymb."""

from __future__ import annotations

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
    """

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


class RankError(Error):
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
