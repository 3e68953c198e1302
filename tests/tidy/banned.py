# SPDX-License-Identifier: Apache-2.0
"""Words that code may not hold, each with what to write instead."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree import Finding, Source, Tree

ORDER_PAGE = "docs/explain/memory-order.md"


@dataclass(frozen=True)
class Ban:
    """A pattern over C++ code (comments and literals blanked) and where it holds."""

    pattern: str
    instead: str
    folders: tuple[str, ...] = ()  # empty: everywhere
    headers_only: bool = False
    except_c: bool = False  # not in headers that C programs read
    allow: str = ""  # a line that matches this is let through


BANS = (
    Ban(r"\bvolatile\b", "use an atomic of the Env policy", allow=r"\b(asm|__asm__)\s+volatile\b"),
    Ban(r"\busing\s+namespace\b", "name what you use", headers_only=True),
    Ban(r"\bstd::endl\b", "write '\\n'"),
    Ban(r"\b(s?rand|random_shuffle|drand48)\s*\(", "use base/random.hpp, it is seeded"),
    Ban(
        r"\b(abort|std::terminate|_?exit|quick_exit)\s*\(",
        "throw corymb::Error",
        ("src", "include"),
    ),
    Ban(r"\b(std::cout|std::cerr|printf|puts)\b", "the library never prints", ("src", "include")),
    Ban(r"\bsleep_(for|until)\b", "worlds have no time: block on an await", ("tests/model",)),
    Ban(r"\bNULL\b", "write nullptr", except_c=True),
    Ban(r"^\s*typedef\b", "write using X = ...", except_c=True),
    Ban(r"\bgoto\b", "return early, or make a function of the inner loop"),
    Ban(r"\b(strcpy|strcat|sprintf|strtok|gets|atoi|atof)\s*\(", "use std::string or from_chars"),
    Ban(r"\.load\(\s*\)", "name the memory order", ("src", "include", "verify", "bench")),
)


def check_banned_words(tree: Tree) -> Iterator[Finding]:
    for source in tree.cpp():
        for ban in BANS:
            if ban.folders and not source.under(*ban.folders):
                continue
            if ban.headers_only and not source.is_header:
                continue
            if ban.except_c and source.suffix == ".h":
                continue
            for number, line in enumerate(source.code_lines, 1):
                match = re.search(ban.pattern, line)
                if match and not (ban.allow and re.search(ban.allow, line)):
                    word = match[0].strip().rstrip("(")
                    yield Finding(source.path, number, "banned", f"`{word}`: {ban.instead}")


_TUNED = re.compile(r"\bTuned<")


def check_tuned_numbers(tree: Tree) -> Iterator[Finding]:
    """Numbers of rules stand in one header of their layer, where `make ablation` finds them."""
    for source in tree.cpp("src"):
        if source.path.endswith(("/tuning.hpp", "src/base/tuned.hpp")):
            continue
        for number, line in enumerate(source.code_lines, 1):
            if _TUNED.search(line):
                yield Finding(source.path, number, "tuned", "goes to tuning.hpp of its layer")


_FIXED_LIMIT = re.compile(r"\btimeout=\(?\d|\b(monotonic|time|perf_counter)\(\) [+<] \d")
_SPEED = re.compile(r"\b(?:EXPECT|ASSERT)_L[TE]\([^;]*\bnow\(\) - |\bnow\(\) - \w+ < ")


def check_limits_of_tests(tree: Tree) -> Iterator[Finding]:
    """Limits follow the machine, and no test asserts that something takes less than a time."""
    for source in tree.with_suffix(".py"):
        if source.under("tests/python", "tests/mpi"):
            yield from _each(source, _FIXED_LIMIT, source.text, "use LIMIT_S of tests/limits.py")
    for source in tree.cpp("tests"):
        yield from _each(source, _SPEED, source.code, "assert what happened, not how long it took")


def _each(source: Source, pattern: re.Pattern[str], text: str, instead: str) -> Iterator[Finding]:
    for match in pattern.finditer(text):
        number = text.count("\n", 0, match.start()) + 1
        yield Finding(source.path, number, "limits", instead)


_ACCESS = re.compile(
    r"(?:\.|->)(store|exchange|fetch_(?:add|sub|or|and|xor)|compare_exchange_(?:weak|strong))\s*\("
)


def check_default_orders(tree: Tree) -> Iterator[Finding]:
    """Every atomic access names its order (a parameter called `order` counts)."""
    for source in tree.cpp("src", "include", "verify", "bench"):
        if not re.search(r"atomic|memory_order|\bEnv\b", source.code, re.IGNORECASE):
            continue  # other things may have an exchange, too
        for match in _ACCESS.finditer(source.code):
            arguments = _arguments(source.code, match.end())
            if not re.search(r"order|relaxed|acquire|release|acq_rel", arguments):
                number = source.code.count("\n", 0, match.start()) + 1
                text = f"`{match[1]}` names no memory order"
                yield Finding(source.path, number, "default-order", text)


def _arguments(code: str, start: int) -> str:
    depth = 1
    for index in range(start, min(start + 2000, len(code))):
        depth += {"(": 1, ")": -1}.get(code[index], 0)
        if depth == 0:
            return code[start:index]
    return ""


def check_strongest_orders(tree: Tree) -> Iterator[Finding]:
    """seq_cst and fences only where docs/explain/memory-order.md lists the file and says why."""
    page = tree.sources.get(ORDER_PAGE)
    listed = set(re.findall(r"`([\w/]+\.[hc]pp)`", page.text)) if page else set()
    for source in tree.cpp("src", "include"):
        if source.path in listed:
            continue
        for number, line in enumerate(source.code_lines, 1):
            match = re.search(r"memory_order(?:_|::)seq_cst|atomic_thread_fence", line)
            if match:
                text = f"`{match[0]}`: list the file in {ORDER_PAGE} and say why, or do without"
                yield Finding(source.path, number, "strongest-order", text)


def check_leftovers(tree: Tree) -> Iterator[Finding]:
    """Marks of unfinished work, in code and in documents."""
    for source in tree.sources.values():
        if source.under("tests/tidy"):
            continue
        for number, line in enumerate(source.lines, 1):
            match = re.search(r"\b(FIXME|TODO|XXX|HACK)\b", line)
            if match:
                yield Finding(source.path, number, "leftover", f"`{match[0]}`: finish it")


def check_slow_headers(tree: Tree) -> Iterator[Finding]:
    for source in tree.cpp("src", "include"):
        for number, path, _ in source.includes:
            slow = path in ("nlohmann/json.hpp", "iostream", "regex")
            leak = source.under("include") and path in ("hwloc.h", "fmt/format.h")
            if source.is_header and (slow or leak):
                text = f"<{path}> in a header: include it in the .cpp"
                yield Finding(source.path, number, "slow-header", text)


SPDX = "SPDX-License-Identifier: Apache-2.0"
_WITH_SPDX = (".hpp", ".cpp", ".h", ".c", ".py", ".sh", ".cmake", ".rs")


def check_first_lines(tree: Tree) -> Iterator[Finding]:
    """The licence line first (after #! and shellcheck), then #pragma once in headers."""
    for source in tree.sources.values():
        named = source.path.endswith(("CMakeLists.txt", "Makefile"))
        if not named and source.suffix not in _WITH_SPDX:
            continue
        before = [line for line in source.lines[:3] if not line.startswith(("#!", "# shellcheck"))]
        if source.text.strip() and (not before or SPDX not in before[0]):
            yield Finding(source.path, 1, "licence", f"the first line is not `{SPDX}`")
        # Highway lets its `-inl` headers in once for each instruction set.
        repeated = source.path.endswith("-inl.hpp")
        once = re.search(r"^#pragma once$", source.text, re.MULTILINE)
        if source.is_header and not once and not repeated:
            yield Finding(source.path, 1, "pragma-once", "the header has no `#pragma once`")


def check_executable_bit(tree: Tree) -> Iterator[Finding]:
    for source in tree.sources.values():
        if source.text.startswith("#!") != source.executable:
            text = "executable, without #!" if source.executable else "#!, but not executable"
            yield Finding(source.path, 1, "executable", text)
