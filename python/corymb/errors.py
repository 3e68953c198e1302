# SPDX-License-Identifier: Apache-2.0
"""The one exception type of corymb."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Error(RuntimeError):
    """What went wrong. The text says it to people and says what to do.

    `code` is stable and for programs: "invalid_argument", "unknown_name", "invalid_model",
    "stale_model", "invalid_plan", "io", "unsupported", "timeout", "team_broken", "interrupted",
    "mismatch", "deadlock", "internal".
    `ranks` holds the ranks at fault, where there are any.
    """

    def __init__(self, text: str, code: str, ranks: Sequence[int] = ()) -> None:
        super().__init__(text)
        self.code = code
        self.ranks = list(ranks)

    def __reduce__(self) -> tuple[type[Error], tuple[Any, ...]]:
        return Error, (str(self), self.code, self.ranks)


class RankError(Error):
    """A rank of `corymb.run` has failed: `rank` says which, `__cause__` why."""

    def __init__(self, text: str, rank: int) -> None:
        super().__init__(text, "team_broken", [rank])
        self.rank = rank

    def __reduce__(self) -> tuple[type[Error], tuple[Any, ...]]:
        return RankError, (str(self), self.rank)


class RemoteTraceback(Exception):  # noqa: N818
    """Where an exception of another process was raised."""

    def __str__(self) -> str:
        return "\n" + str(self.args[0])
