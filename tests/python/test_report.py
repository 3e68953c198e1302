# SPDX-License-Identifier: Apache-2.0
"""The report page: self-contained, honest about what is simulated, and clean in a real browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zlib
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from conftest import SMELT, Command
from limits import LIMIT_S

import corymb
from corymb import study
from corymb.command import report
from corymb.layout import layout_of, rooted
from corymb.picture.axes import bulk_limits, counted, positions
from corymb.picture.report import report_page
from corymb.picture.svg import png

LARGEST_BYTES = 1_500_000
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
BENCH_ROWS = [
    {
        "op": op, "contestant": name, "family": family, "ranks": ranks, "bytes": 8, "pinned": True,
        "regime": "alone", "median_ns": 50.0 * ranks * factor, "q25": 45.0 * ranks * factor,
        "q75": 60.0 * ranks * factor, "ratio": factor, "cpu_ns": 100.0, "skipped": None,
    }
    for op in ("barrier", "allreduce")
    for ranks in (2, 4)
    for name, family, factor in (
        ("corymb", "corymb", 1.0), ("std-barrier", "library", 9.0), ("floor", "floor", 0.9),
        ("mcs-dissemination", "textbook", 0.8), ("libgomp", "openmp", 1.02),
    )
]  # fmt: skip

MULTICAST_ROWS = [
    {
        "op": "multicast", "regime": regime, "ranks": 4, "members": members, "cpus": 2,
        "contestant": name, "family": family, "median_ns": 300.0 * members, "q25": 250.0 * members,
        "q75": 400.0 * members,
    }
    for regime in ("polling", "asleep")
    for members in (1, 3)
    for name, family in (("corymb", "corymb"), ("flags", "peer"))
]  # fmt: skip


class Text(HTMLParser):
    """Visible text, and every address that a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._hidden += tag in {"script", "style"}
        self.addresses += [value or "" for name, value in attrs if name in {"src", "href"}]

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in {"script", "style"}

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.text.append(data)


def page_of(machine: corymb.Machine, ranks: int, name: str, **options: bool) -> str:
    facts = study.study_of(machine, list(range(ranks)), 8)
    for op in study.OPERATIONS:
        study.plan_one(facts, op, moves=1000)
    if options.get("ran"):
        for planned in facts.planned.values():
            study.run_one(planned, [], 8, 100, None)
        facts.bench = BENCH_ROWS
        facts.multicast_bench = MULTICAST_ROWS
        report.simulate_multicast(facts)
    return report_page(facts, name, ["A remark."], "broadcast")


def test_page_is_self_contained(corymb_command: Command, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    done = corymb_command("report", "--machine", SMELT, "-o", file, "--json", tmp_path / "r.json")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "report.html"]
    page = file.read_text(encoding="utf-8")
    seen = Text()
    seen.feed(page)
    # Links of the contents bar and rasters of the heat maps stay within the page.
    assert all(address.startswith(("#part-", "data:")) for address in seen.addresses)
    assert "script" not in seen.tags
    text = " ".join(seen.text)
    assert f"corymb on {SMELT}" in text
    assert f"Simulated on {SMELT}" in text
    value = json.loads((tmp_path / "r.json").read_text())
    assert set(value["operations"]) == set(study.OPERATIONS)
    assert all(facts["measured_median_ns"] is None for facts in value["operations"].values())
    calls = value["multicast"]
    assert calls["measured"] == []  # Not here.
    assert {"best", "flat", "tree, skipping", "tree, to all"} <= {
        row["variant"] for row in calls["simulated"]
    }
    assert "Acknowledged multicast over the size of the group" in text
    assert "Acknowledged multicast, measured" not in text


def test_contents_lead_to_every_section() -> None:
    page = page_of(corymb.Machine.gallery(SMELT), 3, "here")
    assert re.findall(r'href="#(part-\d+)"', page) == re.findall(r'<section id="(.*?)"', page)


def test_outliers_do_not_flatten_the_others() -> None:
    values = [90.0, 100.0, 110.0, 120.0, 12_000.0, -14_000.0]
    low, high = bulk_limits(values, values)
    assert high == pytest.approx(1.04 * 120)
    assert low == -0.25 * high
    assert bulk_limits([-5.0], [-5.0, 2.0]) == (-5.0, 2.0)


