# SPDX-License-Identifier: Apache-2.0
"""The Python that stands on pages runs. Rule code-block of tests/tidy says where a block stands;
examples/ has a test of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from limits import LIMIT_S

PROGRAMS = sorted((ROOT / "tests/documents").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_what_stands_on_pages_runs(program: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, env=environment,
        timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
