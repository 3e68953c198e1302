# SPDX-License-Identifier: Apache-2.0
"""The files that the rules look at, with C++ comments and literals told apart from code."""

import re
import subprocess
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

CPP = (".hpp", ".cpp", ".h")
LITERAL_OR_COMMENT = re.compile(
    r"//[^\n]*"  # line comment
    r"|/\*.*?\*/"  # block comment
    r'|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",  # not the separator of 1'000
    re.DOTALL,
)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


@dataclass(frozen=True)
class Finding:
    """One broken rule at one place."""

    path: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


@dataclass
class Source:
    """One text file; `code` and `comments` have the same length and line breaks as `text`."""

    path: str
    text: str
    executable: bool = False

    @cached_property
    def suffix(self) -> str:
        return PurePosixPath(self.path).suffix

    @cached_property
    def is_cpp(self) -> bool:
        return self.suffix in CPP

    @cached_property
    def is_header(self) -> bool:
        return self.suffix in (".hpp", ".h")

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def code(self) -> str:
        """The text with comments, strings and characters blanked out."""
        return LITERAL_OR_COMMENT.sub(lambda match: _blank(match[0]), self.text)

    @cached_property
    def code_lines(self) -> list[str]:
        return self.code.splitlines()

    @cached_property
    def comment_lines(self) -> list[str]:
        """Per line, what stands in comments on it."""
        kept = list(_blank(self.text))
        for match in LITERAL_OR_COMMENT.finditer(self.text):
            if match[0].startswith(("//", "/*")):
                kept[match.start() : match.end()] = match[0]
        return "".join(kept).splitlines()

    @cached_property
    def includes(self) -> list[tuple[int, str, bool]]:
        """(line, path, in angle brackets) of each #include that is not commented out."""
        found = []
        for number, line in enumerate(self.lines, 1):
            match = re.match(r'\s*#\s*include\s*([<"])([^">]+)[">]', line)
            if match and self.code_lines[number - 1].lstrip().startswith("#"):
                found.append((number, match[2], match[1] == "<"))
        return found

    def under(self, *folders: str) -> bool:
        return self.path.startswith(tuple(f"{folder}/" for folder in folders))


@dataclass
class Tree:
    """All files of the repository; `sizes` also has those that are not text."""

    sources: dict[str, Source] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, files: dict[str, str]) -> "Tree":
        """A small tree for the tests of the rules."""
        sources = {path: Source(path, text) for path, text in files.items()}
        return cls(sources, {path: len(text) for path, text in files.items()})

    @classmethod
    def read(cls, root: Path) -> "Tree":
        """What git tracks or would track; without git, every file outside build folders."""
        tree = cls()
        for path in _file_names(root):
            file = root / path
            if file.is_symlink() or not file.is_file():
                continue
            data = file.read_bytes()
            tree.sizes[path] = len(data)
            try:
                text = data.decode("utf-8")
            except UnicodeDecodeError:
                continue
            if "\0" not in text:
                tree.sources[path] = Source(path, text, bool(file.stat().st_mode & 0o100))
        return tree

    def cpp(self, *folders: str) -> list[Source]:
        """The C++ files below the folders, all of them if none is named."""
        return [s for s in self.sources.values() if s.is_cpp and (not folders or s.under(*folders))]

    def with_suffix(self, *suffixes: str) -> list[Source]:
        return [s for s in self.sources.values() if s.suffix in suffixes]

    def exists(self, path: str) -> bool:
        return path in self.sizes or any(name.startswith(f"{path}/") for name in self.sizes)


def _file_names(root: Path) -> list[str]:
    command = ["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True).stdout.decode()
        names = [name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = []
    if not names:
        skipped = {"build", "dist", ".git", "__pycache__", ".venv"}
        found = (file.relative_to(root) for file in root.rglob("*"))
        names = [str(path) for path in found if not skipped.intersection(path.parts)]
    return sorted(set(names))