@pytest.mark.parametrize("count", [1, 2, 3, 64, 100, 128, 192, 512])
def test_axes_end_at_the_first_and_the_last_rank(count: int) -> None:
    ticks = positions(range(count), 8)
    assert ticks[0] == (0, "0")
    assert ticks[-1] == (count - 1, str(count - 1))


def test_axes_of_counts_have_both_ends() -> None:
    """However little room there is."""
    counts = [8, 1024, 65536]
    texts = ["8 B", "1 KiB", "64 KiB"]
    assert counted(counts, texts, "size", 300).ticks == list(zip(counts, texts, strict=True))
    assert [text for _, text in counted(counts, texts, "size", 80).ticks] == ["8 B", "64 KiB"]


def test_a_raster_keeps_its_values() -> None:
    """Indexes of colours come out of the file as they went in."""
    pixels = np.arange(12, dtype=np.uint8).reshape(3, 4)
    file = png(pixels, [(0, 0, 0)] * 255)
    begin = file.index(b"IDAT")
    length = int.from_bytes(file[begin - 4 : begin], "big")
    rows = zlib.decompress(file[begin + 4 : begin + 4 + length])
    assert [rows[at : at + 5] for at in (0, 5, 10)] == [b"\0" + row.tobytes() for row in pixels]


def test_the_root_is_first() -> None:
    layout = layout_of(corymb.Machine.gallery("epyc-9654-2s-192c"))
    moved = rooted(layout, 150)
    assert moved.order[0] == 150
    assert sorted(moved.order) == list(range(192))
    for level in moved.levels:  # Every group still stands together.
        assert np.count_nonzero(np.diff(level[moved.order])) == len(np.unique(level)) - 1


def test_names_are_escaped() -> None:
    """A hostile machine name cannot become markup."""
    machine = corymb.Machine.gallery("m1-ultra-20c")
    machine.name = "</script><script>alert(1)</script>"
    page = page_of(machine, 4, machine.name)
    assert "<script>alert(1)" not in page


def test_losses_are_listed() -> None:
    page = page_of(corymb.Machine.gallery(SMELT), 3, "here", ran=True)
    seen = Text()
    seen.feed(page)
    text = " ".join(seen.text)
    assert "mcs-dissemination takes 0.80 x our time" in text
    assert "faster in 4, equal in 4 and slower in 4" in text
    assert "Acknowledged multicast, measured" in text


def test_a_file_of_multicasts(corymb_command: Command, tmp_path: Path) -> None:
    good, bad = tmp_path / "calls.json", tmp_path / "other.json"
    good.write_text(json.dumps({"rows": MULTICAST_ROWS}))
    bad.write_text(json.dumps({"rows": BENCH_ROWS}))
    page = tmp_path / "report.html"
    arguments = ("report", "--machine", SMELT, "--ranks", "3", "-o", page, "--multicast")
    assert corymb_command(*arguments, good).returncode == 0
    assert "Acknowledged multicast, measured" in page.read_text(encoding="utf-8")
    refused = corymb_command(*arguments, bad)
    assert refused.returncode == 1
    assert "not a file of corymb bench multicast" in refused.stderr


def console_lines(file: Path, folder: Path) -> tuple[str, list[str]]:
    """The document after its scripts have run, and what they wrote to the console."""
    done = subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr",
            "--virtual-time-budget=20000", "--window-size=1200,900", "--dump-dom", file.as_uri(),
        ],
        capture_output=True, text=True, timeout=LIMIT_S,
    )  # fmt: skip
    return done.stdout, [line for line in done.stderr.splitlines() if ":CONSOLE" in line]


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
@pytest.mark.parametrize(
    ("machine", "ranks"), [(SMELT, 20), (SMELT, 2), ("epyc-9754-2s-512t", 512)]
)
def test_browser_shows_every_figure(machine: str, ranks: int, tmp_path: Path) -> None:
    page = page_of(corymb.Machine.gallery(machine), ranks, machine, ran=ranks == 2)
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    document, console = console_lines(file, tmp_path)
    assert console == []
    figures = re.findall(r'id="figure-\d+"', page)
    assert len(figures) >= 5
    assert document.count("<svg") >= len(figures)
    assert len(page.encode()) < LARGEST_BYTES


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
def test_browser_errors_are_noticed(tmp_path: Path) -> None:
    """The test above can fail: a page with an error is seen."""
    file = tmp_path / "broken.html"
    file.write_text("<script>undefinedFunction()</script>")
    _, console = console_lines(file, tmp_path)
    assert len(console) == 1
