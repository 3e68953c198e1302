# SPDX-License-Identifier: Apache-2.0
"""corymb trace --merge: files of ranks that call each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Command


def task(wait: int, runs: str, waits_for: str, **more: Any) -> dict[str, Any]:
    whole = {"wait": wait, "runs": runs, "kind": "answer", "waits_for": waits_for}
    return whole | {"tasks": [], "calls": []} | more


def shown(rank: int, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    calls = [call for one in tasks for call in one["calls"]]
    queued = [{"to": 1 - rank, "messages": 3}]
    return {"rank": rank, "ready": 0, "parked": 0, "queued": queued, "calls": calls} | {
        "tasks": tasks
    }


STEPS = [
    {"rank": 0, "wait": 7, "runs": "Table::insert", "waits_for": "the answer of rank 1"},
    {"rank": 1, "wait": 9, "runs": "Log::note", "waits_for": "the answer of rank 0"},
]
TEXT = "2 tasks wait for each other"


def document(rank: int, deadlock: dict[str, Any] | None = None) -> dict[str, Any]:
    step = STEPS[rank]
    waiting = task(
        step["wait"], step["runs"], step["waits_for"], calls=[{"number": 0, "to": 1 - rank}]
    )
    call = {"to": 1 - rank, "begin": 100.0 + rank, "end": None if rank else 101.5}
    whole = {"schema": "corymb-tasks/1", "group": 3, "rank": rank, "size": 2, "pid": 40 + rank}
    whole |= {"seconds": 102.0 + rank, "shown_at": 101.0, "shown": [shown(rank, [waiting])]}
    return whole | {"deadlock": deadlock, "calls": [call]}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    found = {"text": TEXT, "steps": STEPS, "others": 0}
    written = []
    for rank in range(2):
        file = tmp_path / f"group-3-rank-{rank}.json"
        file.write_text(json.dumps(document(rank, found if rank else None)))
        written.append(file)
    return written


def test_tables_deadlock_and_data(corymb_call: Command, files: list[Path], tmp_path: Path) -> None:
    merged = tmp_path / "merged.json"
    done = corymb_call("trace", "--merge", *files, "--json", merged)
    assert done.returncode == 0, done.stderr
    assert "rank 0: Table::insert waits for the answer of rank 1" in done.stdout
    assert f"deadlock: {TEXT}" in done.stdout
    data = json.loads(merged.read_text())
    assert [one["rank"] for one in data["shown"]] == [0, 1]
    assert data["deadlock"]["steps"] == STEPS
    assert [(one["rank"], one["to"], one["end"]) for one in data["calls"]] == [
        (0, 1, 101.5),
        (1, 0, None),
    ]


def test_page(corymb_call: Command, files: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "tasks.html"
    done = corymb_call("trace", "--merge", *files, "-o", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    for heading in ("The deadlock", "Who waits for whom", "Calls"):
        assert f"<h2>{heading}" in text
    assert "Table::insert" in text


def test_a_rank_without_a_file_has_dashes(corymb_call: Command, files: list[Path]) -> None:
    done = corymb_call("trace", "--merge", files[0])
    assert done.returncode == 0, done.stderr
    assert "no deadlock was found" in done.stdout
    (row,) = (line for line in done.stdout.splitlines() if line.split()[:1] == ["1"])
    assert set(row.split()[1:]) == {"-"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--merge"], ["--merge", "files"]),
        (["--merge", "x.json", "--watch", "1"], ["--watch"]),
        (["-o", "x.html"], ["--merge"]),
        (["1", "2"], ["one process"]),
        (["x.json"], ["x.json", "--merge"]),
    ],
    ids=" ".join,
)
def test_usage(corymb_call: Command, arguments: list[str], words: list[str]) -> None:
    done = corymb_call("trace", *arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert all(word in done.stderr for word in words), done.stderr


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"schema": "corymb-tasks/1"}', '{"schema": "corymb-trace/1"}'],
    ids=["empty", "brace", "list", "null", "nothing", "other"],
)
def test_hostile_files(corymb_call: Command, tmp_path: Path, text: str) -> None:
    file = tmp_path / "tasks.json"
    file.write_text(text)
    done = corymb_call("trace", "--merge", file)
    assert done.returncode != 0
    assert len(done.stderr.splitlines()) == 1
    assert "tasks.json" in done.stderr


def test_files_of_several_groups(corymb_call: Command, files: list[Path]) -> None:
    other = json.loads(files[1].read_text())
    other["group"] = 4
    files[1].write_text(json.dumps(other))
    done = corymb_call("trace", "--merge", *files)
    assert done.returncode == 2
    assert "several groups" in done.stderr
