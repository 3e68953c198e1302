# SPDX-License-Identifier: Apache-2.0
"""Sizes: lines in a file, lines in a function, columns in a line, bytes in a data file."""

import ast
import re
from collections.abc import Iterator

from tree import Finding, Source, Tree

FILE_LINES_MAX = 600
TEST_FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 70
COLUMNS_MAX = 100
BLOB_BYTES_MAX = 64 * 1024
DATA_BYTES_MAX = 4 * 1024 * 1024
DATA_FOLDERS = ("machines", "docs/images", "tests/data/hwloc")
PROGRAM = (".hpp", ".cpp", ".h", ".c", ".py", ".sh", ".cmake", ".rs")


def check_file_size(tree: Tree) -> Iterator[Finding]:
    for source in tree.with_suffix(*PROGRAM):
        limit = TEST_FILE_LINES_MAX if source.under("tests") else FILE_LINES_MAX
        if len(source.lines) > limit:
            text = f"{len(source.lines)} lines, at most {limit}: split it by idea"
            yield Finding(source.path, limit + 1, "file-size", text)


def check_line_length(tree: Tree) -> Iterator[Finding]:
    for source in tree.with_suffix(*PROGRAM):
        for number, line in enumerate(source.lines, 1):
            if len(line) > COLUMNS_MAX:
                text = f"{len(line)} columns, at most {COLUMNS_MAX}"
                yield Finding(source.path, number, "line-length", text)


def check_blobs(tree: Tree) -> Iterator[Finding]:
    for path, size in tree.sizes.items():
        limit = DATA_BYTES_MAX if path.startswith(DATA_FOLDERS) else BLOB_BYTES_MAX
        if size > limit:
            yield Finding(path, 1, "blob", f"{size} bytes, at most {limit} here")


def check_function_size(tree: Tree) -> Iterator[Finding]:
    for source in tree.sources.values():
        if source.is_cpp:
            functions = cpp_functions(source)
        elif source.suffix == ".py":
            functions = python_functions(source)
        else:
            continue
        for name, first, last in functions:
            if last - first + 1 > FUNCTION_LINES_MAX:
                text = f"{name} has {last - first + 1} lines, at most {FUNCTION_LINES_MAX}"
                yield Finding(source.path, first, "function-size", text)


def python_functions(source: Source) -> Iterator[tuple[str, int, int]]:
    """(name, first line, last line) of each function."""
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, node.end_lineno or node.lineno


_SCOPE = re.compile(
    r"(template\s*<.*>\s*)?(requires\b.*)?(inline\s+|export\s+|typedef\s+)*"
    r"(namespace|class|struct|union|enum|extern)\b",
    re.DOTALL,
)
_AFTER_PARAMETERS = re.compile(r"([)}\]&]|\b(const|noexcept|override|final|mutable|try))$")
_MEMBER_INITIALIZERS = re.compile(r"\)\s*(noexcept\s*(\([^()]*\))?\s*)?:(?!:)")


def cpp_functions(source: Source) -> Iterator[tuple[str, int, int]]:
    """As `python_functions`, by matching braces. A brace opens a function when what stands before
    it, since the last `;` or brace, has parameters and is neither a type nor an initializer.
    A lambda belongs to the function that it stands in."""
    code = re.sub(
        r"(?m)^[ \t]*#(?:\\\n|[^\n])*", lambda match: re.sub(r"[^\n]", " ", match[0]), source.code
    )
    start = position = 0
    while position < len(code):
        char = code[position]
        if char in ";}":
            start = position + 1
        elif char == "{":
            head = code[start:position].strip()
            kind = _kind_of_brace(head)
            if kind == "scope":
                start = position + 1
            else:
                end = _matching_brace(code, position)
                if kind == "function":
                    begin = start + len(code[start:position]) - len(code[start:position].lstrip())
                    yield _name(head), code.count("\n", 0, begin) + 1, code.count("\n", 0, end) + 1
                    start = end + 1
                position = end
        position += 1


def _kind_of_brace(head: str) -> str:
    head = re.sub(r"^((public|private|protected)\s*:\s*)+", "", head)
    if "(" not in head and not head.endswith("]"):
        return "initializer" if re.search(r"(=|,|\(|\breturn)$", head) else "scope"
    if _SCOPE.match(head) and not re.search(r"\)\s*(const|noexcept|->.*)?$", head):
        return "scope"
    if re.search(r"[=,(]$", head) and not re.search(r"operator\s*(=|,|==)$", head):
        return "initializer"
    if _MEMBER_INITIALIZERS.search(head) and not _AFTER_PARAMETERS.search(head):
        return "initializer"
    return "function"


def _matching_brace(code: str, position: int) -> int:
    depth = 0
    for index in range(position, len(code)):
        if code[index] == "{":
            depth += 1
        elif code[index] == "}":
            depth -= 1
            if depth == 0:
                return index
    return len(code) - 1


def _name(head: str) -> str:
    match = re.search(r"([\w:~]+|operator\s*\S+)\s*\(", head)
    if match and match[1] in ("TEST", "TEST_F", "TEST_P"):
        return re.sub(r"\s+", " ", head[match.start() :])
    return match[1] if match else "function"
