# SPDX-License-Identifier: Apache-2.0
"""Every wrong input gives one clear line on stderr, no traceback, and the right status."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from conftest import SMELT, Command

import corymb

FAILED, USAGE = 1, 2


def assert_one_line(done: subprocess.CompletedProcess[str], status: int, *words: str) -> None:
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("corymb:")]
    assert len(done.stderr.splitlines()) == len(lines) == 1, done.stderr
    for word in words:
        assert word in lines[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plan", "brodcast", "--machine", SMELT], ["brodcast", "broadcast"]),
        (["plan", "", "--machine", SMELT], ["barrier, broadcast"]),
        (["plan", "barrier", "--machine", "smelt-e5v2-2x1O"], [SMELT]),
        (["plan", "barrier", "--machine", "no such machine at all"], ["no such machine"]),
        (["plan", "barrier", "--machine", SMELT, "--algorithm", "magic"], ["magic", "best"]),
        (["plan", "barrier", "--machine", SMELT, "--model", "x.json"], ["not both"]),
        (["plan", "reduce", "--machine", SMELT, "--root", "20"], ["20", "0 to 19"]),
        (["plan", "reduce", "--machine", SMELT, "--root", "-1"], ["-1", "0 to 19"]),
        (["plan", "reduce", "--machine", SMELT, "--ranks", "4", "--root", "4"], ["0 to 3"]),
        (["plan", "reduce", "--machine", SMELT, "--seed", "-1"], ["--seed"]),
        (["plan", "reduce", "--machine", SMELT, "--moves", "-1"], ["--moves"]),
        (["plan", "reduce", "--machine", SMELT, "--bytes", "-8"], ["--bytes"]),
        (["plan", "reduce", "--machine", SMELT, "--bytes", "many"], ["--bytes"]),
        (["plan"], ["OP"]),
        (["nonsense"], ["nonsense"]),
        (["map", "--nonsense"], ["--nonsense"]),
        (["map", "--machine", SMELT, "--synthetic", "pu:2"], ["one of"]),
        (["map", "--synthetic", "nonsense:x"], ["nonsense"]),
        (["map", "--measure", "--budget", "-1"], ["--budget"]),
        (["map", "--measure", "--budget", "nan"], ["--budget"]),
        (["bench", "nothing"], ["nothing"]),
        (["bench", "collectives", "barrier,,reduce"], ["empty"]),
        (["bench", "collectives", "barrier", "--threads", "2,2"], ["twice"]),
        (["bench", "collectives", "barrier", "--threads", "1"], ["2 to 1024"]),
        (["bench", "collectives", "barrier", "--threads", "two"], ["two"]),
        (["bench", "collectives", "barrier", "--threads", "2", "--seconds", "0"], ["--seconds"]),
        (["bench", "collectives", "barrier", "--regimes", "loud"], ["loud", "alone"]),
        (["bench", "collectives", "barrier", "--only", "op=barrier"], ["--only"]),
        (["bench", "collectives", "barrier", "--pin", "maybe"], ["maybe", "auto"]),
        (["bench", "collectives", "gather"], ["gather", "allreduce"]),
        (["bench", "messages", "--seed", "2"], ["--seed"]),
        (["bench", "waiting", "--threads", "2"], ["--threads"]),
        (["bench", "waiting", "--bytes", "8"], ["--bytes"]),
        (["machines", "no-such"], ["no-such"]),
        (["bench", "waiting", "--seconds", "0"], ["--seconds"]),
        (["bench", "waiting", "--seed", "-1"], ["--seed"]),
        (["bench", "waiting", "--only", "ranks"], ["--only", "FIELD=VALUE"]),
        (["bench", "waiting", "--only", "ranks=3"], ["ranks=3", "2, 4, 8"]),
        (["bench", "waiting", "--only", "op=barrier bytes=8"], ["--only", "no cell"]),
        (["bench", "waiting", "--only", "speed=2"], ["--only", "neighbours"]),
        (["report", "--machine", SMELT, "--op", "gather"], ["gather"]),
        (["demo", "--budget", "0"], ["--budget"]),
        (["sim", "plan", "x.json", "--machine", SMELT, "--bytes", str(10**30)], ["--bytes"]),
        (["sim", "plan", "x.json", "--machine", SMELT, "--bytes", "-8"], ["--bytes"]),
        (["sim", "messages", "--machine", SMELT, "--bytes", str(10**30)], ["--bytes"]),
        (["trace", str(10**30)], [str(10**30)]),
        (["trace", "0"], ["process"]),
    ],
    ids=" ".join,
)
def test_usage(corymb_call: Command, arguments: list[str], words: list[str]) -> None:
    assert_one_line(corymb_call(*arguments), USAGE, *words)


@pytest.mark.parametrize(
    ("ranks", "word"),
    [
        ("0,,2", "empty"),
        ("0,1,", "empty"),
        ("0,1,0", "twice"),
        ("0-3,2", "twice"),
        ("4-0", "reversed"),
        ("a-b", "neither"),
        ("-3", "neither"),
        ("1.5", "neither"),
        ("٣", "neither"),  # a digit, but not of ASCII
        ("0-99999999999999999999", "neither"),
        ("0-999999999", "too large"),
        ("99999999999999999999", "only 20"),
        ("0,20", "no CPU 20"),
        ("21", "only 20"),
        ("0", "at least 1"),
        ("", "empty"),
    ],
)
def test_rank_lists(corymb_call: Command, ranks: str, word: str) -> None:
    done = corymb_call("plan", "barrier", "--machine", SMELT, f"--ranks={ranks}")
    assert_one_line(done, USAGE, "--ranks", word)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", "[" * 100_000, '{"schema": "corymb-machine/1"}', "\x00", "nan"],
    ids=["empty", "brace", "list", "null", "object", "deep", "schema", "zero", "nan"],
)
def test_hostile_model(corymb_call: Command, tmp_path: Path, text: str) -> None:
    file = tmp_path / "model.json"
    file.write_text(text)
    assert_one_line(corymb_call("map", "--model", file), FAILED)
    assert_one_line(corymb_call("plan", "barrier", "--model", file), FAILED)


def test_model_that_is_no_text(corymb_call: Command, tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    file.write_bytes(b"\xff\xfe\x00\x80" * 100)
    assert_one_line(corymb_call("map", "--model", file), FAILED)
    assert_one_line(corymb_call("sim", "plan", file, "--machine", SMELT), FAILED, "UTF-8")


def test_model_with_a_wrong_number(corymb_call: Command, tmp_path: Path) -> None:
    """The line names the field."""
    import corymb

    model = json.loads(corymb.Machine.gallery("m1-ultra-20c").to_json())
    model["unit_ns"] = -5
    file = tmp_path / "model.json"
    file.write_text(json.dumps(model))
    assert_one_line(corymb_call("map", "--model", file), FAILED, "unit_ns")


@pytest.mark.parametrize(
    "arguments",
    [
        ["map", "--model", "MISSING"],
        ["map", "--xml", "MISSING"],
        ["plan", "barrier", "--model", "MISSING"],
        ["sim", "plan", "MISSING", "--machine", SMELT],
        ["report", "--machine", SMELT, "--bench", "MISSING"],
    ],
    ids=" ".join,
)
def test_missing_file(corymb_call: Command, tmp_path: Path, arguments: list[str]) -> None:
    missing = str(tmp_path / "missing.json")
    done = corymb_call(*[missing if word == "MISSING" else word for word in arguments])
    assert_one_line(
        done, FAILED, "missing.json", "No such file" if "--model" not in arguments else ""
    )


def test_folder_instead_of_a_file(corymb_call: Command, tmp_path: Path) -> None:
    assert_one_line(corymb_call("map", "--model", tmp_path), FAILED, str(tmp_path))
    assert_one_line(corymb_call("sim", "plan", tmp_path, "--machine", SMELT), FAILED, str(tmp_path))
    done = corymb_call("plan", "barrier", "--machine", SMELT, "--json", tmp_path)
    assert_one_line(done, FAILED, "directory")


UNWRITABLE = "/proc/corymb"


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan", "barrier", "--machine", SMELT, "--json", f"{UNWRITABLE}/x.json"],
        ["plan", "barrier", "--machine", SMELT, "--json", "/proc/x.json"],
        ["map", "--machine", SMELT, "--html", "/proc/x.html"],
        ["map", "--machine", SMELT, "--save", "/proc/x.json"],
        ["map", "--machine", SMELT, "--export-hwloc", "/proc/x.xml"],
        ["report", "--machine", SMELT, "-o", "/proc/report.html"],
        ["bench", "collectives", "barrier", "--threads", "2", "--json", "/proc/x.json"],
        ["doctor", "--json", "/proc/x.json"],
        ["demo", "-o", "/proc/report.html"],
    ],
    ids=" ".join,
)
def test_unwritable(corymb_call: Command, arguments: list[str]) -> None:
    """Said before the work, not after it: also a demo says it at once."""
    assert_one_line(corymb_call(*arguments), FAILED, "cannot write", "/proc/")


def test_demo_in_a_folder_without_permission(corymb_command: Command) -> None:
    assert_one_line(corymb_command("demo", cwd="/proc"), FAILED, "cannot write report.html")


def test_wrong_plan_names_rank_and_step(
    corymb_call: Command, smelt_plan: Path, tmp_path: Path
) -> None:
    plan = json.loads(smelt_plan.read_text())
    rank = next(r for r, steps in enumerate(plan["steps"]) if steps[0]["step"] == "recv")
    plan["steps"][rank][0]["peer"] = (plan["steps"][rank][0]["peer"] + 1) % 20
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(plan))
    assert_one_line(corymb_call("sim", "plan", file, "--machine", SMELT), FAILED, "rank", "step")


def test_plan_with_an_unknown_step(corymb_call: Command, smelt_plan: Path, tmp_path: Path) -> None:
    plan = json.loads(smelt_plan.read_text())
    plan["steps"][7][0]["step"] = "teleport"
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(plan))
    done = corymb_call("sim", "plan", file, "--machine", SMELT)
    assert_one_line(done, FAILED, "rank 7", "step 0", "teleport")


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "[" * 100_000, '{"steps": 3}'])
def test_hostile_plan(corymb_call: Command, tmp_path: Path, text: str) -> None:
    file = tmp_path / "plan.json"
    file.write_text(text)
    assert_one_line(corymb_call("sim", "plan", file, "--machine", SMELT), FAILED)


def test_model_with_fewer_cpus_than_ranks(corymb_call: Command, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    machine = "ryzen-5950x-1s-32t"
    done = corymb_call("plan", "barrier", "--machine", machine, "--json", file)
    assert done.returncode == 0
    done = corymb_call("sim", "plan", file, "--machine", SMELT)
    assert_one_line(done, USAGE, "32 ranks", "20 CPUs")


def test_placement_edited(corymb_call: Command, smelt_plan: Path, tmp_path: Path) -> None:
    plan = json.loads(smelt_plan.read_text())
    file = tmp_path / "plan.json"
    rest = plan["placement"][1:]
    for first in (99, 10**30, -1, 0.5, True, None):
        file.write_text(json.dumps(plan | {"placement": [first, *rest]}))
        assert_one_line(corymb_call("sim", "plan", file, "--machine", SMELT), 2, "CPU")
    for wrong, status in ((rest, 1), ([*rest, rest[0]], 1)):
        file.write_text(json.dumps(plan | {"placement": wrong}))
        assert_one_line(corymb_call("sim", "plan", file, "--machine", SMELT), status, "CPU")


@pytest.mark.parametrize("text", ["", "{}", '{"rows": [1]}', '{"rows": [{"op": "x"}]}', "[3]"])
def test_wrong_bench_file(corymb_call: Command, tmp_path: Path, text: str) -> None:
    file = tmp_path / "bench.json"
    file.write_text(text)
    done = corymb_call("report", "--machine", SMELT, "--bench", file, "-o", tmp_path / "r.html")
    assert_one_line(done, FAILED, "bench.json")
    assert not (tmp_path / "r.html").exists()


def test_too_little_memory_is_said(corymb_call: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> corymb.Machine:
        raise MemoryError("Unable to allocate 9.3 GiB")

    monkeypatch.setattr(corymb, "topology_from_synthetic", fail)
    done = corymb_call("map", "--synthetic", "pu:2")
    assert_one_line(done, FAILED, "not enough memory", "9.3 GiB", "ulimit -v")
