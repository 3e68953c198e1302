# SPDX-License-Identifier: Apache-2.0
"""tools/results: everybody can read the plots, and rows of a benchmark become those of a record."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from conftest import ROOT


@pytest.fixture(scope="module")
def modules() -> Iterator[tuple[ModuleType, ModuleType]]:
    """render.py and take.py, which need the standard library only."""
    folders = [str(ROOT / "tools" / "results"), str(ROOT / "bench" / "papers")]
    sys.path[:0] = folders
    try:
        import render
        import take
    finally:
        del sys.path[: len(folders)]
    return render, take


def test_plots_are_well_formed_and_follow_the_colour_scheme(
    modules: tuple[ModuleType, ModuleType],
) -> None:
    render, _ = modules
    texts = render.files(ROOT / "docs" / "results" / "data")
    plots = {name: text for name, text in texts.items() if name.endswith(".svg")}
    assert plots
    for name, text in plots.items():
        ElementTree.fromstring(text)
        assert "prefers-color-scheme:dark" in text, name
        assert "nan" not in text, name


def test_rows_of_a_benchmark_become_those_of_a_record(
    modules: tuple[ModuleType, ModuleType], tmp_path: Path
) -> None:
    render, take = modules
    origin = {"command": "corymb bench", "machine": "a", "date": "2000-01-01", "commit": "b"}
    table = {
        "pivot": {"rows": "t", "down": ["ranks"], "across": "contestant", "value": "median_ns"}
    }
    record = {
        "schema": render.SCHEMA, "title": "T", "purpose": "P.", "rows": {"t": []},
        "sections": [{"title": "S", "rows": "t", "measured": origin, "blocks": [table]}],
    }  # fmt: skip
    kept = tmp_path / "kept" / "a.json"
    kept.parent.mkdir()
    take.save(kept, record)
    measured = tmp_path / "bench.json"
    rows = [
        {"ranks": 2, "contestant": "x", "median_ns": 1234.5, "ratio": 1.0},
        {"ranks": 2, "contestant": "y", "median_ns": None, "skipped": "it is not there"},
    ]
    measured.write_text(json.dumps({"rows": rows}))
    take.take(kept, argparse.Namespace(rows="t", file=measured, machine="my machine"))
    page = render.files(kept.parent)["a.md"]
    assert "| ranks | x |\n| --- | --- |\n| 2 | 1,230 |" in page
    assert "| S | `corymb bench` | my machine |" in page
    assert "2000-01-01" not in page


def test_a_file_of_another_kind_is_refused(
    modules: tuple[ModuleType, ModuleType], tmp_path: Path
) -> None:
    render, _ = modules
    (tmp_path / "a.json").write_text('{"schema": "corymb-plan/1"}')
    with pytest.raises(ValueError, match=r"a\.json is no record of figures"):
        render.files(tmp_path)
