# SPDX-License-Identifier: Apache-2.0
"""Pages that can be read: short sentences, short lines, short cells of tables. What is quoted (`>`)
is as it was written."""

import re
from collections.abc import Iterator

from tree import Finding, Source, Tree

SENTENCE_WORDS_MAX = 35  # A code span or a link counts as its text, a code span as one word.
LINE_COLUMNS_MAX = 120
CELL_CHARACTERS_MAX = 120


def _plain(text: str) -> str:
    """What a reader reads: links are their text, a code span is one word."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "code", text)
    return text.replace("e.g.", "eg").replace("i.e.", "ie").replace("**", "")


def _unbroken(line: str) -> str:
    """Without spaces at which a line cannot be broken."""
    return re.sub(r"`[^`]*(`|$)", lambda span: span[0].replace(" ", "_"), line)


def _cells(line: str) -> list[str]:
    bare = re.sub(r"`[^`]*`", lambda span: span[0].replace("|", "/"), line)
    return [cell.strip() for cell in bare.strip().strip("|").split("|")]


def _is_table(line: str) -> bool:
    return line.lstrip().startswith("|")


def _outside_code(source: Source) -> Iterator[tuple[int, str]]:
    is_fenced = False
    for number, line in enumerate(source.lines, 1):
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
            yield number, ""
        elif is_fenced or line.startswith(("    ", ">")):
            yield number, ""
        else:
            yield number, line


def _paragraphs(source: Source) -> Iterator[tuple[int, str]]:
    """(line, text) of each paragraph and each item of a list."""
    first, words = 0, ""
    for number, line in [*_outside_code(source), (0, "")]:
        begins = re.match(r"\s*([-*+]|\d+\.) |#|>", line)
        if words and (begins or not line.strip() or _is_table(line)):
            yield first, words
            words = ""
        if line.strip() and not _is_table(line) and not line.startswith("#"):
            first = number if not words else first
            words = f"{words} {line.strip()}"


def _breaks(source: Source) -> Iterator[tuple[int, str]]:
    for number, line in _outside_code(source):
        if _is_table(line):
            longest = max(len(_plain(cell)) for cell in _cells(line))
            if longest > CELL_CHARACTERS_MAX:
                yield number, f"a cell of {longest} characters, at most {CELL_CHARACTERS_MAX}"
        elif len(line) > LINE_COLUMNS_MAX and " " in _unbroken(line[:LINE_COLUMNS_MAX]).strip():
            yield number, f"{len(line)} columns, at most {LINE_COLUMNS_MAX}"
    for number, text in _paragraphs(source):
        for sentence in re.split(r"(?<=[.!?])[)\"']*\s+", _plain(text)):
            count = sum(bool(re.search(r"\w", word)) for word in sentence.split())
            if count > SENTENCE_WORDS_MAX:
                begin = " ".join(sentence.split()[:5])
                yield number, f"{count} words, at most {SENTENCE_WORDS_MAX}: {begin} ..."


def check_prose(tree: Tree) -> Iterator[Finding]:
    for source in tree.with_suffix(".md"):
        for number, text in _breaks(source):
            yield Finding(source.path, number, "prose", text)
