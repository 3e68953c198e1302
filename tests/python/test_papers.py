# SPDX-License-Identifier: Apache-2.0
"""docs/results/seeds: pages and plots are what rendering gives, and each row can be repeated."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.main
from conftest import ROOT

FOLDER = ROOT / "docs" / "results" / "seeds"


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    """bench/papers/pages.py, which needs the standard library only."""
    sys.path.insert(0, str(ROOT / "bench" / "papers"))
    try:
        import pages
    finally:
        sys.path.pop(0)
    return pages


def test_pages_and_plots_are_rendered_from_the_records(pages: ModuleType) -> None:
    files = pages.files()
    for name, text in files.items():
        stale = f"{name} is stale; run make results"
        assert (FOLDER / name).read_text(encoding="utf-8") == text, stale
    kept = {file.name for file in FOLDER.iterdir()}
    assert kept == files.keys() | {f"{study}.json" for study in pages.STUDIES}


def test_plots_are_well_formed_and_follow_the_colour_scheme(pages: ModuleType) -> None:
    from xml.etree import ElementTree

    plots = {name: text for name, text in pages.files().items() if name.endswith(".svg")}
    assert plots
    for name, text in plots.items():
        ElementTree.fromstring(text)
        assert "prefers-color-scheme:dark" in text, name
        assert "nan" not in text, name


def test_a_row_that_does_not_agree_says_why(pages: ModuleType) -> None:
    from table import Row

    for rows in pages.rows(pages.records()).values():
        assert rows
        assert all(row.why for row in rows if row.agrees in ("partly", "no"))
    with pytest.raises(ValueError, match="must say why"):
        Row("a figure", "2", "1", "no", "simulated", "corymb plan barrier")


def test_every_command_parses(pages: ModuleType) -> None:
    found = {row.command for rows in pages.rows(pages.records()).values() for row in rows}
    for command in sorted(found):
        program, *words = shlex.split(command)
        if program == "corymb":
            parse(words)
        else:
            assert program == "make", command
            make(words, pages.STUDIES)


def parse(words: list[str]) -> None:
    """Reads the words as the command does, without doing anything; a wrong one raises."""
    from corymb.command.app import app

    command: Any = typer.main.get_command(app)
    while hasattr(command, "commands"):
        context = command.make_context(words[0], words, resilient_parsing=True)
        name, command, words = command.resolve_command(context, words)
    command.make_context(name, words)


def make(words: list[str], studies: tuple[str, ...]) -> None:
    target, *settings = words
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for setting in settings:
        name, _, values = setting.partition("=")
        assert name == "STUDIES"
        assert set(values.split()) <= set(studies)


def test_a_wrong_study_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "papers"), "smelts"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "unknown study 'smelts'; there are smelt, cheetah" in done.stderr
    from record import load

    (tmp_path / "smelt.json").write_text('{"schema": "corymb-papers/1", "study": "cheetah"}')
    with pytest.raises(ValueError, match="no record of the study 'smelt'"):
        load("smelt", tmp_path)
