# SPDX-License-Identifier: Apache-2.0
"""The project has one version, in the macros of include/corymb/version.hpp. A file format has one,
in its schema of docs/schema. Other places read or repeat these."""

import re
from collections.abc import Iterator

from tree import Finding, Tree

HEADER = "include/corymb/version.hpp"
# Files that repeat the version for readers who have no tool: (path, what stands before it).
REPEATED = (("CITATION.cff", r"^version: "), ("CHANGELOG.md", r"^## \["))
# Files that read it from the header, and must not have a number of their own.
READERS = (("CMakeLists.txt", r"project\([^)]*VERSION \d"), ("pyproject.toml", r"^version *="))
FORMATS = r"\bcorymb-({names})/(\d+)"


def version(tree: Tree) -> str:
    text = tree.sources[HEADER].text
    return ".".join(re.findall(r"^#define CORYMB_VERSION_\w+ (\d+)$", text, re.MULTILINE))


def check_version(tree: Tree) -> Iterator[Finding]:
    if HEADER not in tree.sources:
        return
    wanted = version(tree)
    if not re.fullmatch(r"\d+\.\d+\.\d+", wanted):
        yield Finding(HEADER, 1, "version", "want three macros: MAJOR, MINOR and PATCH")
    for path, before in REPEATED:
        page = tree.sources.get(path)
        found = re.search(before + r"(\d[^\]\s]*)", page.text, re.MULTILINE) if page else None
        if page and (not found or found[1] != wanted):
            text = f"`{found[1] if found else 'none'}`, but {HEADER} has {wanted}"
            yield Finding(path, 1, "version", text)
    for path, pattern in READERS:
        page = tree.sources.get(path)
        found = re.search(pattern, page.text, re.MULTILINE) if page else None
        if found:
            line = page.text.count("\n", 0, found.start()) + 1
            yield Finding(path, line, "version", f"the version is read from {HEADER}")


def check_formats(tree: Tree) -> Iterator[Finding]:
    """Sources and pages name the version of a format that its schema has. Tests name wrong ones."""
    numbers = {}
    for path, source in tree.sources.items():
        name = re.fullmatch(r"docs/schema/(\w+)-(\d+)\.schema\.json", path)
        if name:
            numbers[name[1]] = name[2]
            if not re.search(rf'"const": "corymb-{name[1]}/{name[2]}"', source.text):
                text = f"`schema` is no constant corymb-{name[1]}/{name[2]}"
                yield Finding(path, 1, "version", text)
    if not numbers:
        return
    pattern = re.compile(FORMATS.format(names="|".join(numbers)))
    for source in tree.sources.values():
        if source.under("tests", "docs/decisions"):
            continue
        for number, line in enumerate(source.lines, 1):
            for found in pattern.finditer(line):
                if found[2] != numbers[found[1]]:
                    text = f"`{found[0]}`, but docs/schema has version {numbers[found[1]]}"
                    yield Finding(source.path, number, "version", text)
