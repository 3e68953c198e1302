# SPDX-License-Identifier: Apache-2.0
"""Measured figures stand in docs/results alone, where they are rendered from records. Elsewhere a
number with a unit of time, rate or ratio is a limit or a default, and stands in a table of such:
its header or the heading above says so."""

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
HEADING = re.compile(r"#+ ")
SECTION_OF_LIMITS = re.compile(r"#+ (Limits|Defaults|Constants)\b")


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """Numbered lines of prose and of tables of something else than limits and defaults."""
    is_fenced = is_allowed = in_table = in_section = False
    for number, line in enumerate(source.lines, 1):
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
        if not is_fenced and HEADING.match(line):
            in_section = bool(SECTION_OF_LIMITS.match(line))
        if not line.startswith("|"):
            in_table = False
        elif not in_table:
            in_table = True
            says_so = in_section or bool(TABLE_OF_LIMITS.search(line))
            is_allowed = source.under("docs/reference") or says_so
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
