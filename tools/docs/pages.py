#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pages that Sphinx reads, in build/docs-work/pages: the repository's own, with links
that hold in the site, and those of the references, made from headers and docstrings.

A page of the repository stays as it is on the forge. A link to a public header leads to the page of
that header, a link to any other text file to a page with its text. The pages that an index links to
stand below it in the site's tree; an index is a folder's README.md or index.md. Generated pages
stand in no tree: Sphinx copies the list of a page's functions with each tree that the page is in.
"""

import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

import python_topics

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build/docs-work"
PAGES = WORK / "pages"
FIRST = "docs/index.md"
PICTURES = (".svg", ".png")
LANGUAGES = {
    ".cpp": "cpp", ".hpp": "cpp", ".c": "c", ".h": "c", ".py": "python", ".sh": "sh",
    ".json": "json",
}  # fmt: skip
ORPHAN = "---\norphan: true\n---\n"
TEXT_BYTES_MAX = 50_000  # Larger files are downloads.
PYTHON = "python/corymb/__init__.py"
SECTIONS = (
    "briefdescription detaileddescription innernamespace innerclass define enum typedef var func"
    " concept public-type public-attrib public-func public-static-func public-static-attrib"
    " user-defined"
)
LINK = re.compile(r"(\]\(<?)([^)\s>]+)(>?(?:\s+\"[^\"]*\")?\))|((?:src|href)=\")([^\"]+)(\")")


def is_index(path: str) -> bool:
    return posixpath.basename(path) in ("README.md", "index.md")


def is_public_header(path: str) -> bool:
    return path.startswith("include/") and "/detail/" not in path


def page_of(path: str) -> str:
    """Where in the site the page of a file of the repository is."""
    if is_public_header(path):
        return f"api/{path.removeprefix('include/')}.md"
    if path == PYTHON:
        return "api/python/index.md"
    if path.endswith(".md"):
        folder, name = posixpath.split(path.removeprefix("docs/"))
        if name == "README.md":
            name = "index.md" if folder else "readme.md"
        return posixpath.join(folder, name)
    if path.endswith(PICTURES):
        return path.removeprefix("docs/")
    return f"source/{path}.md"


class Site:
    """The pages so far: path in the site -> text; and for each, where it stands in the tree."""

    def __init__(self) -> None:
        self.files = set(_file_names())
        self.texts: dict[str, str] = {}
        self.below: dict[str, list[str]] = {}

    def make(self) -> None:
        for path in self.files:
            if path.endswith(".md"):
                self._add_page(path)
        self._make_tree()
        self._add_python()
        self._write()

    def _add_page(self, path: str) -> None:
        lines, is_fenced = [], False
        for line in (ROOT / path).read_text().splitlines():
            if line.lstrip().startswith(("```", "~~~")):
                is_fenced = not is_fenced
            lines.append(line if is_fenced else self._with_links(path, line))
        self.texts[page_of(path)] = "\n".join(lines) + "\n"

    def _with_links(self, path: str, line: str) -> str:
        """The line with links that hold in the site, those in code as they are."""
        parts = re.split(r"(`[^`]*`)", line)
        # A code span may be the text of a link: look at the line with spans as single characters.
        spans = parts[1::2]
        bare = "".join("\0" if index % 2 else part for index, part in enumerate(parts))
        bare = LINK.sub(lambda match: self._moved(path, match), bare)
        return re.sub("\0", lambda _: spans.pop(0), bare)

    def _moved(self, path: str, match: re.Match[str]) -> str:
        before, target, after = match[1] or match[4], match[2] or match[5], match[3] or match[6]
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        file, hash_sign, anchor = target.partition("#")
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
        if wanted not in self.files:  # a folder
            wanted = next(
                (f"{wanted}/{name}" for name in ("README.md", "index.md")
                 if f"{wanted}/{name}" in self.files), "",
            )  # fmt: skip
        if not wanted:
            wanted = self._list_of(
                posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
            )
        self._add_file(wanted)
        place = posixpath.relpath(page_of(wanted), posixpath.dirname(page_of(path)) or ".")
        if is_index(path) and page_of(wanted).endswith(".md"):
            self.below.setdefault(page_of(path), []).append(page_of(wanted))
        return f"{before}{place}{hash_sign}{anchor}{after}"

    def _list_of(self, folder: str) -> str:
        """A file that stands for a folder without an index: its page lists the files there."""
        inside = sorted(name for name in self.files if name.startswith(f"{folder}/"))
        names = "\n".join(f"- `{name}`" for name in inside)
        self.texts[page_of(folder)] = f"{ORPHAN}# {folder}\n\n{names}\n"
        return folder

    def _add_file(self, path: str) -> None:
        """The page of a file that is linked and is no page itself."""
        page = page_of(path)
        if path.endswith((".md", *PICTURES)) or path == PYTHON or page in self.texts:
            return
        if is_public_header(path):
            name = path.removeprefix("include/")
            title = name.removeprefix("corymb/")
            up = "c" if path.endswith(".h") else "cpp"
            up = posixpath.relpath(f"reference/{up}.md", posixpath.dirname(page))
            directive = (
                f"[All headers]({up})\n\n```{{doxygenfile}} {name}\n:sections: {SECTIONS}\n```"
            )
            self.texts[page] = f"{ORPHAN}# {title}\n\n{directive}\n"
            return
        file = ROOT / path
        head = f"{ORPHAN}# {path}\n\n"
        if file.stat().st_size > TEXT_BYTES_MAX:
            target = posixpath.relpath(file, PAGES / posixpath.dirname(page))
            self.texts[page] = f"{head}{{download}}`{posixpath.basename(path)} <{target}>`\n"
            return
        language = LANGUAGES.get(posixpath.splitext(path)[1], "text")
        self.texts[page] = f"{head}````{language}\n{file.read_text()}````\n"

    def _make_tree(self) -> None:
        """Gives each index the pages that it is the first to link to; a page stands once."""
        placed, waiting = {page_of(FIRST)}, [page_of(FIRST)]
        while waiting:
            index = waiting.pop(0)
            folder = posixpath.dirname(index)
            children = []
            for page in dict.fromkeys(self.below.get(index, [])):
                inside = posixpath.dirname(page)
                is_below = inside.startswith(folder) or not folder
                # What lies deeper is its own folder's, where that has an index.
                own = any(f"{inside}/{name}" in self.texts for name in ("index.md",))
                is_deeper = inside != folder and own and not page.endswith("/index.md")
                if (
                    page in placed
                    or not is_below
                    or is_deeper
                    or page.startswith(("source/", "api/"))
                ):
                    continue
                placed.add(page)
                children.append(page)
            waiting += children
            if children:
                self._append_tree(index, children)
        for path in self.files:  # Notes beside files, which no index has.
            page = page_of(path)
            is_note = path.endswith(".md") and not path.startswith("docs/")
            if is_note and page not in placed:
                self.texts.pop(page, None)

    def _append_tree(self, index: str, children: list[str]) -> None:
        folder = posixpath.dirname(index) or "."
        names = "\n".join(posixpath.relpath(page, folder) for page in children)
        self.texts[index] += f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"

    def _add_python(self) -> None:
        index = page_of(PYTHON)
        lines = [f"{ORPHAN}# Names of the Python package", "", "All names by topic.", ""]
        for file, (title, module, names) in python_topics.TOPICS.items():
            lines.append(f"- [{title}]({file}.md): " + ", ".join(f"`{name}`" for name in names))
            text = [
                f"{ORPHAN}# {title}",
                "",
                "[All names](index.md)",
                "",
                "```{eval-rst}",
                f".. currentmodule:: {module}",
                "",
            ]
            text += [line for name in names for line in python_topics.directive(name)]
            self.texts[f"{posixpath.dirname(index)}/{file}.md"] = "\n".join([*text, "```", ""])
        self.texts[index] = "\n".join([*lines, ""])

    def _write(self) -> None:
        """Files that are as they were keep their time, so that Sphinx reads only what is new."""
        wanted = {page: text.encode() for page, text in self.texts.items()}
        for path in self.files:
            if path.endswith(PICTURES):
                wanted[page_of(path)] = (ROOT / path).read_bytes()
        for old in PAGES.rglob("*"):
            if old.is_file() and str(old.relative_to(PAGES)) not in wanted:
                old.unlink()
        for page, data in wanted.items():
            file = PAGES / page
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.is_file() or file.read_bytes() != data:
                file.write_bytes(data)


def _file_names() -> list[str]:
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "-co", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def read_headers() -> None:
    """Doxygen's XML of the public headers, as breathe and Sphinx can use it: files have their whole
    names, no initial value is an expression that Sphinx cannot parse, and what is private is not
    there."""
    shutil.rmtree(WORK / "xml", ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    subprocess.run(["doxygen", "tools/docs/Doxyfile"], cwd=ROOT, check=True)
    index = WORK / "xml/index.xml"

    def with_whole_name(match: re.Match[str]) -> str:
        text = (WORK / "xml" / f"{match[1]}.xml").read_text()
        name = re.findall(r'<location file="([^"]*)"', text)[-1]
        return f'<compound refid="{match[1]}" kind="file"><name>{name}<'

    pattern = r'<compound refid="([^"]*)" kind="file"><name>[^<]*<'
    index.write_text(re.sub(pattern, with_whole_name, index.read_text()))
    for file in (WORK / "xml").glob("*.xml"):
        text = file.read_text()
        shorter = re.sub(r"<initializer>= requires.*?</initializer>", "", text, flags=re.S)
        shorter = re.sub(r'<innerclass [^>]*prot="private".*?</innerclass>', "", shorter)
        if shorter != text:
            file.write_text(shorter)


def main() -> int:
    read_headers()
    Site().make()
    return 0


if __name__ == "__main__":
    sys.exit(main())
