# SPDX-License-Identifier: Apache-2.0
"""Documents: one title a page, links that lead somewhere, pages that something links to, and no
word that belongs to the place where the work was done instead of to the project."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree import LITERAL_OR_COMMENT, Finding, Source, Tree

DECISIONS = "docs/decisions"
PURPOSE_LINES_MAX = 4
INDEXES = ("README.md", "index.md")
# Pages with a purpose of another kind: decisions have their state, repeated papers their source.
OTHER_PURPOSE = (r"docs/decisions/\d", r"docs/decisions/template\.md", r"docs/results/seeds/[a-z]")

# Folders whose programs the tests compile or run. Blocks of code on pages are parts of them.
PROGRAMS = ("examples", "tests/documents")
LANGUAGES = {"cpp": (".cpp", ".hpp"), "c": (".c", ".cpp"), "python": (".py",)}
PAGES_WITH_CODE = (
    "README.md",
    "docs/start",
    "docs/how-to",
    "docs/reference/c.md",
    "docs/reference/collectives.md",
    "docs/reference/messages.md",
    "docs/reference/operators.md",
    "docs/reference/partition.md",
    "docs/reference/plan.md",
    "docs/reference/processes.md",
)
NOT_CODE = ("sh", "console", "text", "json", "cmake", "make", "dockerfile")
# Why a block may be neither compiled nor run: `<!-- not run: root -->` on the line before it.
REASONS = ("root", "several nodes", "minutes", "MPI")
MARKED_SHARE = 10  # At most one block in so many is marked.


@dataclass(frozen=True)
class Block:
    """A fenced block of code; `reason` says why it is not run, None if nothing is said."""

    line: int
    language: str
    text: str
    reason: str | None


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


def _blocks(source: Source) -> Iterator[Block]:
    before = ""
    begin: int | None = None
    for number, line in enumerate(source.lines, 1):
        fence = re.match(r"\s*(```+|~~~+)(.*)", line)
        if fence and begin is None:
            begin, language, mark = number, fence[2].strip(), before
        elif fence and begin is not None:
            reason = re.fullmatch(r"<!-- not run: (.*) -->", mark)
            text = "\n".join(source.lines[begin : number - 1])
            yield Block(begin, language, text, reason[1] if reason else None)
            begin = None
        if line.strip():
            before = line.strip()


def _tokens(language: str, text: str) -> str:
    """Code without comments and white space: pages and programs break lines in different places."""
    if language == "python":
        return re.sub(r"\s", "", re.sub(r"#[^\n\"']*$", "", text, flags=re.M))
    return "".join(
        text[begin:end] if is_literal else re.sub(r"\s", "", text[begin:end])
        for begin, end, is_literal in _pieces(text)
    )


def _pieces(text: str) -> Iterator[tuple[int, int, bool]]:
    """(begin, end, whether it is a literal) of all of a text; comments are left out."""
    at = 0
    for match in LITERAL_OR_COMMENT.finditer(text):
        yield at, match.start(), False
        if not match[0].startswith(("//", "/*")):
            yield match.start(), match.end(), True
        at = match.end()
    yield at, len(text), False


def check_code_blocks(tree: Tree) -> Iterator[Finding]:
    """Each block of code is a part of a program that the tests compile, or is run by them, or says
    why it is not."""
    programs = [source for source in tree.sources.values() if source.under(*PROGRAMS)]
    of_language = {
        name: [_tokens(name, source.text) for source in programs if source.suffix in suffixes]
        for name, suffixes in LANGUAGES.items()
    }
    count, marked = 0, []
    for source in tree.with_suffix(".md"):
        if source.path not in PAGES_WITH_CODE and not source.under(*PAGES_WITH_CODE):
            continue
        for block in _blocks(source):
            count += 1
            text = ""
            if block.reason is not None:
                marked.append((source.path, block.line))
                if block.reason not in REASONS:
                    text = f"`{block.reason}` is no reason; there are {', '.join(REASONS)}"
            elif block.language in LANGUAGES:
                code = _tokens(block.language, block.text)
                if not any(code in program for program in of_language[block.language]):
                    text = f"this stands in no file of {' or '.join(PROGRAMS)}"
            elif block.language not in NOT_CODE:
                known = ", ".join((*NOT_CODE, *LANGUAGES))
                text = f"`{block.language}` is none of {known}"
            if text:
                yield Finding(source.path, block.line, "code-block", text)
    if len(marked) * MARKED_SHARE > max(count, MARKED_SHARE):
        path, line = marked[-1]
        text = f"{len(marked)} of {count} blocks are not run, more than one in {MARKED_SHARE}"
        yield Finding(path, line, "code-block", text)


def check_purposes(tree: Tree) -> Iterator[Finding]:
    """Below its title each page says what it is for, before any table, list or code."""
    for source in tree.with_suffix(".md"):
        page = source.path
        if not page.startswith("docs/") or any(re.match(kind, page) for kind in OTHER_PURPOSE):
            continue
        lines = source.lines
        title = next((at for at, line in enumerate(lines) if line.startswith("# ")), None)
        text = "\n".join(lines[title + 1 :] if title is not None else []).strip()
        first = text.partition("\n\n")[0]
        is_prose = re.match(r"[\w`\[*<].*[.:?]\**$", first, re.S)
        if not is_prose or first.count("\n") >= PURPOSE_LINES_MAX:
            said = f"no sentence of purpose, at most {PURPOSE_LINES_MAX} lines, below the title"
            yield Finding(page, (title or 0) + 1, "purpose", said)


def check_folder_indexes(tree: Tree) -> Iterator[Finding]:
    """Each folder of docs/ with pages has an index, which links all of them."""
    pages = [source.path for source in tree.with_suffix(".md") if source.under("docs")]
    for folder in sorted({posixpath.dirname(page) for page in pages}):
        index = next((f"{folder}/{name}" for name in INDEXES if f"{folder}/{name}" in pages), None)
        if index is None:
            yield Finding(folder, 1, "index", f"no {' or '.join(INDEXES)}")
            continue
        source = tree.sources[index]
        linked = {_target(source, file) for _, file, _ in _links(source)}
        for page in pages:
            is_own = posixpath.dirname(page) == folder and page != index
            if is_own and page not in linked:
                yield Finding(page, 1, "index", f"{index} does not link it")


def check_foreign_words(tree: Tree) -> Iterator[Finding]:
    for source in tree.sources.values():
        if source.path.endswith(FOREIGN_EXEMPT):
            continue
        for number, line in enumerate(source.lines, 1):
            for pattern, text in FOREIGN:
                match = re.search(pattern, line)
                if match:
                    yield Finding(source.path, number, "foreign-word", f"`{match[0]}`: {text}")
