# SPDX-License-Identifier: Apache-2.0
"""What the tests share: the command as a user runs it, with a cache of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from limits import LIMIT_S

import corymb

# A busy machine is no failure.
settings.register_profile("corymb", deadline=None)
settings.load_profile("corymb")
# Teams of tests, and of the processes that they start.
for variable in ("CORYMB_DEADLINE", "CORYMB_PATIENCE"):
    os.environ[variable] = str(LIMIT_S)

Command = Callable[..., "subprocess.CompletedProcess[str]"]
ROOT = Path(__file__).parent.parent.parent
MACHINES = ROOT / "machines"
SMELT = "smelt-e5v2-2x10"


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def environment(cache: Path) -> dict[str, str]:
    """A plain terminal and an empty cache of models."""
    keep = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    return keep | {"CORYMB_CACHE_DIR": str(cache), "NO_COLOR": "1", "COLUMNS": "100"}


@pytest.fixture(scope="session")
def corymb_command(environment: dict[str, str]) -> Command:
    """Runs `corymb ARGUMENTS`; `env` adds variables, other keywords go to subprocess.run."""

    def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        extra = options.pop("env", {})
        return subprocess.run(
            [sys.executable, "-m", "corymb", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env=environment | extra,
            **options,
        )

    return run


@pytest.fixture
def corymb_call(
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    """The same in this process, for the many calls that end soon."""
    from corymb.command.app import run

    for name in ("CORYMB_CACHE_DIR", "NO_COLOR", "COLUMNS"):
        monkeypatch.setenv(name, environment[name])

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        words = [str(word) for word in arguments]
        status = run(words)
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(words, status, out, err)

    return call


@pytest.fixture(scope="session")
def smelt_plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A broadcast plan file of messages that the checker accepts."""
    machine = corymb.Machine.gallery(SMELT)
    choice = corymb.make_plan(machine, "broadcast", root=0, algorithm="binomial")
    file = tmp_path_factory.mktemp("plan") / "plan.json"
    file.write_text(choice.to_json(machine))
    return file


def stdout_json(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
