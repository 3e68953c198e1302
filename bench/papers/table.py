# SPDX-License-Identifier: Apache-2.0
"""The rows of a page: what a paper says, what corymb does, and how to repeat it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

VERDICTS = ("yes", "partly", "no", "-")


@dataclass(frozen=True)
class Row:
    """One figure or number of a paper. Invariant: a row that does not agree says why."""

    figure: str
    claim: str
    ours: str
    agrees: str  # One of VERDICTS; "-" where the paper's number is of another thing.
    how: str
    command: str
    why: str = ""

    def __post_init__(self) -> None:
        if self.agrees not in VERDICTS:
            raise ValueError(f"{self.figure}: '{self.agrees}' is none of {VERDICTS}")
        if self.agrees in ("partly", "no") and not self.why:
            raise ValueError(f"{self.figure}: it does not agree, so the row must say why")


def verdict(parts: Sequence[bool]) -> str:
    """
    >>> verdict([True, True]), verdict([True, False]), verdict([False])
    ('yes', 'partly', 'no')
    """
    return "yes" if all(parts) else "partly" if any(parts) else "no"


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def rows_table(rows: Sequence[Row]) -> str:
    """The table of a page, and below it why rows do not agree."""
    shown = {"yes": "yes", "partly": "**partly**", "no": "**no**", "-": "-"}
    cells = [
        [row.figure, row.claim, row.ours, shown[row.agrees], row.how, f"`{row.command}`"]
        for row in rows
    ]
    text = markdown(["figure", "the paper", "corymb", "agrees", "how", "to repeat"], cells)
    reasons = [
        wrapped(f"- **{row.figure}**: {row.why}") for row in rows if row.agrees in ("partly", "no")
    ]
    if reasons:
        text += "\n\nWhere corymb does not agree:\n\n" + "\n".join(reasons)
    return text


def span(values: Sequence[float], form: str = "{:.2f}") -> str:
    """
    >>> span([1.5, 1.0, 2.25])
    '1.00 to 2.25'
    """
    return f"{form.format(min(values))} to {form.format(max(values))}"


def wrapped(text: str, columns: int = 110) -> str:
    """A paragraph or an item of a list, broken as the pages are."""
    lines, line = [], ""
    indent = "  " if text.startswith("- ") else ""
    for word in re.findall(r"(?:`[^`]*`|\S)+", text):  # Code is not broken.
        if line and len(line) + 1 + len(word) > columns:
            lines.append(line)
            line = indent + word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])
