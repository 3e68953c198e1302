# SPDX-License-Identifier: Apache-2.0
"""Lock-free files: the opening comment argues the protocol, and tags in the code tie it to that.

The opening comment has seven parts in this order, each a paragraph that begins with its name:
`Purpose:`, `Roles:`, `Layout:`, `Protocol:`, `Order:`, `Progress:`, `Checked by:`. `Order:` names
each pair: `P1: release store of x in push -> acquire load in pop: publishes slot[i]`. In the code a
comment `// P1 release` or `// P1 acquire` stands on the line of each access that is not relaxed, or
on the line before it. `A1` names a chain of read-modify-writes, each of which is both ends. A pair
of an asymmetric fence is `F1`; both its fences carry `// F1`.

Files that only wrap an order for others ("Primitives" in PAGE) are left out.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tree import Finding, Source, Tree

PAGE = "docs/explain/memory-order.md"
PARTS = ("purpose", "roles", "layout", "protocol", "order", "progress", "checked by")
ORDER = re.compile(r"\bmemory_order(?:_|::)(relaxed|consume|acquire|release|acq_rel|seq_cst)\b")
FENCE = re.compile(r"\b(light|heavy|full)_fence\s*\(")
TAG = re.compile(r"\b([PA]\d+) (release|acquire)\b")
FENCE_TAG = re.compile(r"\b(F\d+)\b")
NAMED = re.compile(r"\b([PAF]\d+)\s*:")
ENDS = {
    "acquire": {"acquire"},
    "consume": {"acquire"},
    "release": {"release"},
    "acq_rel": {"acquire", "release"},
    "seq_cst": {"acquire", "release"},
}


def primitives(tree: Tree) -> set[str]:
    """The files that docs/explain/memory-order.md lists below its heading "Primitives"."""
    page = tree.sources.get(PAGE)
    section = re.search(r"^## Primitives$(.*?)(?=^## |\Z)", page.text if page else "", re.M | re.S)
    return set(re.findall(r"`([\w/]+\.[hc]pp)`", section[1])) if section else set()


def lock_free_sources(tree: Tree) -> list[Source]:
    """Files that name an order stronger than relaxed, or use orders through an Env policy."""
    exempt = primitives(tree)
    found = []
    for source in tree.cpp("src", "include"):
        orders = {match[1] for match in ORDER.finditer(source.code)}
        env = re.search(r"\b(class|typename) Env\b", source.code)
        if source.path not in exempt and (orders - {"relaxed"} or (orders and env)):
            found.append(source)
    return found


def opening_comment(source: Source) -> list[str]:
    """The text of the `//` lines after the licence line."""
    lines = []
    for line in source.lines[1:]:
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").strip())
    return lines


def parts_of(comment: list[str]) -> dict[str, str]:
    """Part name -> its text, in the order in which they stand."""
    parts: dict[str, str] = {}
    current = None
    for line in comment:
        match = re.match(rf"({'|'.join(PARTS)})\s*(?:\([^)]*\))?:\s*(.*)", line, re.IGNORECASE)
        if match:
            current = match[1].lower()
            parts[current] = match[2]
        elif current:
            parts[current] += f" {line}"
    return {name: text.strip() for name, text in parts.items()}


def check_headers(tree: Tree) -> Iterator[Finding]:
    for source in lock_free_sources(tree):
        if not source.is_header:
            continue
        parts = parts_of(opening_comment(source))
        missing = [name for name in PARTS if not parts.get(name)]
        if missing:
            text = f"the opening comment lacks: {', '.join(missing)}"
            yield Finding(source.path, 2, "lock-free-header", text)
        elif tuple(parts) != PARTS:
            text = f"the parts stand in another order than {', '.join(PARTS)}"
            yield Finding(source.path, 2, "lock-free-header", text)


def _comment_at(source: Source, number: int) -> str:
    """The comment on this line, and on the line before if that has no code of its own."""
    comment = source.comment_lines[number - 1]
    if number > 1 and not source.code_lines[number - 2].strip():
        comment = f"{source.comment_lines[number - 2]} {comment}"
    return comment


def check_tags(tree: Tree) -> Iterator[Finding]:
    """No order stronger than relaxed, and no fence, without a tag that names its pair."""
    for source in lock_free_sources(tree):
        for number, line in enumerate(source.code_lines, 1):
            comment = _comment_at(source, number)
            for order in sorted({match[1] for match in ORDER.finditer(line)} - {"relaxed"}):
                if not {end for _, end in TAG.findall(comment)} & ENDS[order]:
                    wanted = " or ".join(sorted(ENDS[order]))
                    text = f"`{order}` without a tag such as `// P1 {wanted}`"
                    yield Finding(source.path, number, "order-tag", text)
            if FENCE.search(line) and not FENCE_TAG.search(comment):
                yield Finding(source.path, number, "order-tag", "a fence without a tag `// F1`")


def check_pairs(tree: Tree) -> Iterator[Finding]:
    """Each pair that the opening comment names has both ends in code, and each tag is named there.

    The other end may stand in a file that the opening comment names by its path below src/. A .cpp
    without pairs of its own follows the comment of its header.
    """
    for source in lock_free_sources(tree):
        argument = " ".join(opening_comment(source))
        own = _ends(source)
        argued = set(NAMED.findall(argument))
        if source.is_header or argued:
            ends = own.union(*(_ends(other) for other in _other_files(source, argument, tree)))
            yield from _missing_ends(source, argued, ends)
        else:
            header = tree.sources.get(str(PurePosixPath(source.path).with_suffix(".hpp")))
            argued = set(NAMED.findall(" ".join(opening_comment(header)))) if header else set()
        for pair in sorted({pair for pair, _ in own} - argued):
            text = f"the opening comment does not argue {pair}"
            yield Finding(source.path, 2, "order-pair", text)


def _missing_ends(
    source: Source, argued: set[str], ends: set[tuple[str, str]]
) -> Iterator[Finding]:
    for pair in sorted(argued):
        if {of for of in ends if of[0] == pair} == {(pair, "full")}:
            continue  # Full at both ends.
        for end in ("light", "heavy") if pair.startswith("F") else ("release", "acquire"):
            if (pair, end) not in ends:
                text = f"{pair} has no {end} end in the code"
                yield Finding(source.path, 2, "order-pair", text)


def _ends(source: Source) -> set[tuple[str, str]]:
    """(pair, end) of each tag below the opening comment; the ends of a fence pair are its kinds."""
    ends: set[tuple[str, str]] = set()
    first = 2 + len(opening_comment(source))
    for number in range(first, len(source.lines) + 1):
        ends.update(TAG.findall(source.comment_lines[number - 1]))
        for fence in FENCE.findall(source.code_lines[number - 1]):
            ends.update((pair, fence) for pair in FENCE_TAG.findall(_comment_at(source, number)))
    return ends


def _other_files(source: Source, argument: str, tree: Tree) -> list[Source]:
    paths = {f"src/{name}" for name in re.findall(r"\b([\w/]+\.[hc]pp)\b", argument)}
    paths.add(str(PurePosixPath(source.path).with_suffix(".cpp")))
    return [tree.sources[path] for path in sorted(paths - {source.path}) if path in tree.sources]
