# SPDX-License-Identifier: Apache-2.0
"""Levels that a user gives, in Python, in teams and in the command."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema
import pytest
from conftest import ROOT, Command

import corymb

EPYC = "epyc-9654-2s-192c"


def total(team: corymb.Team) -> int:
    return int(team.allreduce(team.rank + 1))


def test_a_machine_with_levels_is_another_machine() -> None:
    machine = corymb.Machine.gallery(EPYC)
    given = machine.with_levels("package,l3")
    assert machine.levels == []
    assert [name for name, _ in given.levels] == ["package", "l3"]
    assert [len(set(group)) for _, group in given.levels] == [
        len({getattr(pu, name) for pu in machine.pus}) for name in ("package", "l3")
    ]
    assert given.sha256() != machine.sha256()
    assert corymb.Machine.from_json(given.to_json()).levels == given.levels
    for published, text in (("machine-1", given.to_json()), ("levels-1", FILE)):
        schema = json.loads((ROOT / "docs" / "schema" / f"{published}.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft202012Validator(schema).validate(json.loads(text))


FILE = json.dumps(
    {
        "schema": "corymb-levels/1",
        "levels": [{"name": "half", "groups": ["0-95", "96-191"]}],
    }
)


@pytest.mark.parametrize("threads", [True, False])
def test_a_team_runs_with_levels(threads: bool) -> None:
    for levels in ("none", "core", ""):
        assert corymb.run(total, 2, threads=threads, levels=levels) == [3, 3]


def test_a_team_of_threads_refuses_a_wrong_level() -> None:
    with pytest.raises(corymb.Error, match='no level is called "cores"') as caught:
        corymb.run(total, 2, threads=True, levels="cores")
    assert caught.value.code == "unknown_name"


def test_a_team_of_processes_refuses_a_wrong_level() -> None:
    with pytest.raises(corymb.RankError, match='no level is called "cores"'):
        corymb.run(total, 2, levels="cores")


def test_a_variable_gives_levels_to_any_program(corymb_command: Command, tmp_path: Path) -> None:
    script = tmp_path / "total.py"
    script.write_text("import corymb\nteam = corymb.attach()\nprint(team.allreduce(1))\n")
    run = ("run", "-n", "2", sys.executable, str(script))
    printed = corymb_command(*run, env={"CORYMB_LEVELS": "none"}).stdout
    assert "".join(printed.split()) == "22"  # Lines of two processes.
    wrong = corymb_command(*run, env={"CORYMB_LEVELS": "cores"})
    assert wrong.returncode != 0
    assert 'no level is called "cores"' in wrong.stderr


def test_the_command_plans_with_levels(corymb_command: Command, tmp_path: Path) -> None:
    def steps(*levels: str) -> object:
        done = corymb_command(
            "plan", "broadcast", "--machine", EPYC, "--algorithm", "hierarchical-flat",
            "--root", "0", "--json", "-", *levels,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["steps"]

    (tmp_path / "half.json").write_text(FILE)
    of_topology, halves, none = (
        steps(),
        steps("--levels", str(tmp_path / "half.json")),
        steps("--levels", "none"),
    )
    assert of_topology != halves
    assert halves != none
    assert halves == steps("--levels", "package")
    wrong = corymb_command("plan", "broadcast", "--machine", EPYC, "--levels", "")
    assert wrong.returncode != 0
    assert "no levels are given" in wrong.stderr
    nodes = corymb_command("plan", "allreduce", "--nodes", "2", "--per-node", "2", "--levels", "l3")
    assert nodes.returncode != 0
    assert "--levels is for one machine" in nodes.stderr
