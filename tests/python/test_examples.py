# SPDX-License-Identifier: Apache-2.0
"""The examples in Python, run as a user does; those in C++ and C are tests of CMake."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT
from limits import LIMIT_S

# Arguments and how the output ends. Every file of examples/*.py has a line.
EXAMPLES = {
    "late_ranks.py": ([], "rank 2 is late\n"),
    "near_cpus.py": (["4", "opteron-8die-48c-mctop-cycles"], "0,1,2,3\n"),
    "power_iteration.py": (
        ["4"],
        "4 processes, 26 steps: the largest eigenvalue is 12.489106\n",
    ),
}


def test_every_example_is_run() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, environment: dict[str, str]) -> None:
    arguments, wanted = EXAMPLES[name]
    run = subprocess.run(
        [sys.executable, ROOT / "examples" / name, *arguments],
        capture_output=True, text=True, timeout=LIMIT_S, env=environment,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.endswith(wanted)
