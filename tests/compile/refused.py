#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles refused.cpp and looks for the words that each marked line expects.

refused.py COMPILER [FLAGS]
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("refused.cpp")


def expected() -> dict[int, str]:
    """The words behind each marked line."""
    found = {}
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        if mark := re.search(r"// refused: (.*)$", line):
            found[number] = mark.group(1)
    return found


def texts_for(output: list[str], number: int) -> list[str]:
    """The errors next to where the line is named: g++ names it before an error, clang behind it."""
    errors = [place for place, line in enumerate(output) if "error:" in line]
    texts = []
    for place, line in enumerate(output):
        if f"{SOURCE.name}:{number}:" in line:
            before = [one for one in errors if one <= place][-1:]
            behind = [one for one in errors if one >= place][:1]
            texts += [output[one] for one in before + behind]
    return texts


def main() -> int:
    command = [*sys.argv[1:], "-fsyntax-only", "-fno-diagnostics-color", str(SOURCE)]
    if "clang" in Path(sys.argv[1]).name:
        command.insert(1, "-ferror-limit=0")
    done = subprocess.run(command, capture_output=True, text=True)
    output = done.stderr.splitlines()
    wrong = 0
    for number, words in expected().items():
        texts = texts_for(output, number)
        if not any(words in text for text in texts):
            wrong += 1
            print(f"{SOURCE.name}:{number}: no error says '{words}', but: {texts}")
    if wrong or done.returncode == 0:
        print(done.stderr)
    return 1 if wrong or done.returncode == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
