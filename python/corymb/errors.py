# SPDX-License-Identifier: Apache-2.0
"""The one exception type of corymb."""

from __future__ import annotations

from collections.abc import Sequence


class Error(RuntimeError):
    """What went wrong. The text says it to people and says what to do.

    `code` is stable and for programs: "invalid_argument", "unknown_name", "invalid_model",
    "stale_model", "invalid_plan", "io", "unsupported", "timeout", "team_broken", "interrupted",
    "mismatch".
    `ranks` holds the ranks at fault, where there are any.
    """

    def __init__(self, text: str, code: str, ranks: Sequence[int] = ()) -> None:
        super().__init__(text)
        self.code = code
        self.ranks = list(ranks)
