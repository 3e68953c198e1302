# SPDX-License-Identifier: Apache-2.0
"""Noise from its recording to the plan: the file, the command and what they say."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT, SMELT, Command, stdout_json

import corymb
from corymb.picture.noise import noise_page

NOISE = "random:95000:5000:constant"
GOOD: dict[str, Any] = {
    "schema": "corymb-noise/1",
    "cpus": [{"cpu": 3, "recorded": [[0, 50], [50, 100]], "interruptions": [[10, 5], [40, 20]]}],
}


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads((ROOT / "docs" / "schema" / "noise-1.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_schema_accepts_what_is_written(validator: jsonschema.Draft202012Validator) -> None:
    trace = corymb.NoiseTrace.from_json(json.dumps(GOOD))
    validator.validate(GOOD)
    validator.validate(json.loads(trace.to_json()))
    assert trace.recorded == [(3, 100.0)]
    assert trace.interruptions(3) == [(10, 5), (40, 20)]
    assert trace.summary["lost_share"] == 0.25
    assert corymb.NoiseTrace.from_json(trace.to_json()).to_json() == trace.to_json()


@pytest.mark.parametrize(
    ("field", "value"),
    [("recorded", [[0, "1"]]), ("interruptions", [[-1, 2]]), ("interruptions", [[1, 2, 3]]),
     ("interruptions", [[1, 0]]), ("cpu", 1.5), ("cpus", 1), ("recorded", [])],
)  # fmt: skip
def test_schema_and_reader_refuse(
    validator: jsonschema.Draft202012Validator, field: str, value: object
) -> None:
    bad = json.loads(json.dumps(GOOD))
    bad["cpus"][0][field] = value
    assert not validator.is_valid(bad)
    with pytest.raises(corymb.Error, match=field) as caught:
        corymb.NoiseTrace.from_json(json.dumps(bad))
    assert caught.value.code == "invalid_model"


def test_replays_in_python() -> None:
    machine = corymb.Machine.gallery(SMELT)
    plan = corymb.make_plan(machine, "barrier").plan
    quiet = corymb.simulate(plan, machine).makespan
    noise = corymb.Noise.from_text("periodic:10000:500", seed=3)
    times = corymb.noisy_makespans(plan, machine, noise, replays=50)
    assert len(set(times)) > 1
    assert min(times) >= quiet * (1 - 1e-9)
    assert corymb.simulate(plan, machine, noise=noise).makespan == times[0]
    assert math.isclose(noise.lost_share, 0.05)
    with pytest.raises(corymb.Error, match="doctor --noise"):
        corymb.make_plan(machine, "barrier", objective="p99")


def test_doctor_records(corymb_call: Command, tmp_path: Path, cache: Path) -> None:
    file = tmp_path / "noise.json"
    done = corymb_call("doctor", "--noise", "--seconds", "0.1", "--save", str(file), "--json", "-")
    assert done.returncode == 0, done.stderr
    told = stdout_json(done)
    assert told["schema"] == "corymb-doctor-noise/1"
    trace = corymb.NoiseTrace.load(file)
    assert told["cpus"] == [cpu for cpu, _ in trace.recorded] == corymb.usable_cpus().allowed
    assert told["lost_share"] == trace.summary["lost_share"]
    assert all(recorded > 0 for _, recorded in trace.recorded)
    shown = corymb_call("doctor", "--noise", "--seconds", "0.1", "--save", str(file)).stdout
    for word in ("time lost", "rate", "median", "longest"):
        assert word in shown
    refused = corymb_call("doctor", "--noise", "--seconds", "0")
    assert refused.returncode == 2
    assert "--seconds" in refused.stderr
    assert corymb_call("doctor", "--save", "x").returncode == 2


def test_a_plan_for_the_tail_says_what_it_costs(corymb_call: Command, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    wanted = ("plan", "broadcast", "--machine", SMELT, "--root", "0", "--objective", "p99")
    done = corymb_call(*wanted, "--noise", NOISE, "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "under noise" in done.stdout
    plan = json.loads(file.read_text())
    schema = json.loads((ROOT / "docs" / "schema" / "plan-1.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(plan)
    assert plan["objective"] == "p99"
    chosen, fastest = plan["noise"]["chosen"], plan["noise"]["fastest"]
    assert chosen["algorithm"] == plan["algorithm"]
    assert chosen["p99"] <= fastest["p99"]
    if chosen != fastest:
        assert "at the median" in done.stdout
    nodes = ("plan", "barrier", "--nodes", "3", "--per-node", "2", "--objective", "p99")
    assert "under noise" in corymb_call(*nodes, "--noise", NOISE, "--replays", "100").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plan", "barrier", "--machine", SMELT, "--objective", "p99"], "corymb doctor --noise"),
        (["plan", "barrier", "--machine", SMELT, "--objective", "mean"], "median or p99"),
        (["plan", "barrier", "--machine", SMELT, "--replays", "5"], "--replays"),
        (["plan", "barrier", "--machine", SMELT, "--noise", "random:1"], "random:GAP:LENGTH"),
        (["plan", "barrier", "--machine", SMELT, "--noise", "none.json"], "none.json"),
        (["sim", "noise"], "corymb doctor --noise"),
        (["sim", "noise", "--noise", NOISE, "--op", "scan"], "barrier"),
        (["sim", "noise", "--noise", NOISE, "--phases", "0"], "phases"),
    ],
)
def test_what_is_refused(corymb_call: Command, arguments: list[str], words: str) -> None:
    done = corymb_call(*arguments)
    assert done.returncode in (1, 2)
    assert words in done.stderr


def test_forms_over_ranks(corymb_call: Command, tmp_path: Path) -> None:
    file, page = tmp_path / "noise.json", tmp_path / "noise.html"
    wanted = ("sim", "noise", "--noise", "random:1e6:25000", "--sizes", "8,128", "--per-node", "8",
              "--phases", "40")  # fmt: skip
    done = corymb_call(*wanted, "--json", str(file), "--html", str(page))
    assert done.returncode == 0, done.stderr
    told = json.loads(file.read_text())
    assert told["schema"] == "corymb-sim-noise/1"
    assert [row["ranks"] for row in told["rows"]] == [8] * 4 + [128] * 4
    by_form = {row["form"]: row for row in told["rows"] if row["ranks"] == 128}
    assert list(by_form) == ["blocking", "nonblocking", "persistent", "aligned"]
    assert 0.8 < by_form["blocking"]["seen_by_others"] <= 1.001
    for form in ("nonblocking", "persistent", "aligned"):
        assert by_form[form]["seen_by_others"] < 0.3
        assert by_form[form]["median_ns"] < by_form["blocking"]["median_ns"]
    assert all(row["median_ns"] <= row["p99_ns"] for row in told["rows"])
    assert "Noise over the number of ranks" in page.read_text()
    again = corymb_call(*wanted, "--json", "-")
    assert stdout_json(again)["rows"] == told["rows"]


def test_the_page_draws_all_forms() -> None:
    rows = [
        {"form": form, "ranks": ranks, "median_ns": 1.0, "p99_ns": 2.0, "seen_by_others": 0.5}
        for form in ("blocking", "nonblocking", "persistent", "aligned")
        for ranks in (100, 1000)
    ]
    page = noise_page(rows, "made up")
    for word in ("blocking", "aligned", "99th percentile", "made up"):
        assert word in page


def total(team: corymb.Team) -> int:
    return int(team.allreduce(team.rank + 1))


@pytest.mark.parametrize("threads", [True, False])
def test_teams_search_for_the_tail(
    threads: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CORYMB_CACHE_DIR", str(tmp_path))
    with pytest.raises((corymb.Error, corymb.RankError), match="corymb doctor --noise"):
        corymb.run(total, 2, threads=threads, objective="p99")
    Path(corymb.cached_noise_path()).write_text(json.dumps(GOOD))
    assert corymb.run(total, 2, threads=threads, objective="p99") == [3, 3]


def test_a_variable_gives_the_objective(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORYMB_OBJECTIVE", "p95")
    with pytest.raises(corymb.Error, match="there are median and p99") as caught:
        corymb.run(total, 2, threads=True)
    assert caught.value.code == "unknown_name"
    assert corymb.run(total, 2, threads=True, objective="median") == [3, 3]
