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

# A busy machine is no failure.
settings.register_profile("corymb", deadline=None)
settings.load_profile("corymb")

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
            timeout=300,
            env=environment | extra,
            **options,
        )

    return run


@pytest.fixture(scope="session")
def smelt_plan(corymb_command: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A broadcast plan file that the checker accepts."""
    file = tmp_path_factory.mktemp("plan") / "plan.json"
    done = corymb_command("plan", "broadcast", "--machine", SMELT, "--root", "0", "--json", file)
    assert done.returncode == 0, done.stderr
    return file


def stdout_json(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
