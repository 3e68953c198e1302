#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print the failed tests of a JUnit report, each with the lines that say why.

tools/test.sh puts them below its table: whoever sees only the end of a long output should see
what failed and why.

    python3 tools/failed_tests.py STAGE REPORT.xml
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree

LINES_MAX = 14
TESTS_MAX = 8
WIDTH_MAX = 160
# Where GoogleTest, pytest, the sanitizers and the C++ library say why; with the lines after it.
TELLING = re.compile(
    r": Failure$|ERROR: |WARNING: ThreadSanitizer|SUMMARY: |runtime error|^E  |terminate called"
    r"|what\(\):"
)
LINES_AFTER = 5


def telling_lines(text: str) -> list[str]:
    """The lines that say why, else the last ones."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    found = [number for number, line in enumerate(lines) if TELLING.search(line)]
    shown = sorted({shown for number in found for shown in range(number, number + LINES_AFTER + 1)})
    told = [lines[number] for number in shown if number < len(lines)]
    return told[:LINES_MAX] if told else lines[-LINES_MAX:]


def main(stage: str, path: str) -> int:
    """Print the failures of the report; exit status 0 also if it cannot be read."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        print(f"{stage}: no list of failed tests: {error}")
        return 0
    failures = [
        (case, found)
        for case in root.iter("testcase")
        for found in (case.find("failure"), case.find("error"))
        if found is not None
    ]
    for case, found in failures[:TESTS_MAX]:
        print(f"{stage}: {case.get('name')} ({float(case.get('time', '0')):.1f} s)")
        output = "\n".join(part.text or "" for part in case.iter("system-out"))
        told = found.text or output
        message = (found.get("message") or "").splitlines()[:1]
        for line in message + telling_lines(told):
            print(f"  | {line[:WIDTH_MAX]}")
    if len(failures) > TESTS_MAX:
        print(f"{stage}: and {len(failures) - TESTS_MAX} more")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: failed_tests.py STAGE REPORT.xml")
    sys.exit(main(sys.argv[1], sys.argv[2]))
