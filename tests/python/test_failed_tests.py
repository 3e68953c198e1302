# SPDX-License-Identifier: Apache-2.0
"""The end of `make test` names what failed and why."""

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools/failed_tests.py"

REPORT = """<?xml version="1.0"?>
<testsuite tests="3" failures="2">
  <testcase name="Ring.Fits" time="0.1"/>
  <testcase name="Ring.IsFull" time="0.25"><failure message=""/><system-out>
[ RUN      ] Ring.IsFull
ring_test.cpp:7: Failure
Expected equality of these values:
  ring.size()
    Which is: 3
  4
[  FAILED  ] Ring.IsFull
  </system-out></testcase>
  <testcase name="test_send" time="2"><failure message="assert 1 == 2">E  assert 1 == 2</failure>
  </testcase>
</testsuite>
"""


def told(path: Path) -> list[str]:
    """What the tool prints for a stage named unit."""
    command = [sys.executable, str(TOOL), "unit", str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def test_failures_are_named_with_the_lines_that_say_why(tmp_path: Path) -> None:
    report = tmp_path / "unit.xml"
    report.write_text(REPORT)
    assert told(report) == [
        "unit: Ring.IsFull (0.2 s)",
        "  | ring_test.cpp:7: Failure",
        "  | Expected equality of these values:",
        "  |   ring.size()",
        "  |     Which is: 3",
        "  |   4",
        "  | [  FAILED  ] Ring.IsFull",
        "unit: test_send (2.0 s)",
        "  | assert 1 == 2",
        "  | E  assert 1 == 2",
    ]


def test_a_report_that_was_cut_short_is_said(tmp_path: Path) -> None:
    report = tmp_path / "unit.xml"
    report.write_text(REPORT[:100])
    assert told(report)[0].startswith("unit: no list of failed tests: ")
