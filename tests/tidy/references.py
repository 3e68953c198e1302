# SPDX-License-Identifier: Apache-2.0
"""References that are written by hand: tables of headers and of environment variables, which are to
have all that the code has and nothing else."""

import posixpath
import re
from collections.abc import Iterator

from tree import Finding, Source, Tree

CPP_PAGE = "docs/reference/cpp.md"
C_PAGE = "docs/reference/c.md"
VARIABLES_PAGE = "docs/reference/environment.md"
# Where code stands that users run. What tests and benchmarks pass to each other is not theirs.
RUN_BY_USERS = ("src", "include", "adapters", "launcher", "python")
# A variable that is read or set. Wrappers take its name as an argument.
READS = (
    r"getenv\(\s*\"(CORYMB_\w+)\"",
    r"(?:from|given)\([^;()]*\"(CORYMB_\w+)\"",
    r"environ(?:\.get\(|\[)\s*\"(CORYMB_\w+)\"",
    r"\"(CORYMB_\w+)\" in os\.environ",
)
ROW = re.compile(r"\| \[[^]]*\]\(([^)]*)\) \|(?:.*\|)? *([^|]*) \|$")


def _headers(tree: Tree, *endings: str) -> set[str]:
    public = (path for path in tree.sources if path.startswith("include/"))
    return {path for path in public if path.endswith(endings) and "/detail/" not in path}


def _rows(page: Source) -> Iterator[tuple[int, str, str]]:
    """(line, linked file, last cell) of each row of a table that begins with a link."""
    for number, line in enumerate(page.lines, 1):
        match = ROW.match(line)
        if match:
            folder = posixpath.dirname(page.path)
            yield number, posixpath.normpath(posixpath.join(folder, match[1])), match[2]


def check_header_tables(tree: Tree) -> Iterator[Finding]:
    """Each public header has a row in the table of its language, and declares what the row says."""
    for path, endings in ((CPP_PAGE, (".hpp",)), (C_PAGE, (".h",))):
        page = tree.sources.get(path)
        rows = list(_rows(page)) if page else []
        for header in sorted(_headers(tree, *endings) - {file for _, file, _ in rows}):
            yield Finding(path, 1, "header-table", f"`{header}` has no row")
        for number, file, names in rows:
            header = tree.sources.get(file)
            for name in re.findall(r"`(\w+)`", names) if header and path == CPP_PAGE else []:
                if not re.search(rf"\b{name}\b", header.code):
                    text = f"`{file}` does not declare `{name}`"
                    yield Finding(path, number, "header-table", text)


def _variables_read(tree: Tree) -> dict[str, tuple[str, int]]:
    """Variable -> a place where it is read."""
    found: dict[str, tuple[str, int]] = {}
    for source in tree.sources.values():
        is_code = source.is_cpp or source.suffix in (".c", ".py")
        if not is_code or not source.under(*RUN_BY_USERS):
            continue
        for pattern in READS:
            for match in re.finditer(pattern, source.text):
                line = source.text.count("\n", 0, match.start()) + 1
                found.setdefault(match[1], (source.path, line))
    return found


def check_variables(tree: Tree) -> Iterator[Finding]:
    """Each variable that is read has one row, and each row is of a variable that is read."""
    page = tree.sources.get(VARIABLES_PAGE)
    rows: dict[str, int] = {}
    for number, line in enumerate(page.lines if page else [], 1):
        match = re.match(r"\| `(CORYMB_\w+)` \|", line)
        if match and match[1] in rows:
            yield Finding(VARIABLES_PAGE, number, "variables", f"`{match[1]}` has two rows")
        elif match:
            rows[match[1]] = number
    read = _variables_read(tree)
    for name in sorted(read.keys() - rows.keys()):
        path, line = read[name]
        yield Finding(path, line, "variables", f"{VARIABLES_PAGE} has no row for `{name}`")
    for name in sorted(rows.keys() - read.keys()):
        yield Finding(VARIABLES_PAGE, rows[name], "variables", f"nothing reads `{name}`")
