# SPDX-License-Identifier: Apache-2.0
"""Documents: one title a page, links that lead somewhere, pages that something links to, and no
word that belongs to the place where the work was done instead of to the project."""

import posixpath
import re
from collections.abc import Iterator

from tree import Finding, Source, Tree

DECISIONS = "docs/decisions"

# Each has a bracket in it so that this file does not match itself.
FOREIGN = (
    (r"/[w]ork/", "a path of one machine"),
    (r"/[r]oot/|/[t]mp/wt|/[h]ome/\w+/", "a path of one machine"),
    (r"\.\./[s]hared\b", "a path outside the repository"),
    (
        r"[p]ypi\.org|[p]ythonhosted\.org|[c]rates\.io|[d]eb\.debian\.org|[s]napshot\.debian\.org",
        "a registry host: name the package instead",
    ),
    (
        r"[n]pmjs\.(org|com)|[p]roxy\.golang\.org|[r]epo1\.maven|[a]rtifact-?registry",
        "a registry host: name the package instead",
    ),
    (r"\b[A]I\b|\b[L]LMs?\b", "a word foreign to the project"),
    (
        r"(?i)\b([a]ssistants?|[l]anguage models?|[s]ubagents?|[c]laude|[a]nthropic|[c]hatgpt)\b",
        "a word foreign to the project",
    ),
    (
        r"(?i)\b[w]orkplace\b|\b[t]ool library\b|\b[s]ession transcript|\bthe [b]rief\b|\b[C]EO\b",
        "a word foreign to the project",
    ),
)
FOREIGN_EXEMPT = ("Cargo.lock",)  # made by cargo, which writes its registry's address


def _prose(source: Source) -> list[tuple[int, str]]:
    """Numbered lines outside fenced code."""
    lines, fenced = [], False
    for number, line in enumerate(source.lines, 1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced:
            lines.append((number, line))
    return lines


def check_titles(tree: Tree) -> Iterator[Finding]:
    for source in tree.with_suffix(".md"):
        titles = [number for number, line in _prose(source) if re.match(r"# \S", line)]
        if len(titles) != 1:
            line = titles[1] if titles else 1
            yield Finding(source.path, line, "one-title", f"{len(titles)} titles (`# `), want one")


def _links(source: Source) -> Iterator[tuple[int, str, str]]:
    """(line, file, anchor) of each relative link; the file is empty for a link within the page."""
    for number, line in _prose(source):
        bare = re.sub(r"`[^`]*`", "", line)
        found = re.findall(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)", bare)
        found += re.findall(r"(?:src|href)=\"([^\"]+)\"", bare)
        for link in found:
            if not re.match(r"[a-z]+:", link):
                file, _, anchor = link.partition("#")
                yield number, file, anchor


def _target(source: Source, file: str) -> str:
    folder = posixpath.dirname(source.path)
    return posixpath.normpath(posixpath.join(folder, file)) if file else source.path


def _anchors(page: Source) -> set[str]:
    """Anchors of the headings, made as the usual renderers do."""
    anchors = set()
    for _, line in _prose(page):
        match = re.match(r"#{1,6} (.*)", line)
        if match:
            words = re.sub(r"[^\w\- ]", "", match[1].strip().lower())
            anchors.add(words.replace(" ", "-"))
    return anchors


def check_links(tree: Tree) -> Iterator[Finding]:
    for source in tree.with_suffix(".md"):
        for number, file, anchor in _links(source):
            target = _target(source, file)
            if target != "." and not tree.exists(target):
                yield Finding(source.path, number, "link", f"`{file}` does not exist")
                continue
            page = tree.sources.get(target)
            if anchor and page and page.suffix == ".md" and anchor not in _anchors(page):
                text = f"`{target}` has no heading `{anchor}`"
                yield Finding(source.path, number, "link", text)


def check_reachable(tree: Tree) -> Iterator[Finding]:
    """Every page and picture below docs/ is linked from somewhere, decisions from their index."""
    index = f"{DECISIONS}/README.md"
    linked: dict[str, set[str]] = {}
    for source in tree.with_suffix(".md"):
        for _, file, _ in _links(source):
            linked.setdefault(_target(source, file), set()).add(source.path)
    for path in tree.sizes:
        if not path.startswith("docs/"):
            continue
        sources = linked.get(path, set()) | linked.get(posixpath.dirname(path), set())
        if path.startswith(f"{DECISIONS}/") and path != index:
            if index not in sources:
                yield Finding(path, 1, "unlinked", f"{index} does not link it")
        elif not sources - {path}:
            yield Finding(path, 1, "unlinked", "no page links it")


def check_code_blocks(tree: Tree) -> Iterator[Finding]:
    """The C++ on the first page is that of a program which is compiled and run."""
    programs = [source.text for source in tree.cpp("examples")]
    page = tree.sources.get("README.md")
    for match in re.finditer(r"^```cpp\n(.*?)^```$", page.text if page else "", re.M | re.S):
        if not any(match[1] in program for program in programs):
            number = page.text.count("\n", 0, match.start()) + 1
            text = "this C++ stands in no file of examples/"
            yield Finding(page.path, number, "code-block", text)


def check_foreign_words(tree: Tree) -> Iterator[Finding]:
    for source in tree.sources.values():
        if source.path.endswith(FOREIGN_EXEMPT):
            continue
        for number, line in enumerate(source.lines, 1):
            for pattern, text in FOREIGN:
                match = re.search(pattern, line)
                if match:
                    yield Finding(source.path, number, "foreign-word", f"`{match[0]}`: {text}")
