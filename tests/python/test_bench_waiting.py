# SPDX-License-Identifier: Apache-2.0
"""corymb bench waiting: which cells there are, which are drawn, which count as worse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import SMELT, Command, stdout_json

import corymb
from corymb.command import bench_program, bench_waiting
from corymb.command.bench_waiting import Cell, cells, judged, keep, parse_only, sample, summary
from corymb.picture.waiting import waiting_map

FIELDS = {
    "op", "ranks", "bytes", "cpus", "neighbours", "kind", "first_us", "median_us", "p99_us",
    "peer_first_us", "peer_median_us", "peer_p99_us", "ratio", "p99_ratio", "worse_median",
    "worse_p99", "skipped", "runs",
}  # fmt: skip


def run_of(ratio: float, p99_ratio: float = 1.0) -> dict[str, float]:
    times = {"first_us": 50.0, "median_us": 10.0 * ratio, "p99_us": 20.0 * p99_ratio}
    peer = {"peer_first_us": 40.0, "peer_median_us": 10.0, "peer_p99_us": 20.0}
    return times | peer


def row_of(runs: list[dict[str, float]], skipped: str | None = None, **cell: Any) -> dict[str, Any]:
    fields = {"op": "reduce", "ranks": 4, "bytes": 8, "cpus": 2, "neighbours": "none"}
    row = {"type": "row", **fields, "kind": "threads", "skipped": skipped, "runs": runs, **cell}
    return judged(row)


@pytest.mark.parametrize(
    ("runs", "worse_median", "worse_p99"),
    [
        ([run_of(1.0), run_of(1.0), run_of(1.0)], False, False),
        ([run_of(9.0), run_of(1.4), run_of(1.4)], False, False),
        ([run_of(1.6), run_of(1.4), run_of(1.6)], True, False),
        ([run_of(1.5), run_of(1.5), run_of(1.5)], False, False),
        ([run_of(1.0, 90), run_of(1.0, 2.9), run_of(1.0, 2.9)], False, False),
        ([run_of(1.0, 2.9), run_of(1.0, 3.1), run_of(1.0, 3.1)], False, True),
        ([run_of(1.6), run_of(1.0, 3.1), run_of(1.0)], False, False),
        ([run_of(2.0, 4), run_of(2.0, 4), run_of(2.0, 4)], True, True),
    ],
)
def test_worse_in_two_of_three_runs(
    runs: list[dict[str, float]], worse_median: bool, worse_p99: bool
) -> None:
    row = row_of(runs)
    assert (row["worse_median"], row["worse_p99"]) == (worse_median, worse_p99)
    assert bench_waiting.is_worse(row) == (worse_median or worse_p99)


def test_times_are_medians_over_the_runs() -> None:
    row = row_of([run_of(3.0, 7), run_of(1.0, 1), run_of(2.0, 2)])
    assert set(row) == FIELDS
    assert (row["median_us"], row["p99_us"]) == (20.0, 40.0)
    assert (row["ratio"], row["p99_ratio"]) == (2.0, 2.0)
    assert (row["peer_median_us"], row["peer_p99_us"], row["first_us"]) == (10.0, 20.0, 50.0)


def test_summary_groups_what_is_worse() -> None:
    slow, fast = [run_of(2.0)] * 3, [run_of(0.5)] * 3
    rows = [
        row_of(fast),
        row_of(slow, ranks=8),
        row_of([run_of(4.0)] * 3, ranks=16, bytes=1024),
        row_of(slow, kind="processes"),
        row_of([], skipped="it broke"),
    ]
    found = summary(rows, 100)
    assert (found["cells"], found["measured"], found["skipped"]) == (100, 4, 1)
    assert (found["worse"], found["worse_median"], found["worse_p99"]) == (3, 3, 0)
    first, second = found["groups"]
    assert (first["kind"], first["worse"], first["cells"]) == ("threads", 2, 3)
    assert (first["ranks"], first["bytes"], first["ratio_max"]) == ([8, 16], [8, 1024], 4.0)
    assert (second["kind"], second["worse"], second["cells"]) == ("processes", 1, 1)
    assert [row["ranks"] for row in found["worst"]] == [16, 8, 4]
    assert summary([], 3)["ratio_median"] is None


def test_a_picture_has_each_cell_once() -> None:
    rows = [
        row_of([run_of(2.0)] * 3),
        row_of([run_of(0.25)] * 3, ranks=8),
        row_of([run_of(1.0)] * 3, bytes=1024, neighbours="all"),
        row_of([], skipped="it broke", kind="processes"),
    ]
    (picture,) = waiting_map(rows).pictures
    marks = list(ElementTree.fromstring(picture.draw(960).svg("map", "wide")))
    found = [mark for mark in marks if mark.tag == "rect"]
    lefts = sorted({float(mark.attrib["x"]) for mark in found})
    tops = sorted({float(mark.attrib["y"]) for mark in found})
    shades = {
        (tops.index(float(mark.attrib["y"])), lefts.index(float(mark.attrib["x"]))): mark.attrib[
            "style"
        ]
        for mark in found
    }
    assert len(found) == 3
    assert shades == {(0, 0): "fill:#e6aa7c", (0, 1): "fill:#0072b2", (1, 2): "fill:#f7f7f7"}
    crosses = [mark for mark in marks if mark.tag == "path" and mark.attrib["d"].count("M") == 3]
    (cross,) = crosses
    x, y = (float(text) for text in cross.attrib["d"].split("M")[1].split())
    assert lefts[0] < x < lefts[1]
    assert tops[0] < y < tops[1]


def test_the_whole_map() -> None:
    for usable in (1, 2, 16):
        found = cells(usable)
        assert len(set(found)) == len(found)
        assert {cell.op for cell in found} == set(bench_waiting.SIZES_OF)
        assert {cell.kind for cell in found} == {"threads", "processes"}
        assert {cell.cpus for cell in found} == {1, min(2, usable), usable}
        assert (min(cell.ranks for cell in found), max(cell.ranks for cell in found)) == (2, 64)
        sizes = {cell.bytes for cell in found if cell.op == "reduce"}
        assert (min(sizes), max(sizes)) == (8, 262144)
        assert all(cell.cpus > 1 for cell in found if cell.neighbours == "all")


def test_the_sample_is_seeded() -> None:
    found = cells(2)
    assert sample(found, 1) == sample(found, 1)
    assert sample(found, 1) != sample(found, 2)
    assert set(sample(found, 3)) == set(found)
    assert found == cells(2)


def test_only_some_cells() -> None:
    kept = keep(cells(2), parse_only("op=alltoall,gather ranks=16 kind=threads cpus=1"))
    assert {(cell.op, cell.ranks, cell.kind, cell.cpus) for cell in kept} == {
        ("alltoall", 16, "threads", 1), ("gather", 16, "threads", 1),
    }  # fmt: skip
    assert keep(cells(2), parse_only(None)) == cells(2)
    assert Cell("reduce", 4, 8, 2, "none", "threads").word() == "reduce/4/8/2/none/threads"


def test_bench_waiting(corymb_call: Command, tmp_path: Path) -> None:
    """Every operation, among threads and processes, beside nobody and somebody."""
    only = "ranks=2 bytes=0,8 cpus=1 neighbours=none"
    done = corymb_call("bench", "waiting", "--only", only, "--seconds", "300", "--json", "-")
    report = stdout_json(done)
    assert (report["schema"], report["seed"]) == ("corymb-bench-waiting/1", 1)
    assert all(set(row) == FIELDS for row in report["rows"])
    assert {(row["op"], row["kind"]) for row in report["rows"]} == {
        (op, kind) for op in bench_waiting.SIZES_OF for kind in ("threads", "processes")
    }
    assert len(report["rows"]) == report["summary"]["cells"] == 20
    assert [row["skipped"] for row in report["rows"]] == [None] * 20
    for row in report["rows"]:
        assert len(row["runs"]) == 3
        assert 0 < row["median_us"] <= row["p99_us"]
        assert 0 < row["peer_median_us"] <= row["peer_p99_us"]
        assert row["first_us"] > 0
        assert row["peer_first_us"] > 0
    file, page = tmp_path / "waiting.json", tmp_path / "report.html"
    file.write_text(json.dumps(report))
    drawn = corymb_call("report", "--machine", SMELT, "--waiting", file, "-o", page)
    assert drawn.returncode == 0, drawn.stderr
    assert "The waiting map" in page.read_text(encoding="utf-8")


def test_larger_cells_beside_neighbours(corymb_call: Command) -> None:
    only = (
        "op=alltoall,ring,mailbox,allreduce,scatter,gather ranks=4 bytes=4096 cpus=1 neighbours=one"
    )
    done = corymb_call("bench", "waiting", "--only", only, "--seconds", "300", "--json", "-")
    report = stdout_json(done)
    assert [row["skipped"] for row in report["rows"]] == [None] * report["summary"]["cells"]
    assert report["summary"]["measured"] == len(report["rows"])


@pytest.mark.parametrize(
    "word",
    [
        "barrier", "barrier/2/8/1/none/threads", "reduce/2/0/1/none/threads",
        "reduce/2/12/1/none/threads", "reduce/1/8/1/none/threads", "reduce/2/8/1/some/threads",
        "reduce/2/8/1/none/fibers", "multicast/2/16/1/none/threads", "--fast",
    ],
)  # fmt: skip
def test_the_program_refuses(word: str) -> None:
    with pytest.raises(corymb.Error, match=word) as refused:
        bench_program.run(bench_waiting.PROGRAM, [word], lambda _part, _what: None)
    assert refused.value.code == "invalid_argument"


def test_the_time_bounds_the_sample(corymb_call: Command) -> None:
    done = corymb_call(
        "bench", "waiting", "--seconds", "0.5", "--seed", "5", "--only", "op=barrier"
    )
    assert done.returncode == 0, done.stderr
    usable = corymb.usable_cpus().count()
    count = len(keep(cells(usable), parse_only("op=barrier")))
    measured = int(done.stdout.split()[0])
    assert 1 <= measured < count
    assert f"of {count} cells measured" in done.stdout


def test_a_file_of_something_else(corymb_call: Command, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text(json.dumps({"rows": [{"op": "barrier"}]}))
    refused = corymb_call("report", "--machine", SMELT, "--waiting", file)
    assert refused.returncode == 1
    assert "not a file of corymb bench waiting" in refused.stderr
