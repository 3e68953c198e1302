# SPDX-License-Identifier: Apache-2.0
"""Measured figures stand in docs/results alone, where they are rendered from records. Elsewhere a
number with a unit of time, rate or ratio is a limit or a default, and stands in a table of such."""

import re
from collections.abc import Iterator

from tree import Finding, Source, Tree

# Decisions are dated records of what was known then, machines say how their data came about.
EXEMPT = ("docs/results/", "docs/decisions/", "machines/")

# "two times" counts, "two times as fast" compares.
COUNT = r"(?:\d[\d.,]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|twenty|hundred)\b)"
UNIT = r"(?:ns|[uµμ]s|ms|s|seconds?|[kMG]i?B/s|B/s|[MG]bit/s)"
FIGURE = re.compile(
    rf"(?<![\w.^#-]){COUNT}(?:[- ]?{UNIT}\b| ?%|x\b| times(?= (?:as|the|that|more|less|longer)\b))"
)
TABLE_OF_LIMITS = re.compile(r"\b(limit|default|constant)s?\b", re.IGNORECASE)


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """Numbered lines of prose and of tables of something else than limits and defaults."""
    is_fenced = is_allowed = in_table = False
    for number, line in enumerate(source.lines, 1):
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
        if not line.startswith("|"):
            in_table = False
        elif not in_table:
            in_table = True
            is_allowed = source.under("docs/reference") or bool(TABLE_OF_LIMITS.search(line))
        if not is_fenced and not line.startswith(("    ", ">")) and not (in_table and is_allowed):
            yield number, re.sub(r"`[^`]*(?:`|$)", "code", line)


def _figures(source: Source) -> Iterator[Finding]:
    for number, line in _lines(source):
        for match in FIGURE.finditer(line):
            text = f"`{match[0]}`: figures stand in docs/results, limits in a table of limits"
            yield Finding(source.path, number, "figure", text)


def check_figures(tree: Tree) -> Iterator[Finding]:
    for source in tree.with_suffix(".md"):
        if not source.path.startswith(EXEMPT):
            yield from _figures(source)
